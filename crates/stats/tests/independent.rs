//! Tests and comparisons against R and SciPy. The values and the scripts that made them are in
//! `data/independent`, `data/designs` and `data/turboboost`.

mod support;

use knobstat_stats::Confidence;
use knobstat_stats::comparisons::{GroupMeans, dunnett, holm, tukey};
use knobstat_stats::health::{ljung_box, trend};
use knobstat_stats::planning::power_paired;
use knobstat_stats::summary::{Moments, quantile_interval};
use knobstat_stats::tests::bootstrap::bca;
use knobstat_stats::tests::effect_size::effect_size;
use knobstat_stats::tests::equivalence::tost_welch;
use knobstat_stats::tests::hodges_lehmann::{centre, shift};
use knobstat_stats::tests::mann_whitney::mann_whitney;
use knobstat_stats::tests::ratio::{fieller, fieller_paired, log_ratio};
use knobstat_stats::tests::signed_rank::signed_rank;
use knobstat_stats::tests::student::student;
use knobstat_stats::tests::welch::welch;
use support::{Reference, close};

fn r() -> Reference {
    Reference::parse(include_str!("data/independent/r.csv"))
}

fn numbers(text: &str) -> Vec<f64> {
    text.split_whitespace()
        .map(|word| word.parse().expect("a number"))
        .collect()
}

fn x() -> Vec<f64> {
    numbers(include_str!("data/turboboost/x.txt"))
}

