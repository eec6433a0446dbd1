//! Odd samples, each with its defined answer.

use knobstat_analysis::Verdict;
use knobstat_analysis::samples::{Comparison, Method, Question};
use knobstat_data::{Better, Ratio};

use super::{compared, kinds};

fn one(baseline: &[f64], set: &[f64], question: Question) -> Comparison {
    let findings = compared(&[baseline, set], question);
    findings.comparisons().next().unwrap().clone()
}

#[track_caller]
fn undecided(baseline: &[f64], set: &[f64], words: &str) -> Comparison {
    let found = one(baseline, set, Question::default());
    assert_eq!(
        found.judged.verdict,
        Verdict::Undecided,
        "{}",
        found.judged.sentence
    );
    assert!(
        found.judged.sentence.contains(words),
        "{}",
        found.judged.sentence
    );
    found
}

#[test]
fn too_few_values() {
    undecided(&[], &[1.0, 2.0], "a has no value of mean");
    undecided(&[], &[], "b and a have no value");
    let single = undecided(&[1.0], &[2.0], "a single value each");
    assert_eq!(
        (single.judged.difference, single.judged.more),
        (Some(1.0), Some(1))
    );
    undecided(&[1.0, 2.0, 3.0], &[2.0], "b has a single value");
    undecided(&[1.0], &[2.0, 3.0], "a has a single value");
}

#[test]
fn unequal_numbers_of_values_are_no_obstacle() {
    let found = one(
        &[1.0, 1.1, 0.9, 1.05, 0.95, 1.02],
        &[2.0, 2.1],
        Question::default(),
    );
    assert_eq!((found.n, found.baseline_n), (2, 6));
    assert_eq!(found.judged.verdict, Verdict::Different);
    assert_eq!(found.method, Some(Method::Welch));
}

#[test]
fn constants() {
    let found = one(&[513.0; 3], &[886.0; 4], Question::default());
    assert_eq!(found.judged.verdict, Verdict::Different);
    assert_eq!(found.method, Some(Method::WelchOnScale));
    let same = undecided(
        &[951.0; 5],
        &[951.0; 3],
        "Nothing finer than the step of the scale",
    );
    assert_eq!(same.judged.difference, Some(0.0));
    undecided(&[0.0; 5], &[0.0; 3], "no step of the scale is known");
    undecided(
        &[1.0; 3],
        &[2.0; 3],
        "Nothing finer than the step of the scale, 1.00,",
    );
}

#[test]
fn ties_do_not_fool_the_rank_test() {
    let found = one(
        &[1.0, 1.0, 2.0, 2.0, 3.0],
        &[1.0, 2.0, 2.0, 3.0, 3.0],
        Question::default(),
    );
    let rank = found.rank.unwrap();
    assert!(rank.exact && rank.p > 0.3 && rank.p <= 1.0);
    assert_eq!(rank.probability_larger, Some(0.64));
}

#[test]
fn a_mean_about_zero_has_no_percentage() {
    let noise = [-1.0, 1.25, -0.5, 0.75, -0.25, 0.5];
    let far: Vec<f64> = noise.iter().map(|value| value + 100.0).collect();
    let found = one(&noise, &far, Question::default());
    assert_eq!(found.judged.verdict, Verdict::Different);
    assert_eq!(found.judged.percent_interval, None);
    assert!(
        found.judged.sentence.contains("not in percent"),
        "{}",
        found.judged.sentence
    );
}

#[test]
fn sums_that_overflow_are_named() {
    undecided(&[1.7e308, -1.7e308], &[1.0, 2.0], "so large that");
}

#[test]
fn pairs_need_equal_numbers() {
    let paired = Question {
        paired: true,
        ..Question::default()
    };
    let uneven = one(&[1.0, 2.0, 3.0], &[1.0, 2.0], paired);
    assert!(
        uneven
            .judged
            .sentence
            .contains("cannot be paired: they have 2 and 3 values")
    );
    let single = one(&[1.0], &[2.0], paired);
    assert!(
        single.judged.sentence.contains("one pair"),
        "{}",
        single.judged.sentence
    );
    // What independent samples cannot show, pairs do.
    let (before, after) = ([1.0, 5.0, 9.0, 3.0, 7.0], [1.31, 5.29, 9.3, 3.32, 7.28]);
    assert_eq!(
        one(&before, &after, paired).judged.verdict,
        Verdict::Different
    );
    assert_eq!(one(&before, &after, paired).method, Some(Method::PairedT));
    assert_eq!(
        one(&before, &after, Question::default()).judged.verdict,
        Verdict::Undecided
    );
}

#[test]
fn equivalent_only_within_the_margin() {
    let margin = |share| Question {
        margin: Some(Ratio(share)),
        ..Question::default()
    };
    let (a, b) = ([100.0, 100.2, 99.9, 100.1], [100.1, 99.8, 100.2, 100.0]);
    assert_eq!(
        one(&a, &b, margin(0.01)).judged.verdict,
        Verdict::Equivalent
    );
    assert_eq!(
        one(&a, &b, margin(0.0001)).judged.verdict,
        Verdict::Undecided
    );
    // A clock of whole units cannot show that two means are closer than a unit.
    assert_eq!(
        one(&[100.0; 9], &[100.0; 9], margin(0.005)).judged.verdict,
        Verdict::Undecided
    );
    assert_eq!(
        one(&[100.0; 9], &[100.0; 9], margin(0.5)).judged.verdict,
        Verdict::Undecided
    );
    assert_eq!(
        one(&[101.0; 9], &[101.0; 9], margin(0.05)).judged.verdict,
        Verdict::Equivalent
    );
}

#[test]
fn better_and_worse_only_where_that_is_known() {
    let ask = |better| {
        let question = Question {
            better,
            ..Question::default()
        };
        one(&[1.0, 1.1, 0.9], &[2.0, 2.1, 1.9], question)
    };
    assert_eq!(ask(None).judged.better, None);
    assert_eq!(ask(Some(Better::Higher)).judged.better, Some(true));
    let worse = ask(Some(Better::Lower));
    assert_eq!(worse.judged.better, Some(false));
    assert!(
        worse
            .judged
            .sentence
            .starts_with("b is worse than a: the mean is 100 % higher")
    );
}

#[test]
fn a_single_set_is_described_and_not_compared() {
    let findings = compared(&[&[1.0, 2.0, 3.0]], Question::default());
    assert_eq!(findings.comparisons().count(), 0);
    assert_eq!(findings.groups[0].sets[0].summary.unwrap().mean, 2.0);
    assert_eq!(kinds(&findings), [""; 0]);
}

#[test]
fn a_million_values_of_each() {
    let values = |step: f64| -> Vec<f64> {
        (0..1_000_000_u32)
            .map(|place| f64::from(place.wrapping_mul(2_654_435_761) >> 8) * step)
            .collect()
    };
    let (a, b) = (values(1e-7), values(1.01e-7));
    let findings = compared(&[&a, &b], Question::default());
    let found = findings.comparisons().next().unwrap();
    assert_eq!(found.judged.verdict, Verdict::Different);
    assert!((found.judged.percent.unwrap() - 1.0).abs() < 1e-9);
    assert!(found.rank.is_some_and(|rank| rank.p < 1e-20));
    let longer = [a.clone(), vec![0.5; 1]].concat();
    let findings = compared(&[&a, &longer], Question::default());
    assert!(
        findings
            .comparisons()
            .all(|comparison| comparison.rank.is_none())
    );
    assert!(kinds(&findings).contains(&"no-rank-test"));
}
