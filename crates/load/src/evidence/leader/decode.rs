//! From the scheduler's figures, the kernel's scheduler/sched-stats.rst, to evidence.

use knobstat_data::{Evidence, Unit};

use crate::evidence::evidence;

/// Evidence from the two texts.
pub(super) fn decode(
    schedstat: Result<&str, String>,
    sched: Result<&str, String>,
) -> Vec<Evidence> {
    // Nanoseconds on a CPU, nanoseconds waiting for one, and how often it was given one.
    let fields = schedstat.and_then(|text| {
        let mut fields = text.split_whitespace().map(str::parse::<u64>);
        match (fields.next(), fields.next(), fields.next()) {
            (Some(Ok(_)), Some(Ok(waited)), Some(Ok(slices))) => Ok((waited, slices)),
            _ => Err("the kernel keeps no scheduling figures of a process".to_owned()),
        }
    });
    let waited = fields.as_ref().map(|(waited, _)| *waited as f64 / 1e9);
    let slices = fields.as_ref().map(|(_, slices)| *slices as f64);
    let moves = sched.and_then(|text| {
        text.lines()
            .find(|line| line.starts_with("se.nr_migrations"))
            .and_then(|line| line.split_once(':')?.1.trim().parse().ok())
            .ok_or_else(|| "the kernel does not count migrations of a process".to_owned())
    });
    vec![
        evidence(
            "run_queue.wait",
            "leader",
            Unit::SECONDS,
            waited.map_err(Clone::clone),
        ),
        evidence(
            "run_queue.slices",
            "leader",
            Unit::COUNT,
            slices.map_err(Clone::clone),
        ),
        evidence("migrations", "leader", Unit::COUNT, moves),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_is_in_seconds() {
        let sched = "sh (12, #threads: 1)\n-------\n\
                     se.exec_start        :     2338.123\n\
                     se.nr_migrations     :            4\n";
        let decoded = decode(Ok("101130 3683225 2\n"), Ok(sched));
        let values: Vec<_> = decoded.iter().map(|one| one.value.clone()).collect();
        assert_eq!(values, [Ok(0.003_683_225), Ok(2.0), Ok(4.0)]);
    }

    #[test]
    fn what_is_lacking_is_a_reason() {
        for (schedstat, sched) in [
            (Err("gone".to_owned()), Err("gone".to_owned())),
            (Ok("0 0\n"), Ok("")),
        ] {
            let decoded = decode(schedstat, sched);
            assert!(decoded.iter().all(|one| one.value.is_err()));
        }
    }
}
