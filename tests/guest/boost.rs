//! Boost, through a frequency driver that only tests load: the kernel's own code behind
//! `cpufreq/boost` is real, the driver beneath it keeps what it is told and speeds nothing up, and
//! `intel_pstate/no_turbo` is a stand-in of the same module.

use std::sync::OnceLock;

use serde_json::json;

use crate::Test;
use crate::boot::Boot;
use crate::modules;
use crate::needs::Need;
use crate::transcript::{Transcript, treatment, value};

/// The tests of this group.
pub const TESTS: &[Test] = &[
    (
        "the_kernels_boost_is_turned_and_put_back",
        &[Need::Guest, Need::Modules],
        the_kernels_boost_is_turned_and_put_back,
    ),
    (
        "a_processor_comes_back_with_its_governor",
        &[Need::Guest, Need::Modules],
        a_processor_comes_back_with_its_governor,
    ),
    (
        "a_stand_in_for_no_turbo_is_turned_and_put_back",
        &[Need::Guest, Need::Modules],
        a_stand_in_for_no_turbo_is_turned_and_put_back,
    ),
];

fn said() -> &'static Transcript {
    static SAID: OnceLock<Transcript> = OnceLock::new();
    SAID.get_or_init(|| {
        Boot {
            script: include_str!("scripts/boost.sh"),
            siblings: true,
            kernel_parameters: "",
            acpi_table: None,
            files: vec![modules::ours("boosting_frequency")],
            disk: None,
        }
        .to_the_end()
    })
}

fn the_kernels_boost_is_turned_and_put_back() {
    said().must_have("boost.said", &["exit 0\n"]);
    let report = said().report("boost");
    for (level, most) in [("on", 3_200_000.0), ("off", 2_400_000.0)] {
        let treatment = treatment(&report, &json!({ "turbo": level }));
        assert_eq!(value(treatment, "most"), most);
    }
    assert_eq!(
        said().section("boost.after"),
        said().section("boost.before")
    );
}

fn a_processor_comes_back_with_its_governor() {
    said().must_have("policies.said", &["exit 0\n"]);
    assert_eq!(
        said().section("policies.after"),
        "0-1\nschedutil\nschedutil\n"
    );
}

fn a_stand_in_for_no_turbo_is_turned_and_put_back() {
    said().must_have("stand_in.said", &["exit 0\n"]);
    let report = said().report("stand_in");
    for (level, file) in [("on", 0.0), ("off", 1.0)] {
        let treatment = treatment(&report, &json!({ "turbo": level }));
        assert_eq!(value(treatment, "no_turbo"), file);
    }
    assert_eq!(said().section("stand_in.after"), "0\n");
}
