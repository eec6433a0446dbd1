//! The situations in which a comparison of two settings goes wrong, as simulations without any true
//! effect, analysed as ministat does and as knobstat does by default.

use knobstat_stats::Confidence;
use knobstat_stats::health::granularity;
use knobstat_stats::random::Generator;
use knobstat_stats::sequential::{MixtureScale, Monitor};
use knobstat_stats::tests::student::student;
use knobstat_stats::verdict::{Question, Verdict, judge};

/// How often something happened among the experiments, as a share.
pub struct Row {
    /// What is simulated.
    pub situation: &'static str,
    /// Student's t as ministat computes it, in the order and grouping of the situation: the error
    /// without an effect, and the power with one.
    pub student: Rates,
    /// knobstat's default: random order inside each block, paired t on block differences, Holm over
    /// the family; the sequential test where one looks again and again.
    pub ours: Rates,
}

/// Shares of experiments.
#[derive(Clone, Copy)]
pub struct Rates {
    /// Any wrong verdict.
    pub error: f64,
    /// The effect that was put in was found.
    pub power: f64,
}

/// The effect put in to measure power, in standard deviations of a run.
pub const EFFECT: f64 = 1.5;

/// The wrong claim that a row is about.
enum Outcome {
    Error,
    Found,
}

/// The noise of consecutive runs.
#[derive(Clone, Copy)]
enum Noise {
    Independent,
    /// Each run keeps this share of the last one's deviation.
    Autocorrelated(f64),
    /// The level rises by this much a run.
    Drift(f64),
    /// Every other run is higher by this much.
    Alternating(f64),
}

impl Noise {
    /// The noise of `runs` consecutive runs, each of standard deviation 1 but for drift and
    /// interference.
    fn of(self, runs: usize, generator: &mut Generator) -> Vec<f64> {
        let mut last = generator.normal();
        (0..runs)
            .map(|run| {
                let fresh = generator.normal();
                match self {
                    Self::Independent => fresh,
                    Self::Autocorrelated(share) => {
                        last = share * last + (1.0 - share * share).sqrt() * fresh;
                        last
                    }
                    Self::Drift(step) => run as f64 * step + fresh,
                    Self::Alternating(height) => (run % 2) as f64 * height + fresh,
                }
            })
            .collect()
    }
}

/// Values of `treatments` in `blocks` blocks, each block in random order: `[treatment][block]`.
fn randomised_blocks(
    noise: Noise,
    treatments: usize,
    blocks: usize,
    generator: &mut Generator,
) -> Vec<Vec<f64>> {
    let runs = noise.of(treatments * blocks, generator);
    let mut values = vec![vec![0.0; blocks]; treatments];
    let mut order: Vec<usize> = (0..treatments).collect();
    for block in 0..blocks {
        generator.shuffle(&mut order);
        for (place, treatment) in order.iter().enumerate() {
            values[*treatment][block] = runs[block * treatments + place];
        }
    }
    values
}

fn student_alarms(reference: &[f64], other: &[f64]) -> bool {
    student(reference, other).is_ok_and(|found| found.test.p < 0.05)
}

const PLAIN: Question = Question {
    confidence: Confidence::PERCENT_95,
    margin: None,
    tick: None,
};

fn block_differences(treated: &[f64], baseline: &[f64]) -> Vec<f64> {
    treated.iter().zip(baseline).map(|(a, b)| a - b).collect()
}

/// Which comparisons of a family our default analysis calls different.
fn called_different(values: &[Vec<f64>], pairs: &[(usize, usize)]) -> Vec<bool> {
    let family: Vec<Vec<f64>> = pairs
        .iter()
        .map(|(a, b)| block_differences(&values[*a], &values[*b]))
        .collect();
    let views: Vec<&[f64]> = family.iter().map(Vec::as_slice).collect();
    match judge(&views, PLAIN) {
        Ok(judged) => judged
            .iter()
            .map(|j| j.verdict == Verdict::Different)
            .collect(),
        Err(_) => vec![false; pairs.len()],
    }
}

fn add(values: &mut [f64], effect: f64) {
    for value in values {
        *value += effect;
    }
}

/// The share of experiments in which `happens`, each row from a seed of its own.
fn share(experiments: usize, seed: u64, mut happens: impl FnMut(&mut Generator) -> bool) -> f64 {
    let mut generator = Generator::from_seed(seed);
    let count = (0..experiments).filter(|_| happens(&mut generator)).count();
    count as f64 / experiments as f64
}

