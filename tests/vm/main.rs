//! Experiments in guests, end to end: QEMU boots real kernels, and every figure that is looked at
//! comes from virtual time, which no load of the host changes.
//!
//! A test whose needs are not met is shown as ignored with what it lacks; with KNOBSTAT_REQUIRE set
//! it fails instead.

// What of the shared means is used here.
#[path = "../support"]
mod support {
    pub mod limit;
    pub mod processes;
    pub mod program;
    pub mod trial;
}

mod boots;
mod clock_sources;
mod commands;
mod endings;
mod needs;
mod reboots;

use std::process::ExitCode;

use libtest_mimic::Arguments;

use support::trial::carry_out;

/// A test, its name, and what it does.
pub type Test = (&'static str, fn());

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // One guest at a time: a second one would only wait for the first.
    arguments.test_threads.get_or_insert(1);
    let lacking = needs::lacking();
    let for_a_disk = lacking.clone().or_else(needs::lacking_for_a_disk);
    let mut groups = vec![
        ("clock_sources", clock_sources::TESTS, &lacking),
        ("boots", boots::TESTS, &lacking),
        ("commands", commands::TESTS, &lacking),
        ("endings", endings::TESTS, &lacking),
        ("reboots", reboots::TESTS, &for_a_disk),
    ];
    if std::env::var_os("KNOBSTAT_LONG").is_some() {
        groups.push(("boots", boots::LONG_TESTS, &lacking));
        groups.push(("examples", clock_sources::LONG_TESTS, &lacking));
        groups.push(("reboots", reboots::LONG_TESTS, &for_a_disk));
    }
    let tests = groups.into_iter().flat_map(|(group, tests, lacking)| {
        tests
            .iter()
            .map(move |(name, run)| (format!("{group}::{name}"), lacking.clone(), *run))
    });
    carry_out(&arguments, tests)
}
