//! Settings that a real kernel has, refuses, ignores and takes back.

use std::sync::OnceLock;

use serde_json::json;

use crate::Test;
use crate::boot::Boot;
use crate::modules;
use crate::needs::Need;
use crate::transcript::{Transcript, entries, treatment, value};

/// The tests of this group.
pub const TESTS: &[Test] = &[
    (
        "an_unknown_clock_source_is_refused_before_anything_is_written",
        &[Need::Guest],
        an_unknown_clock_source_is_refused_before_anything_is_written,
    ),
    (
        "a_write_without_effect_is_noticed",
        &[Need::Guest],
        a_write_without_effect_is_noticed,
    ),
    (
        "an_idle_state_that_is_disabled_is_not_used",
        &[Need::Guest],
        an_idle_state_that_is_disabled_is_not_used,
    ),
    (
        "governor_and_limits_decide_the_frequency",
        &[Need::Guest],
        governor_and_limits_decide_the_frequency,
    ),
    (
        "what_hotplug_resets_in_a_run_is_noticed",
        &[Need::Guest],
        what_hotplug_resets_in_a_run_is_noticed,
    ),
    (
        "processors_go_and_come_with_their_settings",
        &[Need::Guest],
        processors_go_and_come_with_their_settings,
    ),
    (
        "a_guardian_puts_back_what_a_killed_harness_left",
        &[Need::Guest],
        a_guardian_puts_back_what_a_killed_harness_left,
    ),
    (
        "every_setting_is_afterwards_what_it_was",
        &[Need::Guest],
        every_setting_is_afterwards_what_it_was,
    ),
];

/// The boot that all of them look at.
fn said() -> &'static Transcript {
    static SAID: OnceLock<Transcript> = OnceLock::new();
    SAID.get_or_init(|| {
        Boot {
            script: include_str!("scripts/settings.sh"),
            siblings: true,
            kernel_parameters: "",
            acpi_table: Some("idle-states-2cpu"),
            files: ["acpi-cpufreq", "cpufreq_powersave"]
                .map(modules::the_kernels)
                .into(),
            disk: None,
        }
        .to_the_end()
    })
}

fn an_unknown_clock_source_is_refused_before_anything_is_written() {
    said().must_have("unknown.said", &["clocksource=quartz", "exit 2\n"]);
    // The kernel takes any name without an error, and says in its log what it did about it.
    assert_eq!(said().section("unknown.kernel").trim(), "hpet\n0");
}

fn a_write_without_effect_is_noticed() {
    said().must_have("without_effect.said", &["1 run failed", "exit 1\n"]);
    let report = said().report("without_effect");
    let factor = "sysfs:/sys/devices/system/clocksource/clocksource0/current_clocksource";
    for (level, ok, failed) in [("hpet", 1, 0), ("jiffies", 0, 1)] {
        let runs = &treatment(&report, &json!({ factor: level }))["runs"];
        assert_eq!((&runs["ok"], &runs["failed"]), (&json!(ok), &json!(failed)));
    }
}

fn an_idle_state_that_is_disabled_is_not_used() {
    said().must_have("idle_states.said", &["exit 0\n"]);
    let report = said().report("idle_states.evidence");
    let factor = &report["factors"][0]["levels"];
    assert_eq!(*factor, json!(["C1", "C3"]));
    // What the kernel's own counters say for each of the levels, in their order.
    for state in ["C2", "C3"] {
        for processor in ["cpu0", "cpu1"] {
            let means = entries(&report, state, processor);
            assert_eq!(means[0], 0.0, "{state} of {processor}: {means:?}");
        }
    }
    assert!(entries(&report, "C1", "cpu0")[0] > 0.0);
    assert!(entries(&report, "C3", "cpu0")[1] > 0.0);
}

fn governor_and_limits_decide_the_frequency() {
    said().must_have("frequency.said", &["exit 0\n"]);
    let report = said().report("frequency");
    for (governor, limit, frequency) in [
        ("performance", 2_400_000, 2_400_000.0),
        ("performance", 1_800_000, 1_800_000.0),
        ("powersave", 2_400_000, 1_200_000.0),
        ("powersave", 1_800_000, 1_200_000.0),
    ] {
        let levels = json!({ "governor": governor, "max_freq": limit });
        let treatment = treatment(&report, &levels);
        assert_eq!(value(treatment, "frequency"), frequency, "{levels}");
    }
}

fn what_hotplug_resets_in_a_run_is_noticed() {
    let report = said().report("hotplug");
    // An interrupt of the processor that went away goes to another, and stays there.
    let runs = &treatment(&report, &json!({ "irq:8": "1" }))["runs"];
    assert_eq!(runs["ok"], 0, "{runs}");
    assert!(runs["tainted"].as_u64() > Some(0), "{runs}");
    let runs = &treatment(&report, &json!({ "irq:8": "0-1" }))["runs"];
    assert!(runs["ok"].as_u64() > Some(0), "{runs}");
}

fn processors_go_and_come_with_their_settings() {
    for (name, factor, levels) in [
        ("siblings", "smt", ["on", "off"]),
        ("online", "cpus_online", ["0-1", "0"]),
    ] {
        said().must_have(&format!("{name}.said"), &["exit 0\n"]);
        let report = said().report(name);
        for (level, processors) in levels.into_iter().zip([2.0, 1.0]) {
            let treatment = treatment(&report, &json!({ factor: level }));
            assert_eq!(
                value(treatment, "processors"),
                processors,
                "{factor}={level}"
            );
        }
    }
    said().must_have("away.said", &["exit 0\n"]);
}

fn a_guardian_puts_back_what_a_killed_harness_left() {
    assert_eq!(said().section("killed.turned"), "performance\n1800000\n");
    let left = said().section("killed.left");
    assert!(left.starts_with("Nothing is left"), "{left}");
}

fn every_setting_is_afterwards_what_it_was() {
    for name in [
        "unknown",
        "without_effect",
        "idle_states",
        "frequency",
        "hotplug",
        "siblings",
        "online",
        "away",
        "killed",
    ] {
        let differs = said().section(&format!("{name}.put_back"));
        assert_eq!(differs.trim(), "", "after {name}");
    }
}
