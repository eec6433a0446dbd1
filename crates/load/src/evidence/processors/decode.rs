//! From /proc/stat, proc_stat(5), to the CPUs' busy and stolen time.

use knobstat_data::{Evidence, Unit};

use crate::evidence::{evidence, seconds};

/// The unit of /proc/stat is the clock tick of sysconf(3), 100 to the second on every kernel of
/// both architectures; it is not the kernel's own tick.
const PER_SECOND: f64 = 100.0;

/// A CPU's times in clock ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Times {
    busy: u64,
    stolen: u64,
}

/// Evidence from the text before and the text after.
pub(super) fn decode(texts: Result<(&str, &str), String>) -> Vec<Evidence> {
    let (before, after) = match texts {
        Ok(texts) => texts,
        Err(reason) => {
            return ["cpu.busy", "cpu.stolen"]
                .map(|key| evidence(key, "machine", Unit::SECONDS, Err(reason.clone())))
                .to_vec();
        }
    };
    let mut found = Vec::new();
    for (name, after) in lines(after) {
        // A CPU that came online meanwhile has no time before.
        let Some((_, before)) = lines(before).find(|(before, _)| *before == name) else {
            continue;
        };
        let scope = if name == "cpu" { "machine" } else { name };
        for (key, before, after) in [
            ("cpu.busy", before.busy, after.busy),
            ("cpu.stolen", before.stolen, after.stolen),
        ] {
            let value = seconds(before, after, PER_SECOND);
            found.push(evidence(key, scope, Unit::SECONDS, value));
        }
    }
    found
}

fn lines(text: &str) -> impl Iterator<Item = (&str, Times)> {
    text.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        let name = words.next().filter(|name| name.starts_with("cpu"))?;
        let fields: Vec<u64> = words.map_while(|word| word.parse().ok()).collect();
        // user, nice, system, idle, iowait, irq, softirq, steal; guest time is within user time.
        let [user, nice, system, _, _, irq, softirq, stolen, ..] = fields[..] else {
            return None;
        };
        let busy = user + nice + system + irq + softirq;
        Some((name, Times { busy, stolen }))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As a guest of two CPUs on Linux 6.18 showed it, and one second later, edited for effect.
    const BEFORE: &str = "cpu  224985 1 29268 233795 3299 0 546 327 0 0\n\
                          cpu0 112666 0 12584 119359 1254 0 13 155 0 0\n\
                          cpu1 112318 1 16684 114436 2044 0 532 172 0 0\n\
                          intr 2204117 0 0\nctxt 4512908\n";
    const AFTER: &str = "cpu  225085 1 29269 233795 3299 0 546 333 0 0\n\
                         cpu0 112766 0 12585 119359 1254 0 13 155 0 0\n\
                         cpu1 112318 1 16684 114436 2044 0 532 178 0 0\n\
                         cpu2 5 0 0 0 0 0 0 0 0 0\n";

    #[test]
    fn busy_and_stolen_time_grow() {
        let decoded = decode(Ok((BEFORE, AFTER)));
        let value = |key: &str, scope: &str| {
            decoded
                .iter()
                .find(|evidence| evidence.key == key && evidence.scope == scope)
                .map(|evidence| evidence.value.clone())
        };
        assert_eq!(value("cpu.busy", "machine"), Some(Ok(1.01)));
        assert_eq!(value("cpu.busy", "cpu1"), Some(Ok(0.0)));
        assert_eq!(value("cpu.stolen", "cpu1"), Some(Ok(0.06)));
        assert_eq!(value("cpu.busy", "cpu2"), None);
    }

    #[test]
    fn what_is_lacking_is_a_reason() {
        let decoded = decode(Err("no such file".to_owned()));
        assert_eq!(decoded.len(), 2);
        assert!(decoded.iter().all(|evidence| evidence.value.is_err()));
        assert_eq!(decode(Ok(("cpu 1\n", "cpu x\n"))), []);
    }
}
