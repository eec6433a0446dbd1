//! End to end through the program where root is needed: a file system whose files behave as the
//! kernel's do, and rights that are given up.
//!
//! A test whose needs are not met is shown as ignored with what it lacks; with KNOBSTAT_REQUIRE set
//! it fails instead.

// What of the shared means is used here.
#[path = "../support"]
mod support {
    pub mod campaign;
    pub mod guardian;
    pub mod install;
    pub mod limit;
    pub mod machine;
    pub mod pipe;
    pub mod processes;
    pub mod program;
    pub mod progress;
    pub mod random;
    pub mod trial;
}

mod forced;
mod misbehaving;
mod needs;
mod privileges;
mod readme;
mod settings_file_system;
mod udp;

use std::process::ExitCode;

use libtest_mimic::Arguments;

use needs::Need;
use support::trial::carry_out;

/// A test, its name, and what it needs.
pub type Test = (&'static str, &'static [Need], fn());

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let groups = [
        ("misbehaving", misbehaving::TESTS),
        ("forced", forced::TESTS),
        ("privileges", privileges::TESTS),
        ("readme", readme::TESTS),
        ("udp", udp::TESTS),
    ];
    let tests = groups.into_iter().flat_map(|(group, tests)| {
        tests.iter().map(move |(name, needs, run)| {
            let lacking = needs.iter().find_map(|need| need.lacking());
            (format!("{group}::{name}"), lacking.map(str::to_owned), *run)
        })
    });
    carry_out(&arguments, tests)
}
