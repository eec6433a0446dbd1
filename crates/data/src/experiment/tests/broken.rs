//! Files with faults, and the messages about them: `broken/NAME.toml` against
//! `broken/NAME.snap`.

use super::parse;

macro_rules! broken {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            let source = include_str!(concat!("broken/", stringify!($name), ".toml"));
            let Err(diagnostics) = parse(source) else {
                panic!("the file has no fault");
            };
            let mut settings = insta::Settings::clone_current();
            settings.set_prepend_module_to_snapshot(false);
            settings.set_snapshot_path("broken");
            settings.set_omit_expression(true);
            settings.bind(|| {
                insta::assert_snapshot!(stringify!($name), diagnostics.render(false));
            });
            // In colour the words are the same.
            assert!(diagnostics.render(true).contains('\u{1b}'));
        })*
    };
}

broken! {
    several_at_once
    empty
    not_toml
    unclosed
    unclosed_table
    not_yet
    not_yet_key
    not_yet_workload
    misplaced
    wrong_tables
    values
    commands
    operator
    placeholders
    metrics
    factors
    own_knobs
    treatments
    excluded
    excluded_baseline
    too_many
    targets
    guest
    guest_cpus
    machine_of_this_one
}
