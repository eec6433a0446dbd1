//! Whatever goes in, what comes out is a number or a reason: never NaN, an infinity or a panic.

use knobstat_stats::anova::{
    Model, Observations, SumsOfSquares, anova, one_way, random_blocks, split_plot,
};
use knobstat_stats::comparisons::{GroupMeans, dunnett, holm, tukey};
use knobstat_stats::health::{
    autocorrelation, bimodality, change_point, granularity, ljung_box, outliers, trend, warm_up,
};
use knobstat_stats::planning::{
    blocks_for_half_width, required_blocks, required_blocks_from_pilot,
};
use knobstat_stats::sequential::{ConfidenceSequence, MixtureScale, log_e_value};
use knobstat_stats::summary::{
    Summary, mean_interval, median_absolute_deviation, median_interval, quantile,
};
use knobstat_stats::tests::bootstrap::bca;
use knobstat_stats::tests::effect_size::{effect_size, paired_effect_size};
use knobstat_stats::tests::equivalence::{tost_paired, tost_welch};
use knobstat_stats::tests::hodges_lehmann::{centre, shift};
use knobstat_stats::tests::mann_whitney::mann_whitney;
use knobstat_stats::tests::paired::{differences, paired_t};
use knobstat_stats::tests::ratio::{fieller, fieller_paired, log_ratio, log_ratio_paired};
use knobstat_stats::tests::signed_rank::signed_rank;
use knobstat_stats::tests::student::student;
use knobstat_stats::tests::welch::welch;
use knobstat_stats::verdict::{Question, judge, more_blocks};
use knobstat_stats::{Confidence, Interval};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// Values as wild as they come, with many ties.
fn value() -> impl Strategy<Value = f64> {
    prop_oneof![
        6 => (-3i32..4).prop_map(f64::from),
        4 => -10.0f64..10.0,
        1 => Just(f64::NAN),
        1 => prop::sample::select(vec![f64::INFINITY, f64::NEG_INFINITY]),
        2 => prop::sample::select(vec![0.0, -0.0, 5e-324, 1e-300, 1e300, -1e300, f64::MAX, f64::MIN]),
        1 => prop::num::f64::NORMAL,
    ]
}

fn tame() -> impl Strategy<Value = f64> {
    prop_oneof![
        3 => (-3i32..4).prop_map(f64::from),
        2 => -10.0f64..10.0,
        1 => prop::sample::select(vec![1e-300, 1e155, -1e155, 1e300, f64::MAX, 0.0]),
    ]
}

fn sample() -> impl Strategy<Value = Vec<f64>> {
    prop_oneof![
        prop::collection::vec(value(), 0..12),
        prop::collection::vec(tame(), 0..14),
        prop::collection::vec(-2.0f64..2.0, 0..12),
        (tame(), 0usize..12).prop_map(|(value, n)| vec![value; n]),
    ]
}

#[track_caller]
fn finite(values: &[f64]) {
    assert!(values.iter().all(|value| value.is_finite()), "{values:?}");
}

#[track_caller]
fn ordered(interval: Interval) {
    finite(&[interval.low, interval.high]);
    assert!(interval.low <= interval.high, "{interval:?}");
}

#[track_caller]
fn probability(p: f64) {
    assert!((0.0..=1.0).contains(&p), "{p}");
}

const C: Confidence = Confidence::PERCENT_95;

fn check_one(a: &[f64]) {
    if let Some(s) = Summary::of(a) {
        finite(&[s.mean, s.median, s.min, s.max, s.sd.unwrap_or(0.0)]);
        assert!(s.min <= s.median && s.median <= s.max);
    }
    if let Some(interval) = mean_interval(a, C) {
        ordered(interval);
    }
    for p in [0.0, 0.1, 0.5, 0.99, 1.0] {
        if let Ok(q) = quantile(a, p) {
            finite(&[q]);
        }
    }
    if let Ok(found) = median_interval(a, C) {
        ordered(found.interval);
        assert!(found.coverage >= 0.95);
    }
    if let Ok(found) = median_absolute_deviation(a) {
        finite(&[found]);
    }
    if let Ok(found) = paired_t(a) {
        finite(&[found.mean, found.sd, found.standard_error, found.t]);
        probability(found.p);
        ordered(found.interval(C));
    }
    if let Ok(found) = tost_paired(a, 1.0) {
        probability(found.p);
    }
    if let Ok(found) = signed_rank(a) {
        probability(found.p);
    }
    if let Ok(found) = paired_effect_size(a) {
        finite(&[found]);
    }
    if let Ok(found) = centre(a, C) {
        finite(&[found.estimate]);
        if let Some(interval) = found.interval {
            ordered(interval);
        }
    }
    let mean = |samples: &[&[f64]]| Some(Summary::of(samples[0])?.mean);
    if let Ok(found) = bca(&[a], mean, 100, 1, C) {
        ordered(found.interval);
        finite(&[found.estimate, found.bias, found.acceleration]);
    }
    let scale = MixtureScale::default();
    if let Ok(found) = log_e_value(a, scale) {
        finite(&[found]);
    }
    let sequence = ConfidenceSequence {
        confidence: C,
        scale,
    };
    if let Ok(Some(interval)) = sequence.interval(a) {
        ordered(interval);
    }
}

