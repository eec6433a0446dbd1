//! What is wrong with a series is said, and said where it is.

use knobstat_analysis::samples::Question;
use knobstat_stats::random::Generator;

use super::{compared, kinds};

fn noise(n: usize, seed: u64) -> Vec<f64> {
    let mut random = Generator::from_seed(seed);
    let mut normal = || (0..12).map(|_| random.uniform()).sum::<f64>() - 6.0;
    (0..n).map(|_| 100.0 + normal()).collect()
}

#[track_caller]
fn says(set: &[f64], kind: &str, words: &str) {
    let findings = compared(&[&noise(40, 1), set], Question::default());
    let caveat = findings.caveats.iter().find(|caveat| caveat.kind == kind);
    let caveat = caveat.unwrap_or_else(|| panic!("{kind} is not in {:?}", findings.caveats));
    assert!(caveat.sentence.contains(words), "{}", caveat.sentence);
}

#[test]
fn each_fault_has_its_caveat() {
    let sound = noise(40, 2);
    let with = |change: &dyn Fn(usize, f64) -> f64| -> Vec<f64> {
        sound
            .iter()
            .enumerate()
            .map(|(place, value)| change(place, *value))
            .collect()
    };
    says(
        &with(&|place, value| value + place as f64),
        "drift",
        "b (rising)",
    );
    says(
        &with(&|place, value| value - place as f64),
        "drift",
        "b (falling)",
    );
    says(
        &with(&|place, value| if place < 4 { value + 50.0 } else { value }),
        "drift",
        "b (the first 4 values)",
    );
    says(
        &with(&|place, value| if place % 2 == 0 { value + 50.0 } else { value }),
        "two-clusters",
        "b (about ",
    );
    says(
        &with(&|place, value| if place == 7 { 500.0 } else { value }),
        "outliers",
        "500.0 of b",
    );
    says(
        &with(&|_, value| (value / 8.0).round() * 8.0),
        "coarse-scale",
        "b (steps of 8)",
    );
    says(
        &[100.0, 101.0, 99.0],
        "few-values",
        "fewer than 4 values of each",
    );
    let mut state = 0.0;
    let walk: Vec<f64> = noise(200, 3)
        .iter()
        .map(|value| {
            state = 0.9 * state + value - 100.0;
            100.0 + state
        })
        .collect();
    says(&walk, "autocorrelated", "b");
    let mut sorted = noise(40, 4);
    sorted.sort_by(f64::total_cmp);
    says(&sorted, "sorted", "b");
}

#[test]
fn where_tests_disagree_it_is_said() {
    let mut baseline = noise(10, 5);
    let mut set: Vec<f64> = noise(10, 6).iter().map(|value| value + 3.0).collect();
    // One wild value hides from the means what ranks see.
    baseline[3] = 2000.0;
    set[4] = 100.0;
    let findings = compared(&[&baseline, &set], Question::default());
    let caveat = findings
        .caveats
        .iter()
        .find(|caveat| caveat.kind == "tests-disagree")
        .unwrap_or_else(|| panic!("{findings:?}"));
    assert!(
        caveat.sentence.contains("does not: b."),
        "{}",
        caveat.sentence
    );
}

#[test]
fn healthy_series_are_left_in_peace() {
    let alarms = (0..200)
        .filter(|seed| {
            let (a, b) = (noise(30, 1000 + seed), noise(30, 2000 + seed));
            let kinds = kinds(&compared(&[&a, &b], Question::default()));
            kinds
                .iter()
                .any(|kind| ["drift", "autocorrelated", "two-clusters"].contains(kind))
        })
        .count();
    // Three checks of order and two others at 1 % each on two sets: some will speak.
    assert!(alarms < 30, "{alarms} of 200");
}

#[test]
fn more_values_of_each_are_likely_to_decide() {
    let (a, b) = (noise(6, 7), noise(6, 8));
    let b: Vec<f64> = b.iter().map(|value| value - 0.5).collect();
    let findings = compared(&[&a, &b], Question::default());
    let found = findings.comparisons().next().unwrap();
    if let Some(more) = found.judged.more {
        let words = format!("About {more} more value");
        assert!(
            found.judged.sentence.contains(&words),
            "{}",
            found.judged.sentence
        );
        let repeated = |values: &[f64]| values.repeat(1 + (more as usize).div_ceil(6));
        let findings = compared(&[&repeated(&a), &repeated(&b)], Question::default());
        let p = findings.comparisons().next().unwrap().judged.p.unwrap();
        assert!(p < found.judged.p.unwrap());
    } else {
        panic!("{}", found.judged.sentence);
    }
}
