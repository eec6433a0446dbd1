//! How often plain samples are called different, or equivalent, that are not.

use knobstat_analysis::Verdict;
use knobstat_analysis::samples::Question;
use knobstat_data::Ratio;
use knobstat_stats::random::Generator;

use super::compared;

fn experiments() -> u32 {
    if std::env::var_os("KNOBSTAT_LONG").is_some() {
        20_000
    } else {
        600
    }
}

/// How many experiments have at least one verdict of this kind.
fn with(
    verdict: Verdict,
    question: Question,
    mut experiment: impl FnMut(&mut Generator) -> Vec<Vec<f64>>,
) -> u32 {
    let seed = 20_260_101;
    println!("seed {seed}");
    let mut random = Generator::from_seed(seed);
    (0..experiments())
        .filter(|_| {
            let sets = experiment(&mut random);
            let slices: Vec<&[f64]> = sets.iter().map(Vec::as_slice).collect();
            compared(&slices, question)
                .comparisons()
                .any(|comparison| comparison.judged.verdict == verdict)
        })
        .count() as u32
}

/// 5.5 % and three standard errors of a rate of 5.5 %.
fn most_allowed() -> u32 {
    let expected = 0.055 * f64::from(experiments());
    (expected + 3.0 * (expected * 0.945).sqrt()) as u32
}

fn normal(n: usize, sd: f64, random: &mut Generator) -> Vec<f64> {
    (0..n).map(|_| 100.0 + sd * random.normal()).collect()
}

#[test]
fn five_comparisons_with_one_reference() {
    let found = with(Verdict::Different, Question::default(), |random| {
        (0..6).map(|_| normal(8, 1.0, random)).collect()
    });
    println!("{found} of {}", experiments());
    assert!(found <= most_allowed(), "{found}");
}

#[test]
fn unequal_numbers_and_spreads() {
    let found = with(Verdict::Different, Question::default(), |random| {
        vec![normal(5, 4.0, random), normal(20, 1.0, random)]
    });
    println!("{found} of {}", experiments());
    assert!(found <= most_allowed(), "{found}");
}

#[test]
fn a_difference_as_large_as_the_margin_is_not_called_equivalent() {
    let question = Question {
        margin: Some(Ratio(0.01)),
        ..Question::default()
    };
    let found = with(Verdict::Equivalent, question, |random| {
        let set = normal(10, 0.5, random)
            .iter()
            .map(|value| value + 1.0)
            .collect();
        vec![normal(10, 0.5, random), set]
    });
    println!("{found} of {}", experiments());
    assert!(found <= most_allowed(), "{found}");
}

#[test]
fn an_effect_finer_than_the_clock_is_not_called_equivalent() {
    // 0.3 of a tick of effect, spread a twentieth of a tick, on a clock of whole units; differences
    // below a quarter of a tick would not matter.
    let question = Question {
        margin: Some(Ratio(0.0025)),
        ..Question::default()
    };
    let found = with(Verdict::Equivalent, question, |random| {
        let phase = random.uniform();
        let mut read = |shift: f64| -> Vec<f64> {
            (0..20)
                .map(|_| (100.0 + phase + shift + 0.05 * random.normal()).floor())
                .collect()
        };
        vec![read(0.0), read(0.3)]
    });
    println!("{found} of {}", experiments());
    assert!(found <= most_allowed(), "{found}");
}
