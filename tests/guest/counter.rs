//! The kernel gives up on the time stamp counter in the middle of a run, as its watchdog does when
//! the counter runs away; a module that only tests load makes it.

use serde_json::json;

use crate::Test;
use crate::boot::Boot;
use crate::modules;
use crate::needs::Need;
use crate::transcript::treatment;

/// The tests of this group.
pub const TESTS: &[Test] = &[(
    "a_counter_that_falls_in_a_run_taints_it",
    &[Need::Guest, Need::Modules],
    a_counter_that_falls_in_a_run_taints_it,
)];

fn a_counter_that_falls_in_a_run_taints_it() {
    let said = Boot {
        script: include_str!("scripts/counter.sh"),
        siblings: false,
        kernel_parameters: "",
        acpi_table: None,
        files: vec![modules::ours("unstable_counter")],
        disk: None,
    }
    .to_the_end();
    assert_eq!(said.section("counter.before"), "tsc\n");
    let report = said.report("counter");
    let fallen = &treatment(&report, &json!({ "clocksource": "tsc" }))["runs"];
    assert_eq!((&fallen["ok"], &fallen["tainted"]), (&json!(0), &json!(1)));
    let kept = &treatment(&report, &json!({ "clocksource": "hpet" }))["runs"];
    assert!(kept["ok"].as_u64() >= Some(2), "{kept}");
    // No write brings it back, so that the machine cannot be put back, and says so.
    said.must_have(
        "counter.said",
        &["could not be put back to tsc", "exit 3\n"],
    );
    said.must_have("counter.after", &["hpet\n", "does not offer tsc"]);
}
