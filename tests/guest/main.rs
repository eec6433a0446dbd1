//! The promises about settings, under a real kernel: the program runs in guests that QEMU boots,
//! with Debian's kernel, and turns that kernel's own settings.
//!
//! Checks share boots: a script does what they all need, and each looks at what it printed. A test
//! whose needs are not met is shown as ignored with what it lacks; with KNOBSTAT_REQUIRE set it
//! fails instead.

// What of the shared means is used here.
#[path = "../support"]
mod support {
    pub mod progress;
    pub mod random;
    pub mod trial;
}

mod boost;
mod boot;
mod control_groups;
mod counter;
mod modules;
mod needs;
mod power_cut;
mod settings;
mod shell;
mod target;
mod transcript;
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
        ("settings", settings::TESTS),
        ("boost", boost::TESTS),
        ("control_groups", control_groups::TESTS),
        ("counter", counter::TESTS),
        ("udp", udp::TESTS),
        ("target", target::TESTS),
        ("shell", shell::TESTS),
        ("power_cut", power_cut::TESTS),
    ];
    let tests = groups.into_iter().flat_map(|(group, tests)| {
        tests.iter().map(move |(name, needs, run)| {
            let lacking = needs.iter().find_map(|need| need.lacking());
            (format!("{group}::{name}"), lacking, *run)
        })
    });
    carry_out(&arguments, tests)
}