/// The five other data sets of the 2010 post.
fn others() -> [(&'static str, Vec<f64>); 5] {
    [
        ("plus", numbers(include_str!("data/turboboost/plus.txt"))),
        ("star", numbers(include_str!("data/turboboost/star.txt"))),
        ("pct", numbers(include_str!("data/turboboost/pct.txt"))),
        ("hash", numbers(include_str!("data/turboboost/hash.txt"))),
        ("at", numbers(include_str!("data/turboboost/at.txt"))),
    ]
}

#[test]
fn welch_and_student_agree_with_r() {
    let r = r();
    for (name, values) in others() {
        let found = welch(&x(), &values).unwrap();
        let interval = found.interval(Confidence::PERCENT_95);
        let wanted = r.list(&format!("welch.{name}"));
        let all = [found.t, found.df, found.p, interval.low, interval.high];
        for (found, wanted) in all.iter().zip(&wanted) {
            close(name, *found, *wanted, 1e-9);
        }
        let found = student(&x(), &values).unwrap().test;
        let interval = found.interval(Confidence::PERCENT_95);
        let wanted = r.list(&format!("student.{name}"));
        let all = [found.t, found.p, interval.low, interval.high];
        for (found, wanted) in all.iter().zip(&wanted) {
            close(name, *found, *wanted, 1e-9);
        }
    }
}

#[test]
fn the_2010_data_read_the_modern_way() {
    let text = include_str!("data/turboboost/reference.json").replace("Infinity", "null");
    let text = text.replace("NaN", "null");
    let reference: serde_json::Value = serde_json::from_str(&text).unwrap();
    let mut p = Vec::new();
    for (name, values) in others() {
        let wanted = |key: &str| reference[name][key].as_f64().unwrap();
        let found = mann_whitney(&x(), &values).unwrap();
        close(name, found.p, wanted("mwu_p_exact_perm"), 1e-12);
        p.push(found.p);
        let found = effect_size(&x(), &values).unwrap();
        close(name, found.cohen_d, wanted("cohen_d"), 1e-10);
        close(name, found.cliff_delta, wanted("cliffs_delta"), 1e-10);
        // The reference has the usual approximation of the factor, we the factor itself.
        close(name, found.hedges_g, wanted("hedges_g"), 1e-3);
        let found = shift(&x(), &values, Confidence::PERCENT_95).unwrap();
        close(name, found.estimate, wanted("hodges_lehmann"), 1e-12);
        assert!(found.interval.unwrap().contains(found.estimate));
    }
    for adjusted in holm(&p) {
        close("Holm", adjusted, 0.000777, 1e-5);
    }
    let ratio = x().iter().sum::<f64>() / 8.0;
    let percent = numbers(include_str!("data/turboboost/pct.txt"));
    for (margin, wanted) in [(0.01, 0.40411980220598415), (0.015, 0.002063898596458251)] {
        let found = tost_welch(&x(), &percent, margin * ratio).unwrap();
        close("TOST", found.p, wanted, 1e-9);
    }
}

#[test]
fn rank_tests_with_ties_agree_with_r() {
    let r = r();
    let a = [1.0, 2.0, 2.0, 3.0, 5.0, 5.0, 5.0, 8.0];
    let b = [2.0, 3.0, 5.0, 6.0, 7.0, 9.0, 9.0];
    close(
        "ties",
        mann_whitney(&a, &b).unwrap().p,
        r.get("mann_whitney.ties"),
        1e-12,
    );
    let [(_, plus), (_, star), ..] = others();
    let found = mann_whitney(&star, &plus).unwrap();
    close(
        "star, plus",
        found.p,
        r.get("mann_whitney.star_plus"),
        1e-12,
    );
    let d = [0.5, -0.5, 1.5, 2.0, -1.0, 2.0, 3.0, 0.5, 2.5, -1.5];
    close(
        "signs",
        signed_rank(&d).unwrap().p,
        r.get("signed_rank.ties"),
        1e-12,
    );
    let found = mann_whitney(&r.list("long_a"), &r.list("long_b")).unwrap();
    close("long", found.p, r.get("mann_whitney.long"), 1e-12);
}

#[test]
fn hodges_lehmann_agrees_with_r() {
    let r = r();
    let u = [1.1, 2.3, 3.7, 4.2, 5.9, 6.4, 7.8];
    let v = [2.05, 4.45, 6.65, 8.15, 9.35, 11.85];
    let found = shift(&u, &v, Confidence::PERCENT_95).unwrap();
    let interval = found.interval.unwrap();
    let p = mann_whitney(&u, &v).unwrap().p;
    let all = [found.estimate, interval.low, interval.high, p];
    for (found, wanted) in all.iter().zip(r.list("hodges_lehmann")) {
        close("two samples", *found, wanted, 1e-9);
    }
    let d = [1.1, 2.3, -0.7, 4.2, 5.9, 6.4, 7.8, -0.3];
    let found = centre(&d, Confidence::PERCENT_95).unwrap();
    let interval = found.interval.unwrap();
    let p = signed_rank(&d).unwrap().p;
    let all = [found.estimate, interval.low, interval.high, p];
    for (found, wanted) in all.iter().zip(r.list("signed_rank.interval")) {
        close("one sample", *found, wanted, 1e-9);
    }
}

#[test]
fn dunnett_and_tukey_agree_with_r() {
    let r = r();
    let reference = x();
    let sets = others();
    let mut groups: Vec<&[f64]> = vec![&reference];
    groups.extend(sets.iter().map(|(_, values)| values.as_slice()));
    let means = GroupMeans::of_groups(&groups).unwrap();
    let pairs = tukey(&means, Confidence::PERCENT_95).unwrap();
    assert_eq!(pairs.len(), 15);
    for (name, group, against) in [("at-hash", 5, 4), ("star-plus", 2, 1)] {
        let found = pairs
            .iter()
            .find(|pair| (pair.group, pair.against) == (group, against));
        let found = found.unwrap();
        let wanted = r.list(&format!("tukey.{name}"));
        close(name, found.difference, wanted[0], 1e-9);
        close(name, found.interval.low, wanted[1], 1e-8);
        close(name, found.interval.high, wanted[2], 1e-8);
        close(name, found.p, wanted[3], 1e-8);
    }
    let x = dunnett(&means, 0, Confidence::PERCENT_95).unwrap();
    assert!(x.iter().all(|found| found.p < 1e-4));
    let wanted = r.list("dunnett.pct");
    close(
        "Dunnett t",
        x[2].difference / x[2].standard_error,
        wanted[0],
        1e-9,
    );
    // R integrates by quasi-random points, to an absolute 1e-6 or so.
    assert!(
        (x[2].p - wanted[1]).abs() < 3e-6,
        "{} {}",
        x[2].p,
        wanted[1]
    );

    let a = [5.1, 4.7, 5.3, 4.9];
    let b = [5.6, 5.4, 6.1];
    let c = [5.2, 6.0, 5.0, 5.8, 6.3, 5.9];
    let means = GroupMeans::of_groups(&[&a, &b, &c]).unwrap();
    let found = dunnett(&means, 0, Confidence::PERCENT_95).unwrap();
    for (index, found) in found.iter().enumerate() {
        let t = found.difference / found.standard_error;
        close("Dunnett t", t, r.list("dunnett.t")[index], 1e-9);
        // R integrates by quasi-random points.
        close("Dunnett p", found.p, r.list("dunnett.p")[index], 1e-4);
    }
    let pairs = tukey(&means, Confidence::PERCENT_95).unwrap();
    let found = pairs
        .iter()
        .find(|pair| (pair.group, pair.against) == (2, 0))
        .unwrap();
    let wanted = r.list("tukey.kramer.c-a");
    let all = [
        found.difference,
        found.interval.low,
        found.interval.high,
        found.p,
    ];
    for (found, wanted) in all.iter().zip(wanted) {
        close("Tukey-Kramer", *found, wanted, 1e-8);
    }
}

#[test]
fn power_agrees_with_r() {
    let wanted = r().list("power.paired");
    close(
        "20 pairs",
        power_paired(20.0, 0.5, 0.05).unwrap(),
        wanted[0],
        1e-8,
    );
    close(
        "6 pairs",
        power_paired(6.0, 2.0, 0.05).unwrap(),
        wanted[1],
        1e-8,
    );
}

fn scipy() -> Reference {
    Reference::parse(include_str!("data/independent/py.csv"))
}

#[test]
fn ratio_intervals_agree_with_inverted_tests() {
    let py = scipy();
    let a = [10.0, 11.0, 9.0, 10.5, 9.5, 12.0];
    let b = [20.0, 21.5, 18.5, 21.0, 19.0];
    let c = [20.0, 21.5, 18.5, 21.0, 19.0, 22.0];
    for (name, found) in [
        ("fieller", fieller(&a, &b, Confidence::PERCENT_95).unwrap()),
        (
            "log_ratio",
            log_ratio(&a, &b, Confidence::PERCENT_95).unwrap(),
        ),
        (
            "fieller_paired",
            fieller_paired(&a, &c, Confidence::PERCENT_95).unwrap(),
        ),
    ] {
        let all = [
            found.ratio,
            found.interval.low,
            found.interval.high,
            found.df,
        ];
        for (found, wanted) in all.iter().zip(py.list(name)) {
            close(name, *found, wanted, 1e-9);
        }
    }
}

#[test]
fn effect_sizes_order_statistics_and_trend_agree_with_scipy() {
    let py = scipy();
    let low: Vec<f64> = (0..8).map(f64::from).collect();
    let high: Vec<f64> = (0..8).map(|i| f64::from(i) + 1.0).collect();
    let found = effect_size(&low, &high).unwrap();
    close(
        "Hedges",
        found.hedges_g / found.cohen_d,
        py.get("hedges.1"),
        1e-12,
    );
    let values: Vec<f64> = (1..=100).map(f64::from).collect();
    let found = quantile_interval(&values, 0.9, Confidence::PERCENT_95).unwrap();
    let wanted = py.list("quantile_interval");
    assert_eq!(found.ranks, (wanted[0] as usize, wanted[1] as usize));
    close("coverage", found.coverage, wanted[2], 1e-12);
    let found = trend(&[3.0, 1.0, 4.0, 4.0, 5.0, 2.0, 6.0, 6.0, 7.0, 5.0]).unwrap();
    let wanted = py.list("trend");
    close("S", found.s as f64, wanted[0], 0.0);
    close("p", found.p, wanted[1], 1e-12);
    close("slope", found.slope, wanted[2], 1e-12);
}

#[test]
fn the_bootstrap_agrees_with_a_million_resamples() {
    let wanted = scipy().list("bca");
    let values = [3.0, 5.0, 9.0, 17.0, 33.0, 65.0, 4.0, 8.0];
    let mean = |samples: &[&[f64]]| Some(Moments::of(samples[0]).ok()?.mean);
    let found = bca(&[&values], mean, 20_000, 3, Confidence::PERCENT_95).unwrap();
    close("low", found.interval.low, wanted[0], 0.02);
    close("high", found.interval.high, wanted[1], 0.02);
}

#[test]
fn ljung_box_agrees_with_statsmodels() {
    let text = include_str!("data/designs/anova_power_multi.json").replace("NaN", "null");
    let reference: serde_json::Value = serde_json::from_str(&text).unwrap();
    let reference = &reference["ljungbox_lew"];
    let lew: Vec<f64> = include_str!("data/nist/Lew.dat")
        .lines()
        .skip_while(|line| !line.starts_with("-----"))
        .skip(1)
        .filter_map(|line| line.trim().parse().ok())
        .collect();
    for (index, lags) in [1, 10].into_iter().enumerate() {
        let found = ljung_box(&lew, lags).unwrap();
        close(
            "statistic",
            found.statistic,
            reference["stat"][index].as_f64().unwrap(),
            1e-10,
        );
        close("p", found.p, reference["p"][index].as_f64().unwrap(), 1e-9);
    }
}
