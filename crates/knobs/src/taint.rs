//! Settings that did not hold during a run, and who is likely to have turned them.

use knobstat_data::observation::{KnobReading, Taint};

use crate::knob::Knob;
use crate::owners::Owner;

/// What did not hold, given the readings before and after a run. `find` and `owners` are asked only
/// when something did not.
pub fn between(
    before: &[KnobReading],
    after: &[KnobReading],
    find: impl Fn(&str) -> Option<Knob>,
    owners: impl FnOnce() -> Vec<Owner>,
) -> Vec<Taint> {
    let mut taints: Vec<Taint> = Vec::new();
    for reading in before {
        let held = after.iter().find(|later| later.knob == reading.knob);
        let (expected, found) = match (&reading.asked, held) {
            (Some(asked), _) if reading.read.as_ref() != Ok(asked) => {
                (asked.to_string(), words(reading))
            }
            (_, Some(later)) if later.read != reading.read => (words(reading), words(later)),
            _ => continue,
        };
        taints.push(Taint {
            knob: reading.knob.clone(),
            expected,
            found,
            cause: None,
        });
    }
    if !taints.is_empty() {
        let owners = owners();
        for taint in &mut taints {
            taint.cause = cause(&find(&taint.knob), &owners);
        }
    }
    taints
}

fn words(reading: &KnobReading) -> String {
    match &reading.read {
        Ok(level) => level.to_string(),
        Err(reason) => format!("unreadable ({reason})"),
    }
}

fn cause(knob: &Option<Knob>, owners: &[Owner]) -> Option<String> {
    let entry = knob.as_ref()?.entry()?;
    let culprits: Vec<&Owner> = owners
        .iter()
        .filter(|owner| entry.turned_by.iter().any(|name| name == owner.name))
        .collect();
    if culprits.is_empty() {
        return entry.suspect.clone();
    }
    let names: Vec<&str> = culprits.iter().map(|owner| owner.name).collect();
    let stops: Vec<&str> = culprits.iter().map(|owner| owner.stop).collect();
    Some(format!(
        "{} runs here and turns this knob: `{}` for the length of the experiment",
        names.join(" and "),
        stops.join("`, `")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::owners::OWNERS;
    use knobstat_data::Level;

    fn find(name: &str) -> Option<Knob> {
        Knob::find(name, &[])
    }

    fn reading(asked: &str, read: Result<&str, &str>) -> KnobReading {
        KnobReading {
            knob: "turbo".to_owned(),
            asked: Some(Level::text(asked)),
            read: read.map(Level::text).map_err(str::to_owned),
        }
    }

    #[test]
    fn what_held_is_no_taint_and_nobody_is_asked() {
        let same = [reading("off", Ok("off"))];
        let taints = between(&same, &same, find, || unreachable!("nobody is suspected"));
        assert_eq!(taints, []);
    }

    #[test]
    fn a_knob_that_changed_names_the_daemon_that_turns_it() {
        let thermald: Vec<Owner> = OWNERS
            .iter()
            .filter(|owner| ["thermald", "irqbalance"].contains(&owner.name))
            .copied()
            .collect();
        let before = [reading("off", Ok("off"))];
        let after = [reading("off", Ok("on"))];
        let taints = between(&before, &after, find, || thermald);
        let [taint] = taints.as_slice() else {
            panic!("one knob changed");
        };
        assert_eq!(
            (taint.expected.as_str(), taint.found.as_str()),
            ("off", "on")
        );
        let cause = taint.cause.as_deref().unwrap();
        assert!(cause.starts_with("thermald runs here"), "{cause}");
        assert!(!cause.contains("irqbalance"));
    }

    #[test]
    fn a_knob_lost_before_the_run_is_a_taint_too() {
        let lost = [reading("off", Ok("on"))];
        let taints = between(&lost, &lost, find, Vec::new);
        assert_eq!(taints.len(), 1);
        let gone = [reading("off", Err("no such file"))];
        let before = [reading("off", Ok("off"))];
        let taints = between(&before, &gone, find, Vec::new);
        assert_eq!(taints[0].found, "unreadable (no such file)");
    }
}