fn check_health(a: &[f64]) {
    for lag in 0..3 {
        if let Ok(r) = autocorrelation(a, lag) {
            assert!(r.abs() <= 1.0 + 1e-12, "{r}");
        }
    }
    if let Ok(found) = ljung_box(a, 2) {
        finite(&[found.statistic]);
        probability(found.p);
    }
    if let Ok(found) = trend(a) {
        finite(&[found.tau, found.slope]);
        probability(found.p);
    }
    if let Ok(found) = change_point(a) {
        probability(found.p);
        assert!(found.at < a.len());
    }
    if let Ok(Some(found)) = warm_up(a, 0.05) {
        finite(&[found.shift]);
        probability(found.p);
    }
    if let Ok(Some(found)) = bimodality(a) {
        finite(&[found.lower, found.upper]);
        probability(found.explained);
    }
    if let Ok(found) = outliers(a) {
        assert!(found.iter().all(|place| *place < a.len()));
    }
    if let Ok(found) = granularity(a)
        && let Some(step) = found.step
    {
        assert!(step > 0.0 && step.is_finite());
    }
    if let Ok(found) = required_blocks_from_pilot(a, 1.0, 0.05, 0.9) {
        assert!(found.expected.n >= 2);
    }
}

fn check_two(a: &[f64], b: &[f64]) {
    for found in [welch(a, b), student(a, b).map(|found| found.test)]
        .into_iter()
        .flatten()
    {
        finite(&[found.difference, found.standard_error, found.t, found.df]);
        probability(found.p);
        ordered(found.interval(C));
    }
    if let Ok(found) = tost_welch(a, b, 1.0) {
        probability(found.p);
    }
    if let Ok(found) = mann_whitney(a, b) {
        probability(found.p);
        probability(found.probability_larger);
    }
    if let Ok(found) = shift(a, b, C) {
        finite(&[found.estimate]);
    }
    if let Ok(found) = effect_size(a, b) {
        finite(&[found.cohen_d, found.hedges_g, found.cliff_delta]);
    }
    if let Ok(found) = differences(a, b) {
        finite(&found);
    }
    for found in [
        fieller(a, b, C),
        fieller_paired(a, b, C),
        log_ratio(a, b, C),
        log_ratio_paired(a, b, C),
    ]
    .into_iter()
    .flatten()
    {
        finite(&[found.ratio]);
        ordered(found.interval);
    }
}

fn check_many(groups: &[Vec<f64>]) {
    let views: Vec<&[f64]> = groups.iter().map(Vec::as_slice).collect();
    if let Ok(found) = one_way(&views) {
        finite(&[found.f, found.between_sum, found.within_sum]);
        probability(found.p);
    }
    for means in [
        GroupMeans::of_groups(&views),
        GroupMeans::of_complete_blocks(&views),
    ]
    .into_iter()
    .flatten()
    {
        for family in [dunnett(&means, 0, C), tukey(&means, C)]
            .into_iter()
            .flatten()
        {
            for found in family {
                finite(&[found.difference, found.standard_error]);
                probability(found.p);
            }
        }
    }
    for tick in [None, Some(0.5)] {
        let question = Question {
            confidence: C,
            margin: Some(1.0),
            tick,
        };
        for found in judge(&views, question).expect("a valid question") {
            probability(found.p);
            probability(found.p_adjusted);
            if let Some(interval) = found.interval {
                ordered(interval);
            }
        }
    }
    for adjusted in holm(&groups.concat()) {
        probability(adjusted);
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 200,
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn one_sample(a in sample()) {
        check_one(&a);
        check_health(&a);
    }

    #[test]
    fn two_samples(a in sample(), b in sample()) {
        check_two(&a, &b);
        check_two(&a, &a);
    }

    #[test]
    fn several_samples(groups in prop::collection::vec(sample(), 0..4)) {
        check_many(&groups);
    }

    #[test]
    fn analysis_of_variance(
        runs in prop::collection::vec((0usize..3, 0usize..2, 0usize..3, value()), 0..24),
    ) {
        let column = |pick: fn(&(usize, usize, usize, f64)) -> usize| runs.iter().map(pick).collect::<Vec<_>>();
        let values: Vec<f64> = runs.iter().map(|run| run.3).collect();
        let blocks = column(|run| run.2);
        let Ok(observations) = Observations::new(vec![column(|r| r.0), column(|r| r.1)], &values)
        else {
            return Ok(());
        };
        let model = Model::full_factorial(2).expect("two factors");
        for sums in [SumsOfSquares::Two, SumsOfSquares::Three] {
            if let Ok(found) = anova(&observations, &model, Some(&blocks), sums) {
                for test in &found.terms {
                    finite(&[test.sum_of_squares, test.f]);
                    probability(test.p);
                }
            }
        }
        if let Ok(found) = random_blocks(&observations, &model, &blocks) {
            finite(&[found.block_variance, found.residual_variance, found.log_likelihood]);
        }
        if let Ok(found) = split_plot(&observations, &model, &[0], &blocks, None) {
            finite(&[found.between.residual.mean_square, found.within.residual.mean_square]);
        }
    }

    #[test]
    fn planning(effect in value(), sd in value(), width in value()) {
        if let Ok(found) = required_blocks(effect, sd, 0.05, 0.9) {
            assert!(found.n >= 2);
        }
        if let Ok(found) = blocks_for_half_width(sd, width, C) {
            assert!(found.n >= 2);
        }
        let question = Question { confidence: C, margin: Some(1.0), tick: None };
        if let Ok(Some(more)) = more_blocks(&[effect, sd, width], 2, question) {
            assert!(more >= 1);
        }
    }
}