/// Error without an effect and power with one, of an analysis told which effect to put in.
fn rates(
    experiments: usize,
    seed: u64,
    analysis: impl Fn(&mut Generator, f64, Outcome) -> bool,
) -> Rates {
    Rates {
        error: share(experiments, seed, |g| analysis(g, 0.0, Outcome::Error)),
        power: share(experiments, seed + 1, |g| {
            analysis(g, EFFECT, Outcome::Found)
        }),
    }
}

/// Six treatments, eight runs each, compared in `pairs`; with an effect, that of the last treatment
/// must be found in the last pair.
fn family_row(
    situation: &'static str,
    pairs: &[(usize, usize)],
    experiments: usize,
    seed: u64,
) -> Row {
    let verdict = |called: Vec<bool>, outcome: Outcome| match outcome {
        Outcome::Error => called.contains(&true),
        Outcome::Found => called.last() == Some(&true),
    };
    let draw = |generator: &mut Generator, effect: f64| {
        let mut values = randomised_blocks(Noise::Independent, 6, 8, generator);
        add(&mut values[5], effect);
        values
    };
    Row {
        situation,
        student: rates(experiments, seed, |generator, effect, outcome| {
            let values = draw(generator, effect);
            let alarms = pairs
                .iter()
                .map(|(a, b)| student_alarms(&values[*b], &values[*a]))
                .collect();
            verdict(alarms, outcome)
        }),
        ours: rates(experiments, seed + 10, |generator, effect, outcome| {
            verdict(called_different(&draw(generator, effect), pairs), outcome)
        }),
    }
}

/// A look after every run from the third up to `most`.
fn looking_row(situation: &'static str, most: usize, experiments: usize, seed: u64) -> Row {
    Row {
        situation,
        student: rates(experiments, seed, |generator, effect, _| {
            let a = Noise::Independent.of(most, generator);
            let mut b = Noise::Independent.of(most, generator);
            add(&mut b, effect);
            (3..=most).any(|n| student_alarms(&a[..n], &b[..n]))
        }),
        ours: rates(experiments, seed + 10, |generator, effect, _| {
            let mut monitor = Monitor::new(Confidence::PERCENT_95, MixtureScale::default());
            (0..most).any(|_| {
                let difference = effect + generator.normal() - generator.normal();
                monitor.add(difference).is_ok() && monitor.stop(1, None, None).is_some()
            })
        }),
    }
}

/// Twenty runs each of two treatments under `noise`, for Student's test in the order `first`
/// gives (which of the 40 runs are the first treatment's).
fn order_row(
    situation: &'static str,
    noise: Noise,
    first: fn(usize) -> bool,
    experiments: usize,
    seed: u64,
) -> Row {
    Row {
        situation,
        student: rates(experiments, seed, |generator, effect, _| {
            let runs = noise.of(40, generator);
            let pick = |wanted: bool| -> Vec<f64> {
                (0..40)
                    .filter(|run| first(*run) == wanted)
                    .map(|run| runs[run])
                    .collect()
            };
            let mut other = pick(false);
            add(&mut other, effect);
            student_alarms(&pick(true), &other)
        }),
        ours: rates(experiments, seed + 10, |generator, effect, _| {
            let mut values = randomised_blocks(noise, 2, 20, generator);
            add(&mut values[1], effect);
            called_different(&values, &[(1, 0)])[0]
        }),
    }
}

/// Five processes of ten iterations each, process and iteration varying alike.
fn process_row(experiments: usize, seed: u64) -> Row {
    let processes = |generator: &mut Generator| -> Vec<Vec<f64>> {
        (0..5)
            .map(|_| {
                let level = 1.1 * generator.normal();
                (0..10).map(|_| level + generator.normal()).collect()
            })
            .collect()
    };
    Row {
        situation: "5 processes x 10 iterations pooled as 50 values",
        student: rates(experiments, seed, |generator, effect, _| {
            let a = processes(generator).concat();
            let mut b = processes(generator).concat();
            add(&mut b, effect);
            student_alarms(&a, &b)
        }),
        ours: rates(experiments, seed + 10, |generator, effect, _| {
            let means = |processes: Vec<Vec<f64>>| -> Vec<f64> {
                processes
                    .iter()
                    .map(|values| values.iter().sum::<f64>() / 10.0)
                    .collect()
            };
            let a = means(processes(generator));
            let mut b = means(processes(generator));
            add(&mut b, effect);
            called_different(&[a, b], &[(1, 0)])[0]
        }),
    }
}

