//! Columns line up, names are cut and listed, nothing is wider than asked.

use insta::assert_snapshot;
use knobstat_data::Record;
use knobstat_data::experiment::FactorKind;
use knobstat_report::Style;
use knobstat_report::formats::find;
use unicode_width::UnicodeWidthStr;

use crate::support::{
    Bench, HZ_250, KNOB, clock_sources, numbers, texts, turbo_boost, wall, yielded,
};
use crate::{rendered, report};

fn three_factors() -> Record {
    let bench = Bench::new(
        "three factors",
        &[
            ("governor", KNOB, &texts(&["performance", "powersave"])),
            ("turbo", KNOB, &texts(&["on", "off"])),
            ("threads", FactorKind::Placeholder, &numbers(&[1, 4])),
        ],
        wall(),
    )
    .against("governor", "performance");
    bench.record(|treatment, block| {
        let has = |text: &str| treatment.to_string().contains(text);
        let slower = f64::from(u8::from(has("powersave"))) + 0.5 * f64::from(u8::from(has("off")));
        let noise = [0.013, -0.021, 0.008][block] * if has("threads=4") { 3.0 } else { 1.0 };
        Some(yielded(&wall(), 10.0 + slower + noise))
    })
}

fn long_names() -> Record {
    let long = "sysfs:/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor";
    let bench = Bench::new(
        "a name in 日本語",
        &[
            (
                long,
                KNOB,
                &texts(&["性能を優先する設定の名前がとても長い場合", "powersave"]),
            ),
            ("turbo", KNOB, &texts(&["on", "off"])),
        ],
        wall(),
    );
    bench.record(|treatment, block| {
        let on = treatment.to_string().contains("turbo=on");
        Some(yielded(
            &wall(),
            if on { 1.0 } else { 1.5 } + block as f64 / 16.0,
        ))
    })
}

#[test]
fn three_factors_have_a_table_for_each_level_of_the_third() {
    assert_snapshot!(rendered(&three_factors(), "text", 80));
}

#[test]
fn long_names_are_cut_and_listed() {
    assert_snapshot!(rendered(&long_names(), "text", 80));
}

#[test]
fn one_factor_is_a_plot() {
    let bench = Bench::new(
        "one factor",
        &[("turbo", KNOB, &texts(&["on", "off"]))],
        wall(),
    );
    let record = bench.blocks(6).record(|treatment, block| {
        let on = treatment.to_string() == "turbo=on";
        let noise = [0.02, 0.05, 0.01, 0.03, 0.02, 0.04][block];
        Some(yielded(&wall(), if on { 1.0 } else { 1.25 } + noise))
    });
    assert_snapshot!(rendered(&record, "text", 60));
}

#[test]
fn a_report_of_hundreds_of_treatments_names_what_can_be_read() {
    let levels = numbers(&(1..=16).collect::<Vec<i64>>());
    let factors = ["a", "b"].map(|name| (name, FactorKind::Placeholder, levels.as_slice()));
    let mut state = 1_u32;
    let record = Bench::new("many", &factors, wall()).record(|treatment, _| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let noise = f64::from(state >> 16) / 65536.0;
        let worse = if treatment.to_string() == "a=16 b=16" {
            1e4
        } else {
            10.0
        };
        Some(yielded(&wall(), worse + noise))
    });
    let text = rendered(&record, "text", 120);
    for sentence in [
        "a=16 with b=16 is worse than a=1 with b=1",
        "254 comparisons are undecided; `--format markdown` has a sentence for each of them.",
        "choices, of which a=",
    ] {
        assert!(text.contains(sentence), "{sentence} is not in\n{text}");
    }
    assert!(!text.contains("cannot be told apart"), "{text}");
    let markdown = rendered(&record, "markdown", 120);
    assert_eq!(markdown.matches(" cannot be told apart").count(), 254);
    assert!(markdown.contains("choices, of which a="), "{markdown}");
}

#[test]
fn lines_keep_to_the_width() {
    // Names that are longer than a line have no blank to break at and are left out here.
    for record in [clock_sources(&HZ_250), turbo_boost(), three_factors()] {
        for width in [72, 80, 100, 132] {
            for line in rendered(&record, "text", width).lines() {
                // A tab stands for eight columns, as in what ministat prints.
                let columns = line.replace('\t', "        ").width();
                assert!(columns <= width.max(80), "{width}: {line}");
            }
        }
    }
}

#[test]
fn no_width_is_too_small_to_be_rendered() {
    for record in [
        clock_sources(&HZ_250),
        turbo_boost(),
        three_factors(),
        long_names(),
    ] {
        for width in 0..60 {
            assert!(rendered(&record, "text", width).lines().count() > 10);
        }
    }
}

#[test]
fn colour_changes_nothing_but_colour() {
    let report = report(&clock_sources(&HZ_250));
    let text = |colour| (find("text").unwrap().render)(&report, Style { width: 80, colour });
    assert!(!text(false).contains('\u{1b}'));
    assert!(text(true).contains("\u{1b}[32mdifferent"));
    let mut plain = String::new();
    let mut escape = false;
    for character in text(true).chars() {
        match (escape, character) {
            (false, '\u{1b}') => escape = true,
            (false, _) => plain.push(character),
            (true, 'm') => escape = false,
            (true, _) => {}
        }
    }
    assert_eq!(plain, text(false));
}
