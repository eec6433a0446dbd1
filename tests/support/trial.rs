//! Tests that not every machine can carry out.

use libtest_mimic::{Failed, Trial};

/// A test. Where something is lacking it is shown as ignored with what that is; with
/// KNOBSTAT_REQUIRE set it fails instead.
pub fn trial(name: String, lacking: Option<String>, run: fn()) -> Trial {
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
