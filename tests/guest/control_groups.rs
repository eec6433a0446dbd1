//! Control groups of a real kernel: every run in one of its own, and a guardian that outlives the
//! job.

use std::sync::OnceLock;

use crate::Test;
use crate::boot::Boot;
use crate::needs::Need;
use crate::transcript::Transcript;

/// The tests of this group.
pub const TESTS: &[Test] = &[
    (
        "what_all_processes_of_a_run_used_is_counted",
        &[Need::Guest],
        what_all_processes_of_a_run_used_is_counted,
    ),
    (
        "a_guardian_outlives_the_group_of_the_job_and_puts_back",
        &[Need::Guest],
        a_guardian_outlives_the_group_of_the_job_and_puts_back,
    ),
];

fn said() -> &'static Transcript {
    static SAID: OnceLock<Transcript> = OnceLock::new();
    SAID.get_or_init(|| {
        Boot {
            script: include_str!("scripts/control_groups.sh"),
            siblings: false,
            kernel_parameters: "",
            acpi_table: None,
            files: Vec::new(),
            disk: None,
        }
        .to_the_end()
    })
}

fn what_all_processes_of_a_run_used_is_counted() {
    said().must_have("accounts.said", &["exit 0\n"]);
    let report = said().report("accounts.evidence");
    for (key, least) in [
        ("group.cpu.time", 1e-4),
        ("group.memory.peak", f64::from(8 << 20)),
    ] {
        let rows = report["evidence"].as_array().unwrap();
        let row = rows
            .iter()
            .find(|row| row["key"] == key)
            .unwrap_or_else(|| panic!("no {key} in {rows:#?}"));
        let means: Vec<f64> = serde_json::from_value(row["means"].clone()).unwrap();
        assert!(means.iter().all(|mean| *mean >= least), "{key}: {means:?}");
    }
    // None of the groups is left.
    assert_eq!(said().section("accounts.left").trim(), "");
}

fn a_guardian_outlives_the_group_of_the_job_and_puts_back() {
    assert_eq!(said().section("managed.turned").trim(), "turned");
    assert_eq!(
        said().section("managed.groups"),
        "/job\n/knobstat-guardian-\n/knobstat-run-\n"
    );
    let left = said().section("managed.left");
    assert!(left.starts_with("Nothing is left"), "{left}");
    assert_eq!(said().section("managed.put_back").trim(), "back");
}
