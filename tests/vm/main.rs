//! Experiments in guests, end to end: QEMU boots real kernels, and every figure that is looked at
//! comes from virtual time, which no load of the host changes.
//!
//! A test whose needs are not met is shown as ignored with what it lacks; with KNOBSTAT_REQUIRE set
//! it fails instead.

// What of the shared means is used here.
#[path = "../support"]
mod support {
    pub mod processes;
    pub mod program;
}

mod boots;
mod clock_sources;
mod commands;
mod endings;
mod needs;
mod reboots;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};

/// A test, its name, and what it does.
pub type Test = (&'static str, fn());

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // One guest at a time: a second one would only wait for the first.
    arguments.test_threads.get_or_insert(1);
    let required = is_set("KNOBSTAT_REQUIRE");
    let lacking = needs::lacking();
    let for_a_disk = lacking.clone().or_else(needs::lacking_for_a_disk);
    let mut groups = vec![
        ("clock_sources", clock_sources::TESTS, &lacking),
        ("boots", boots::TESTS, &lacking),
        ("commands", commands::TESTS, &lacking),
        ("endings", endings::TESTS, &lacking),
        ("reboots", reboots::TESTS, &for_a_disk),
    ];
    if is_set("KNOBSTAT_LONG") {
        groups.push(("boots", boots::LONG_TESTS, &lacking));
        groups.push(("examples", clock_sources::LONG_TESTS, &lacking));
        groups.push(("reboots", reboots::LONG_TESTS, &for_a_disk));
    }
    let trials = groups
        .into_iter()
        .flat_map(|(group, tests, lacking)| tests.iter().map(move |test| (group, test, lacking)))
        .map(|(group, (name, run), lacking)| {
            let (name, run) = (format!("{group}::{name}"), *run);
            match lacking {
                None => Trial::test(name, move || {
                    run();
                    Ok(())
                }),
                Some(reason) if required => {
                    let reason = reason.clone();
                    Trial::test(name, move || {
                        Err(Failed::from(format!("it needs what is not here: {reason}")))
                    })
                }
                Some(reason) => Trial::test(name, || Ok(()))
                    .with_kind(reason.clone())
                    .with_ignored_flag(true),
            }
        })
        .collect();
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn is_set(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|value| !value.is_empty())
}
