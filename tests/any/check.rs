//! `run --check`: the plan, without touching anything.

use std::path::Path;

use crate::support::machine::Machine;
use crate::support::program::{Ended, Place, output};

const FILE: &str = r#"
name = "a plan"
[workload]
kind = "command"
command = "true"
[factors]
clocksource = ["tsc", "hpet", "jiffies"]
thp = ["always", "never"]
[design]
replicates = 3
seed = 11
"#;

/// The plan of a file on a laid-out machine.
#[track_caller]
pub fn checked(place: &Place, machine: &Machine, file: &Path) -> Ended {
    let mut command = place.knobstat_on(machine);
    output(command.args(["run", "--check"]).arg(file)).must_exit(0)
}

#[test]
fn the_plan_shows_treatments_order_duration_and_what_the_machine_lacks() {
    let (place, machine) = (Place::new(), Machine::desktop());
    let file = place.file("plan.toml", FILE);
    let before = machine.bytes();
    let text = checked(&place, &machine, &file).stdout();
    for expected in [
        "6 treatments",
        "3 blocks",
        "seed 11",
        "jiffies",
        "clocksource=hpet thp=never",
    ] {
        assert!(text.contains(expected), "{expected} is missing in\n{text}");
    }
    assert_eq!(machine.bytes(), before);
    assert!(
        !place.path().join("store.sqlite").exists(),
        "nothing was touched"
    );
    assert!(!place.path().join("state").exists(), "nothing was touched");
}

#[test]
fn the_plan_can_be_had_as_json() {
    let (place, machine) = (Place::new(), Machine::desktop());
    let file = place.file("plan.toml", FILE);
    let check = |file: &std::path::Path| {
        let mut command = place.knobstat_on(&machine);
        output(command.args(["run", "--check", "--json"]).arg(file))
            .must_exit(0)
            .json()
    };
    let plan = check(&file);
    assert_eq!(plan["schema"], "knobstat.plan/1");
    assert_eq!(plan["experiment"], "a plan");
    assert_eq!((&plan["seed"], &plan["blocks"]), (&11.into(), &3.into()));
    // One warm-up for each measured run; jiffies is not to be had.
    assert_eq!(plan["runs"], 4 * 3 * 2);
    assert_eq!(plan["estimate"], "unknown");
    let treatments = plan["treatments"].as_array().expect("treatments");
    assert_eq!(treatments.len(), 6);
    assert_eq!(treatments[1]["levels"]["thp"], "never");
    assert_eq!(plan["left_out"][0]["level"], "jiffies");
    let order = plan["order"].as_array().expect("the order");
    assert_eq!(order.len(), 3);
    for block in order {
        let mut runs: Vec<u64> = block[0]
            .as_array()
            .expect("the runs of a boot")
            .iter()
            .filter_map(serde_json::Value::as_u64)
            .collect();
        runs.sort_unstable();
        assert_eq!(runs, [0, 1, 2, 3], "{block}");
    }
    let nothing = FILE.replace(
        "[\"tsc\", \"hpet\", \"jiffies\"]",
        "[\"jiffies\", \"kvm-clock\"]",
    );
    let plan = check(&place.file("nothing.toml", &nothing));
    assert_eq!(
        (&plan["runs"], &plan["seed"]),
        (&0.into(), &serde_json::Value::Null)
    );
    assert_eq!(plan["left_out"].as_array().map(Vec::len), Some(2));
}

#[test]
fn the_order_is_the_same_on_every_machine() {
    let place = Place::new();
    let file = place.file("plan.toml", FILE);
    let order = |machine: &Machine| -> Vec<String> {
        checked(&place, machine, &file)
            .stdout()
            .lines()
            .filter(|line| line.contains("block "))
            .map(str::to_owned)
            .collect()
    };
    let first = order(&Machine::desktop());
    assert!(!first.is_empty());
    assert_eq!(first, order(&Machine::desktop()));
}

#[test]
fn the_fewest_replicates_of_a_verdict_are_told_and_fewer_are_a_warning() {
    let (place, machine) = (Place::new(), Machine::desktop());
    let replicates = "replicates = 3";
    let stop = |most: u32| {
        format!("stop = {{ margin = \"1%\", min_replicates = 2, max_replicates = {most} }}")
    };
    for (design, told) in [
        (
            "replicates = 1".to_owned(),
            &[
                "which take 2 replicates at least.",
                "warning: none can ever be decided with 1 replicate;",
            ][..],
        ),
        (
            "replicates = 2".to_owned(),
            &[
                "which take 2 replicates at least: with 2 replicates the first verdict needs |t| > ",
                "warning: with 2 replicates only very large differences can be told",
            ],
        ),
        (
            "replicates = 20".to_owned(),
            &["which take 2 replicates at least: with 20 replicates the first verdict"],
        ),
        (
            stop(2),
            &["warning: it can never end before its maximum: the first verdict takes "],
        ),
        (stop(40), &["The first verdict takes "]),
    ] {
        let file = place.file("plan.toml", &FILE.replace(replicates, &design));
        let ended = checked(&place, &machine, &file);
        let said = ended.stdout() + &ended.stderr();
        for told in told {
            assert!(said.contains(told), "{design}: {said}");
        }
    }
}

#[test]
fn ten_million_runs_are_planned_and_need_a_yes() {
    let (place, machine) = (Place::new(), Machine::desktop());
    let file = place.file(
        "long.toml",
        r#"
name = "too long"
[workload]
kind = "udp"
duration = "1s"
[factors]
packet_size = [64, 128, 256, 512, 1024]
[design]
replicates = 2000000
"#,
    );
    let checked = checked(&place, &machine, &file);
    assert!(
        checked.stdout().contains("10000000 runs"),
        "{}",
        checked.stdout()
    );
    let refused = output(place.knobstat_on(&machine).arg("run").arg(&file)).must_exit(2);
    assert!(refused.stderr().contains("--yes"), "{}", refused.stderr());
    assert!(
        refused.stderr().contains("more than a day"),
        "{}",
        refused.stderr()
    );
}
