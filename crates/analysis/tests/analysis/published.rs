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
        (small.judged.verdict, small.judged.better),
        (Verdict::Different, Some(false))
    );
    // Repeats that never vary: 513 three times against 886 three times.
    let large = clock(&analysis, "tsc", 512);
    assert_eq!(
        (large.judged.verdict, large.judged.better),
        (Verdict::Different, Some(true))
    );
    assert_eq!(large.method, Some(Method::PairedTOnScale));
    assert!((large.judged.percent.unwrap() - 72.709_551_656).abs() < 1e-6);
    assert!(
        large.judged.sentence.contains("at least 72.7 % higher"),
        "{}",
        large.judged.sentence
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
        assert_eq!(both.judged.verdict, Verdict::Undecided);
        assert!(
            both.judged.sentence.contains("both limited by the link"),
            "{}",
            both.judged.sentence
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
    assert_eq!(
        (small.judged.verdict, small.judged.better),
        (Verdict::Undecided, None)
    );
    assert!(small.judged.p.unwrap() > 0.5);
    assert!(small.judged.more.is_some());
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
            (found.judged.verdict, found.judged.better),
            (Verdict::Different, Some(true))
        );
        assert!(
            (found.judged.percent.unwrap() / percent - 1.0).abs() < 1e-5,
            "{found:?}"
        );
    }
}

#[test]
fn the_interaction_of_2010_is_told_by_what_removing_idle_ticks_does_alone() {
    let analysis = analyse(&turbo_boost());
    let interaction = analysis
        .effects
        .iter()
        .find(|found| found.factors.len() == 2);
    let interaction = interaction.unwrap();
    assert!(interaction.found && interaction.p_adjusted < 1e-20);
    let told: Vec<(String, f64)> = interaction
        .simple
        .iter()
        .map(|effect| {
            assert_eq!(effect.from.to_string(), "idletick=1");
            assert_eq!(effect.to.to_string(), "idletick=0");
            assert!(!effect.percent_interval.unwrap().contains(0.0));
            let rounded = (effect.percent.unwrap() * 10.0).round() / 10.0;
            (effect.at.to_string(), rounded)
        })
        .collect();
    let wanted = [
        ("cstate=C1", -1.0),
        ("cstate=C2", -7.4),
        ("cstate=C3", -6.4),
    ];
    assert_eq!(told, wanted.map(|(at, percent)| (at.to_owned(), percent)));
    let [sentence] = interaction.simple_in_words.as_slice() else {
        panic!("one step: {:?}", interaction.simple_in_words)
    };
    for part in [
        "From idletick=1 to 0 alone",
        "-0.966 %",
        "-7.43 %",
        "-6.41 %",
    ] {
        assert!(sentence.contains(part), "{sentence}");
    }
}

#[test]
fn the_outlier_and_the_two_clusters_of_2010_are_pointed_out() {
    let analysis = analyse(&turbo_boost());
    let says = |kind: &str, parts: &[&str]| {
        analysis.caveats.iter().any(|caveat| {
            caveat.kind == kind && parts.iter().all(|part| caveat.sentence.contains(part))
        })
    };
    assert!(says("outliers", &["12.14", "cstate=C1 idletick=1"]));
    let clusters = ["cstate=C2 idletick=1", "2 about 11.46", "6 about 11.66"];
    assert!(says("two-clusters", &clusters));
    // Marked and never dropped.
    let x = &analysis.treatments[0].metrics[0];
    assert_eq!(x.observations.len(), 8);
    assert!(x.observations.iter().any(|seen| seen.value == 12.14));
}
