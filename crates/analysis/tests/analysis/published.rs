//! The two published experiments, judged anew.

use crate::support::{HZ_250, HZ_1000, clock_sources, turbo_boost};
use knobstat_analysis::{Analysis, Choice, Comparison, Method, Verdict, analyse};
use knobstat_data::words::Setting;
use knobstat_data::{Level, Treatment};

fn levels(settings: &[(&str, Level)]) -> Treatment {
    Treatment::new(
        settings
            .iter()
            .map(|(factor, level)| Setting::new(*factor, level.clone())),
    )
}

fn comparison<'a>(analysis: &'a Analysis, settings: &[(&str, Level)]) -> &'a Comparison {
    let wanted = levels(settings);
    analysis
        .comparisons
        .iter()
        .find(|found| found.levels == wanted)
        .unwrap()
}

fn clock(analysis: &Analysis, clock: &str, size: i64) -> Comparison {
    let settings = [("clocksource", clock.into()), ("packet_size", size.into())];
    comparison(analysis, &settings).clone()
}

fn choice(analysis: &Analysis, size: i64) -> &Choice {
    let at = levels(&[("packet_size", size.into())]);
    let mut choices = analysis.recommendation.choices.iter();
    choices.find(|choice| choice.at == at).unwrap()
}

#[test]
fn at_hz_250_the_best_clock_source_depends_on_the_packet_size() {
    let analysis = analyse(&clock_sources(&HZ_250));
    assert_eq!(analysis.comparisons.len(), 8);

    let small = clock(&analysis, "tsc", 64);
    assert_eq!(
        (small.verdict, small.better),
        (Verdict::Different, Some(false))
    );
    // Repeats that never vary: 513 three times against 886 three times.
    let large = clock(&analysis, "tsc", 512);
    assert_eq!(
        (large.verdict, large.better),
        (Verdict::Different, Some(true))
    );
    assert_eq!(large.method, Some(Method::PairedTOnScale));
    assert!((large.percent.unwrap() - 72.709_551_656).abs() < 1e-6);
    assert!(
        large.sentence.contains("at least 72.7 % higher"),
        "{}",
        large.sentence
    );

    let jiffies = levels(&[("clocksource", "jiffies".into())]);
    let tsc = levels(&[("clocksource", "tsc".into())]);
    assert_eq!(choice(&analysis, 64).best.as_ref(), Some(&jiffies));
    assert_eq!(choice(&analysis, 512).best.as_ref(), Some(&tsc));
}

#[test]
fn two_clock_sources_at_line_rate_are_neither_equal_nor_best() {
    for figures in [HZ_250, HZ_1000] {
        let mut record = clock_sources(&figures);
        record.experiment.analysis.baseline = levels(&[("clocksource", "tsc".into())]);
        record.experiment.analysis.margin = Some(knobstat_data::Ratio(0.5));
        let analysis = analyse(&record);
        let both = clock(&analysis, "acpi_pm", 1280);
        assert_eq!(both.verdict, Verdict::Undecided);
        assert!(
            both.sentence.contains("both limited by the link"),
            "{}",
            both.sentence
        );
        let choice = choice(&analysis, 1280);
        assert_eq!(choice.best, None);
        assert_eq!(choice.candidates.len(), 2, "{}", choice.sentence);
    }
}

#[test]
fn at_hz_1000_jiffies_and_tsc_are_undecided_for_small_packets() {
    let analysis = analyse(&clock_sources(&HZ_1000));
    let small = clock(&analysis, "tsc", 64);
    assert_eq!((small.verdict, small.better), (Verdict::Undecided, None));
    assert!(small.p.unwrap() > 0.5);
    assert!(small.more_blocks.is_some());
    assert_eq!(choice(&analysis, 64).best, None);
}

#[test]
fn turbo_boost_gives_more_than_ten_percent_without_idle_ticks() {
    let analysis = analyse(&turbo_boost());
    for (cstate, idletick, percent) in [
        ("C2", "1", -3.49091),
        ("C3", "1", -4.21818),
        ("C1", "0", -0.966_234),
        ("C2", "0", -10.6597),
        ("C3", "0", -10.3584),
    ] {
        let settings = [("cstate", cstate.into()), ("idletick", idletick.into())];
        let found = comparison(&analysis, &settings);
        assert_eq!(
            (found.verdict, found.better),
            (Verdict::Different, Some(true))
        );
        assert!(
            (found.percent.unwrap() / percent - 1.0).abs() < 1e-5,
            "{found:?}"
        );
    }
}