/// Unequal sizes and variances; a block design has as many runs of both, twelve here.
fn unequal_row(experiments: usize, seed: u64) -> Row {
    let draw = |generator: &mut Generator, n: usize, sd: f64| -> Vec<f64> {
        (0..n).map(|_| sd * generator.normal()).collect()
    };
    Row {
        situation: "n = 5 with sd 4 against n = 20 with sd 1",
        student: rates(experiments, seed, |generator, effect, _| {
            let a = draw(generator, 20, 1.0);
            let mut b = draw(generator, 5, 4.0);
            add(&mut b, effect);
            student_alarms(&a, &b)
        }),
        ours: rates(experiments, seed + 10, |generator, effect, _| {
            let a = draw(generator, 12, 1.0);
            let mut b = draw(generator, 12, 4.0);
            add(&mut b, effect);
            called_different(&[a, b], &[(1, 0)])[0]
        }),
    }
}

/// An effect of 0.3 ticks with a spread of 0.05 ticks on a clock that ticks in whole units. Student's
/// column is how often the effect is found; ours, how often it is wrongly called equivalent within
/// a margin of 0.2 ticks, and as power, how often it is found.
fn tick_row(situation: &'static str, random_phase: bool, experiments: usize, seed: u64) -> Row {
    let draw = move |generator: &mut Generator| -> [Vec<f64>; 2] {
        let phase = if random_phase {
            generator.uniform()
        } else {
            0.0
        };
        [0.0, 0.3].map(|effect| {
            (0..20)
                .map(|_| (phase + effect + 0.05 * generator.normal()).round())
                .collect()
        })
    };
    let judged = |generator: &mut Generator| {
        let [a, b] = draw(generator);
        let tick = granularity(&[a.clone(), b.clone()].concat())
            .ok()
            .and_then(|g| g.step);
        let question = Question {
            margin: Some(0.2),
            tick,
            ..PLAIN
        };
        judge(&[&block_differences(&b, &a)], question).map(|mut judged| judged.remove(0).verdict)
    };
    let found = share(experiments, seed, |generator| {
        let [a, b] = draw(generator);
        student_alarms(&a, &b)
    });
    Row {
        situation,
        student: Rates {
            error: 1.0 - found,
            power: found,
        },
        ours: Rates {
            error: share(experiments, seed + 10, |g| {
                judged(g) == Ok(Verdict::Equivalent)
            }),
            power: share(experiments, seed + 11, |g| {
                judged(g) == Ok(Verdict::Different)
            }),
        },
    }
}

/// All situations, `experiments` experiments each.
pub fn rows(experiments: usize) -> impl Iterator<Item = Row> {
    let baseline: Vec<(usize, usize)> = (1..6).map(|other| (other, 0)).collect();
    let all: Vec<(usize, usize)> = (1..6).flat_map(|b| (0..b).map(move |a| (b, a))).collect();
    let contiguous: fn(usize) -> bool = |run| run < 20;
    let alternating: fn(usize) -> bool = |run| run.is_multiple_of(2);
    let order = move |situation, noise, first, seed| {
        move || order_row(situation, noise, first, experiments, seed)
    };
    let ar =
        |situation, share, seed| order(situation, Noise::Autocorrelated(share), contiguous, seed);
    let tick = "0.3 tick of effect, sd 0.05 tick, whole ticks read (*)";
    let phase = "the same, the clock's phase at random (*)";
    let rows: Vec<Box<dyn FnOnce() -> Row>> = vec![
        Box::new(move || {
            family_row(
                "5 comparisons with one reference, n = 8",
                &baseline,
                experiments,
                100,
            )
        }),
        Box::new(move || family_row("all 15 pairs of six, n = 8", &all, experiments, 200)),
        Box::new(move || looking_row("a look after every run, 3 to 10", 10, experiments, 300)),
        Box::new(move || looking_row("a look after every run, 3 to 30", 30, experiments, 400)),
        Box::new(move || looking_row("a look after every run, 3 to 100", 100, experiments, 500)),
        Box::new(ar("autocorrelated runs, AR(1) 0.2, n = 20", 0.2, 600)),
        Box::new(ar("autocorrelated runs, AR(1) 0.5, n = 20", 0.5, 700)),
        Box::new(ar("autocorrelated runs, AR(1) 0.8, n = 20", 0.8, 800)),
        Box::new(ar("autocorrelated runs, AR(1) 0.95, n = 20", 0.95, 900)),
        Box::new(move || process_row(experiments, 1000)),
        Box::new(order(
            "drift of 0.05 sd a run, order AAAA...BBBB, n = 20",
            Noise::Drift(0.05),
            contiguous,
            1100,
        )),
        Box::new(order(
            "strict ABAB under an interference of period 2",
            Noise::Alternating(0.97),
            alternating,
            1200,
        )),
        Box::new(move || unequal_row(experiments, 1300)),
        Box::new(move || tick_row(tick, false, experiments, 1400)),
        Box::new(move || tick_row(phase, true, experiments, 1500)),
    ];
    rows.into_iter().map(|row| row())
}
