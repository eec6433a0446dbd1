//! The six data sets of 2010: the default analysis finds what is known of them.

use knobstat_analysis::Verdict;
use knobstat_analysis::samples::Question;
use knobstat_analysis::samples::read::{Choice, Format, read};
use knobstat_data::{Better, Ratio};

use super::{compared, kinds};

const FILES: [&str; 6] = [
    include_str!("../../data/turboboost/x.txt"),
    include_str!("../../data/turboboost/plus.txt"),
    include_str!("../../data/turboboost/star.txt"),
    include_str!("../../data/turboboost/pct.txt"),
    include_str!("../../data/turboboost/hash.txt"),
    include_str!("../../data/turboboost/at.txt"),
];

fn sets() -> Vec<Vec<f64>> {
    FILES
        .iter()
        .map(|text| {
            let read = read(text.as_bytes(), Format::Columns, Choice::default()).unwrap();
            read[0].values.clone()
        })
        .collect()
}

#[test]
fn every_setting_of_2010_is_better_than_the_first() {
    let sets = sets();
    let sets: Vec<&[f64]> = sets.iter().map(Vec::as_slice).collect();
    let question = Question {
        better: Some(Better::Lower),
        ..Question::default()
    };
    let findings = compared(&sets, question);
    let percent = [-3.49, -4.22, -0.966, -10.7, -10.4];
    for (comparison, percent) in findings.comparisons().zip(percent) {
        assert_eq!(comparison.judged.verdict, Verdict::Different);
        assert_eq!(comparison.judged.better, Some(true));
        let found = comparison.judged.percent.unwrap();
        assert!((found / percent - 1.0).abs() < 0.005, "{found} {percent}");
        // 2 / C(16, 8), and Holm's five times that.
        let rank = comparison.rank.unwrap();
        assert!(rank.exact);
        assert!((rank.p / 0.000_155_400_155_400_155_4 - 1.0).abs() < 1e-12);
        assert!((rank.p_adjusted / 0.000_777_000_777_000_777 - 1.0).abs() < 1e-12);
        assert_eq!(rank.probability_larger, Some(0.0));
    }
    let kinds = kinds(&findings);
    for kind in ["outliers", "two-clusters", "sorted", "order-unknown"] {
        assert!(kinds.contains(&kind), "{kind} {kinds:?}");
    }
    let far = findings
        .caveats
        .iter()
        .find(|caveat| caveat.kind == "outliers");
    assert!(far.unwrap().sentence.contains("12.14"), "{far:?}");
}

#[test]
fn welchs_p_value_is_that_of_an_independent_program() {
    let sets = sets();
    let findings = compared(&[&sets[0], &sets[1]], Question::default());
    let comparison = findings.comparisons().next().unwrap();
    // R 4.2.2: t.test(plus, x)$p.value, and its confidence interval.
    let p = comparison.judged.p.unwrap();
    assert!(
        (p / 0.000_000_786_944_606_648_412_5 - 1.0).abs() < 1e-6,
        "{p}"
    );
    let interval = comparison.judged.interval.unwrap();
    assert!(
        (interval.low - -0.504_927_190_868_961_8).abs() < 1e-6,
        "{interval:?}"
    );
    assert!(
        (interval.high - -0.335_072_809_131_038_1).abs() < 1e-6,
        "{interval:?}"
    );
    assert_eq!(comparison.judged.better, None);
    assert!(
        comparison
            .judged
            .sentence
            .starts_with("b and a differ: the mean of b is 3.49 % lower")
    );
}

#[test]
fn a_wide_margin_makes_them_equivalent_and_says_that_there_is_a_difference() {
    let sets = sets();
    let question = Question {
        margin: Some(Ratio(0.05)),
        ..Question::default()
    };
    let findings = compared(&[&sets[0], &sets[1]], question);
    let comparison = findings.comparisons().next().unwrap();
    assert_eq!(comparison.judged.verdict, Verdict::Equivalent);
    assert!(
        comparison.judged.sentence.contains("less than 5 %"),
        "{}",
        comparison.judged.sentence
    );
    assert!(
        comparison.judged.sentence.contains("smaller than that"),
        "{}",
        comparison.judged.sentence
    );
}
