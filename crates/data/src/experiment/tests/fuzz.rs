//! No text makes the reader panic, whatever is in it.

use proptest::prelude::*;

use super::parse;
use crate::plan;
use crate::words::{ExperimentId, RequestId};

/// Files that are right, and files with faults, to be damaged.
const FILES: [&str; 9] = [
    include_str!("../../../../../examples/clock-sources.toml"),
    include_str!("../../../../../examples/turboboost.toml"),
    include_str!("full.toml"),
    include_str!("broken/several_at_once.toml"),
    include_str!("broken/commands.toml"),
    include_str!("broken/metrics.toml"),
    include_str!("broken/factors.toml"),
    include_str!("broken/own_knobs.toml"),
    include_str!("broken/placeholders.toml"),
];

/// Pieces that mean something to the reader.
const PIECES: [&str; 28] = [
    "[workload]",
    "[factors]",
    "[design]",
    "[[",
    "]]",
    "{",
    "}",
    "=",
    "\"",
    "'",
    "\"\"\"",
    "\\",
    "\n",
    "\r\n",
    "#",
    ",",
    ".",
    "{{",
    "{x}",
    "ä",
    "\u{feff}",
    "\0",
    "\u{1b}",
    "0x",
    "nan",
    "1%",
    "€",
    "kind = \"command\"",
];

/// Reads a text; what is right is used, what is wrong is rendered.
fn exercise(source: &str) {
    match parse(source) {
        Ok(experiment) => {
            let id = ExperimentId::of(&RequestId::of(&experiment.canonical(), "machine"), [0; 16]);
            let plan = plan::draw(&experiment, &id, 1);
            for (_, treatment) in plan.participating().take(50) {
                experiment
                    .parameters_for(treatment)
                    .unwrap_or_else(|error| panic!("{error}\n{source}"));
            }
        }
        Err(diagnostics) => {
            assert!(!diagnostics.faults().is_empty());
            let text = diagnostics.render(false);
            assert!(!text.contains('\u{1b}'), "{text:?}");
            for fault in diagnostics.faults() {
                assert!(source.get(fault.span.clone()).is_some(), "{fault:?}");
                assert!(!fault.message.is_empty() && !fault.remedy.is_empty());
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_text_is_read(source in "\\PC{0,200}") {
        exercise(&source);
    }

    #[test]
    fn any_pieces_are_read(pieces in prop::collection::vec(prop::sample::select(&PIECES[..]), 0..40)) {
        exercise(&pieces.concat());
    }

    #[test]
    fn a_damaged_file_is_read(
        file in prop::sample::select(&FILES[..]),
        damages in prop::collection::vec((any::<prop::sample::Index>(), 0usize..12, prop::sample::select(&PIECES[..])), 1..5),
    ) {
        let mut letters: Vec<char> = file.chars().collect();
        for (place, removed, piece) in damages {
            let start = place.index(letters.len() + 1);
            let end = (start + removed).min(letters.len());
            letters.splice(start..end, piece.chars());
        }
        exercise(&letters.into_iter().collect::<String>());
    }

    #[test]
    fn a_cut_file_is_read(
        file in prop::sample::select(&FILES[..]),
        from in any::<prop::sample::Index>(),
        to in any::<prop::sample::Index>(),
    ) {
        let letters: Vec<char> = file.chars().collect();
        let (a, b) = (from.index(letters.len() + 1), to.index(letters.len() + 1));
        exercise(&letters[a.min(b)..a.max(b)].iter().collect::<String>());
    }
}

#[test]
fn deep_nesting_is_refused_and_not_followed() {
    exercise(&format!(
        "name = {}{}",
        "[".repeat(10_000),
        "]".repeat(10_000)
    ));
    exercise(&format!("{} = 1", ["a"; 5_000].join(".")));
    exercise(&format!("x = {}1", "{ y = ".repeat(5_000)));
}

#[test]
fn many_faults_are_counted_and_not_all_shown() {
    let source: String = (0..500).map(|line| format!("wrong{line} = 1\n")).collect();
    let text = parse(&source).unwrap_err().render(false);
    assert!(
        text.contains("… and 403 more."),
        "{}",
        &text[text.len() - 200..]
    );
    assert!(text.ends_with("503 errors\n"));
}
