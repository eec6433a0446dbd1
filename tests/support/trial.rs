//! Tests that not every machine can carry out.

use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};

/// Carries out what the command line asks for of these tests: each with its name, what it lacks
/// here, and what it does.
pub fn carry_out(
    arguments: &Arguments,
    tests: impl Iterator<Item = (String, Option<String>, fn())>,
) -> ExitCode {
    let trials = tests.map(|(name, lacking, run)| trial(name, lacking, run));
    libtest_mimic::run(arguments, trials.collect()).exit_code()
}

/// A test. Where something is lacking it is shown as ignored with what that is; with
/// KNOBSTAT_REQUIRE set it fails instead.
fn trial(name: String, lacking: Option<String>, run: fn()) -> Trial {
    let required = std::env::var_os("KNOBSTAT_REQUIRE").is_some_and(|value| !value.is_empty());
    match lacking {
        None => Trial::test(name, move || {
            run();
            Ok(())
        }),
        Some(reason) if required => Trial::test(name, move || {
            Err(Failed::from(format!("it needs what is not here: {reason}")))
        }),
        Some(reason) => Trial::test(name, || Ok(()))
            .with_kind(reason)
            .with_ignored_flag(true),
    }
}
