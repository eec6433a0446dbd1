//! Whatever the values: an answer in words, finite numbers, and intervals that agree with verdicts.

use knobstat_analysis::Verdict;
use knobstat_analysis::samples::{Comparison, Findings, Question};
use knobstat_data::{Better, Ratio};
use knobstat_stats::Confidence;
use knobstat_stats::random::Generator;

use super::compared;

/// A value of one of many kinds: ordinary, tied, huge, tiny, zero.
fn value(kind: usize, random: &mut Generator) -> f64 {
    let noise = random.uniform() - 0.5;
    match kind {
        0 => 100.0 + noise,
        1 => (10.0 + 3.0 * noise).round(),
        2 => noise,
        3 => 0.0,
        4 => 513.0,
        5 => 2.0 * (noise * 1.5e308),
        6 => noise * 1e-300,
        7 => 1e15 + (noise * 10.0).round(),
        8 => -5.0 + noise,
        _ => {
            let finite = f64::from_bits(random.next_u64());
            if finite.is_finite() { finite } else { 1.0 }
        }
    }
}

fn set(random: &mut Generator) -> Vec<f64> {
    let n = match random.below(5) {
        0 => random.below(3),
        1 => 40 + random.below(40),
        _ => 2 + random.below(12),
    };
    let (kind, mixed) = (random.below(10), random.below(6) == 0);
    (0..n)
        .map(|_| value(if mixed { random.below(10) } else { kind }, random))
        .collect()
}

fn numbers(comparison: &Comparison) -> Vec<Option<f64>> {
    let ends = |interval: Option<knobstat_analysis::Interval>| {
        [interval.map(|i| i.low), interval.map(|i| i.high)]
    };
    let mut all = vec![
        comparison.judged.difference,
        comparison.judged.percent,
        comparison.judged.p,
        comparison.judged.p_adjusted,
        comparison.p_equivalence,
        Some(comparison.judged.confidence_percent),
    ];
    all.extend(ends(comparison.judged.interval));
    all.extend(ends(comparison.judged.percent_interval));
    if let Some(rank) = comparison.rank {
        all.extend([Some(rank.p), Some(rank.p_adjusted), Some(rank.shift)]);
        all.push(rank.probability_larger);
        all.extend(ends(rank.interval));
    }
    all
}

fn check(findings: &Findings, question: Question, of: &[Vec<f64>]) {
    for comparison in findings.comparisons() {
        for number in numbers(comparison).into_iter().flatten() {
            assert!(number.is_finite(), "{comparison:?} {of:?}");
        }
        let sentence = &comparison.judged.sentence;
        assert!(sentence.len() > 20 && sentence.ends_with('.'), "{sentence}");
        for word in ["NaN", "inf ", " inf"] {
            assert!(!sentence.contains(word), "{sentence} {of:?}");
        }
        let alpha = question.confidence.alpha();
        match comparison.judged.verdict {
            Verdict::Different => assert!(comparison.judged.p_adjusted.unwrap() <= alpha),
            Verdict::Equivalent => assert!(comparison.p_equivalence.unwrap() <= alpha),
            Verdict::Undecided => {
                assert!(
                    comparison.judged.p_adjusted.is_none_or(|p| p > alpha),
                    "{comparison:?}"
                );
            }
        }
        if let (Some(interval), Some(p)) =
            (comparison.judged.interval, comparison.judged.p_adjusted)
        {
            // At the edge itself either answer is right.
            if (p - alpha).abs() > 1e-9 {
                assert_eq!(interval.contains(0.0), p > alpha, "{comparison:?} {of:?}");
            }
            if let (Some(percent), true) =
                (comparison.judged.percent_interval, (p - alpha).abs() > 1e-6)
            {
                assert_eq!(percent.contains(0.0), p > alpha, "{comparison:?} {of:?}");
            }
        }
    }
    for group in &findings.groups {
        for set in &group.sets {
            if let Some(interval) = set.interval {
                assert!(interval.low.is_finite() && interval.high.is_finite());
            }
        }
    }
    for caveat in &findings.caveats {
        assert!(caveat.sentence.ends_with('.') && !caveat.sentence.contains("NaN"));
    }
}

#[test]
fn every_comparison_has_an_answer_in_words() {
    let seed = 20_070_101;
    println!("seed {seed}");
    let mut random = Generator::from_seed(seed);
    let rounds = if std::env::var_os("KNOBSTAT_LONG").is_some() {
        200_000
    } else {
        3_000
    };
    let mut verdicts = [0; 3];
    for _ in 0..rounds {
        let mut sets: Vec<Vec<f64>> = (0..2 + random.below(3)).map(|_| set(&mut random)).collect();
        if random.below(4) == 0 {
            // The baseline again, moved a little: something to be equivalent to.
            sets[1] = sets[0].iter().map(|value| value * 1.001).collect();
        }
        let question = Question {
            confidence: Confidence::percent([50.0, 95.0, 99.9][random.below(3)]).unwrap(),
            margin: [None, Some(Ratio(0.02))][random.below(2)],
            better: [None, Some(Better::Lower), Some(Better::Higher)][random.below(3)],
            paired: random.below(3) == 0,
        };
        let slices: Vec<&[f64]> = sets.iter().map(Vec::as_slice).collect();
        let findings = compared(&slices, question);
        assert_eq!(findings.comparisons().count(), sets.len() - 1);
        check(&findings, question, &sets);
        for comparison in findings.comparisons() {
            verdicts[comparison.judged.verdict as usize] += 1;
        }
    }
    println!("different, equivalent, undecided: {verdicts:?}");
    assert!(
        verdicts.iter().all(|count| *count > rounds / 100),
        "{verdicts:?}"
    );
}

#[test]
fn neither_order_nor_scale_changes_a_verdict() {
    let seed = 20_100_329;
    println!("seed {seed}");
    let mut random = Generator::from_seed(seed);
    for _ in 0..200 {
        let shift = random.uniform();
        let mut noisy = |n: usize, shift: f64| -> Vec<f64> {
            (0..n).map(|_| 10.0 + shift + random.uniform()).collect()
        };
        let (a, b) = (noisy(9, 0.0), noisy(7, shift));
        let one = |a: &[f64], b: &[f64]| {
            let findings = compared(&[a, b], Question::default());
            let comparison = findings.comparisons().next().unwrap();
            (
                comparison.judged.p.unwrap(),
                comparison.judged.percent.unwrap(),
                comparison.rank.unwrap().p,
            )
        };
        let (p, percent, rank) = one(&a, &b);
        let scaled = |values: &[f64]| values.iter().map(|v| v * 1024.0).collect::<Vec<_>>();
        let reversed = |values: &[f64]| values.iter().rev().copied().collect::<Vec<_>>();
        for (other, name) in [
            (one(&scaled(&a), &scaled(&b)), "scaled"),
            (one(&reversed(&a), &reversed(&b)), "reversed"),
        ] {
            assert!((other.0 / p - 1.0).abs() < 1e-9, "{name}");
            assert!((other.1 - percent).abs() < 1e-9, "{name}");
            assert!((other.2 / rank - 1.0).abs() < 1e-9, "{name}");
        }
        let turned = one(&b, &a);
        assert!((turned.0 / p - 1.0).abs() < 1e-9 && turned.1 * percent <= 0.0);
    }
}
