//! Failures that other benchmarking tools had, one test each, named by their numbers in the
//! specification; those of single settings are in the crate of the knobs.

use serde_json::Value;

use crate::support::endless::Endless;
use crate::support::machine::Machine;
use crate::support::program::{Ended, Place, output};

const GOVERNOR: &str = "sys/devices/system/cpu/cpufreq/policy1/scaling_governor";
const NO_TURBO: &str = "sys/devices/system/cpu/intel_pstate/no_turbo";

/// Runs an experiment of two levels of a knob with this workload and design.
fn run(place: &Place, machine: &Machine, workload: &str, design: &str) -> Ended {
    let file = place.file(
        "failure.toml",
        &format!(
            "name = \"failure\"\n[workload]\nkind = \"command\"\nwarmup_runs = 0\n{workload}\n[factors]\nthp = [\"always\", \"never\"]\n[fixed]\ngovernor = \"performance\"\nturbo = \"off\"\n[design]\nsettle = \"0s\"\n{design}\n"
        ),
    );
    output(place.knobstat_on(machine).args(["run", "--json"]).arg(file))
}

fn attempts(place: &Place) -> Vec<Value> {
    let list = output(place.knobstat().args(["list", "--json"]))
        .must_exit(0)
        .json();
    let id = list[0]["id"].as_str().expect("an experiment");
    let export = output(place.knobstat().args(["export", id]))
        .must_exit(0)
        .json();
    export["record"]["attempts"]
        .as_array()
        .expect("attempts")
        .clone()
}

fn evidence<'v>(attempt: &'v Value, key: &str) -> Vec<&'v Value> {
    attempt["result"]["evidence"]
        .as_array()
        .expect("evidence")
        .iter()
        .filter(|evidence| evidence["key"] == key)
        .collect()
}

#[test]
fn f05_settings_end_with_the_experiment_though_its_workload_fails() {
    let (place, machine) = (Place::new(), Machine::desktop());
    let before = machine.bytes();
    run(&place, &machine, "command = \"false\"", "replicates = 2").must_exit(1);
    assert_eq!(machine.bytes(), before);
}

#[test]
fn f18_a_workload_that_cannot_have_its_cpus_fails_loudly() {
    let (place, machine) = (Place::new(), Machine::desktop());
    let ended = run(
        &place,
        &machine,
        "command = \"true\"\ncpus = \"4000\"",
        "replicates = 2",
    );
    let said = ended.must_exit(2).stderr();
    assert!(said.contains("this machine has no CPU 4000"), "{said}");
}

#[test]
fn f22_a_counter_that_is_lacking_is_a_reason_and_no_end() {
    let (place, machine) = (Place::new(), Machine::desktop());
    run(&place, &machine, "command = \"true\"", "replicates = 2").must_exit(0);
    for attempt in attempts(&place) {
        assert_eq!(attempt["result"]["outcome"], "Ok");
        let all = attempt["result"]["evidence"].as_array().unwrap();
        assert!(all.len() > 10);
        for evidence in all {
            let value = &evidence["value"];
            let told = value["Ok"].is_number()
                || value["Err"]
                    .as_str()
                    .is_some_and(|reason| !reason.is_empty());
            assert!(told, "{evidence}");
        }
    }
}

#[test]
fn f24_a_cleanup_that_fails_is_recorded_and_the_runs_go_on() {
    let (place, machine) = (Place::new(), Machine::desktop());
    run(
        &place,
        &machine,
        "command = \"true\"\ncleanup = \"false\"",
        "replicates = 3",
    );
    let attempts = attempts(&place);
    assert_eq!(attempts.len(), 6, "every run was had");
    for attempt in attempts {
        let result = attempt["result"].to_string();
        assert!(result.contains("cleanup"), "{result}");
    }
}

#[test]
fn f25_treatments_are_drawn_anew_in_every_block() {
    let (place, machine) = (Place::new(), Machine::desktop());
    run(
        &place,
        &machine,
        "command = \"true\"",
        "replicates = 12\nseed = 1",
    )
    .must_exit(0);
    let orders: Vec<Vec<u64>> = (0..12)
        .map(|block| {
            attempts(&place)
                .iter()
                .filter(|attempt| attempt["block"] == block)
                .map(|attempt| attempt["treatment"].as_u64().unwrap())
                .collect()
        })
        .collect();
    for order in &orders {
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, [0, 1], "a block has every treatment once");
    }
    assert!(orders.iter().any(|order| order != &orders[0]), "{orders:?}");
}

#[test]
fn f26_a_small_program_is_not_said_to_be_as_large_as_the_harness() {
    let (place, machine) = (Place::new(), Machine::desktop());
    run(&place, &machine, "command = \"true\"", "replicates = 2").must_exit(0);
    for attempt in attempts(&place) {
        let [peak] = evidence(&attempt, "memory.peak")[..] else {
            panic!("the peak is told once");
        };
        // Either its own, or not known: never the harness's for the workload's.
        match peak["value"]["Ok"].as_f64() {
            Some(bytes) => assert!(bytes < 4_194_304.0, "{bytes}"),
            None => assert!(
                peak["value"]["Err"]
                    .as_str()
                    .unwrap()
                    .contains("no more than")
            ),
        }
    }
}

#[test]
fn f28_the_brake_on_real_time_tasks_is_told_before_it_shows_as_the_largest_value() {
    let (place, machine) = (Place::new(), Machine::desktop());
    let throttle = "proc/sys/kernel/sched_rt_runtime_us";
    machine.write(throttle, "950000\n");
    machine.write("proc/sys/kernel/sched_rt_period_us", "1000000\n");
    let findings = output(place.knobstat_on(&machine).args(["doctor", "--json"])).json();
    let text = findings.to_string();
    assert!(text.contains("stopped for 50 ms of each 1000 ms"), "{text}");
    // A report says so where runs have such a priority; it knows of the brake in any case.
    let known = |place: &Place| {
        let ended = run(place, &machine, "command = \"true\"", "replicates = 2");
        ended.must_exit(0).json()["machine"]["real_time_percent"].clone()
    };
    assert_eq!(known(&place), 95);
    machine.write(throttle, "-1\n");
    assert_eq!(known(&place), Value::Null);
    let findings = output(place.knobstat_on(&machine).args(["doctor", "--json"])).json();
    assert!(!findings.to_string().contains("stopped for"), "{findings}");
}

#[test]
fn f29_an_interrupt_puts_back_what_an_end_would() {
    let (place, machine) = (Place::new(), Machine::desktop());
    let before = machine.bytes();
    let tables = "[factors]\nthp = [\"always\", \"never\"]\n[fixed]\ngovernor = \"performance\"\nturbo = \"off\"";
    let mut running = Endless::start(&place, &machine, "", tables);
    assert_eq!(machine.read(GOVERNOR), "performance\n");
    assert_eq!(machine.read(NO_TURBO), "1\n");
    running.signal("INT");
    assert_eq!(running.front.wait().unwrap().code(), Some(130));
    assert_eq!(machine.bytes(), before);
}
