//! Judging a family of comparisons together.

use crate::comparisons::{holm, holm_confidences};
use crate::confidence::Confidence;
use crate::degenerate::Degenerate;
use crate::interval::Interval;
use crate::planning::smallest_reachable_n;
use crate::tests::equivalence::tost_paired;
use crate::tests::paired::paired_t;
use crate::tests::signed_rank::signed_rank;

/// What is asked about a comparison.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Question {
    /// How sure the verdicts of the whole family must be.
    pub confidence: Confidence,
    /// Differences smaller than this do not matter; none when the user gave no margin.
    pub margin: Option<f64>,
    /// The step in which the metric moves, where one is known. A reading may be off by one step,
    /// which no repetition reveals, so that nothing finer is called equivalent.
    pub tick: Option<f64>,
}

/// What a comparison shows.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// There is a difference.
    Different,
    /// The difference is smaller than the margin. Said also where a difference within the margin
    /// is certain: the user gave the margin to say what does not matter.
    Equivalent,
    /// Neither is shown.
    Undecided(Reason),
}

/// Why nothing is shown.
#[derive(Debug, Clone, PartialEq)]
pub enum Reason {
    /// The values are unfit, or too few for any test.
    Unfit(Degenerate),
    /// All differences are equal, so that there is no spread to judge by, and too few for the rank
    /// test to reach the level.
    NoSpread {
        /// The blocks that the rank test needs.
        needed: usize,
    },
    /// All differences are zero: no effect is seen, but nothing says how small it is.
    AllZero,
    /// Equivalence is out of reach, since the metric moves in steps as large as the margin.
    TooCoarse {
        /// The step.
        tick: f64,
        /// The margin.
        margin: f64,
    },
    /// The spread is too large for what was seen.
    NotYet,
}

/// Which test the p-value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TestUsed {
    /// The paired t test.
    PairedT,
    /// The exact signed-rank test, since all differences are equal and t is not defined.
    SignedRank,
    /// None; the p-value counts as 1.
    None,
}

/// A comparison and what it shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// The mean difference, where there is one.
    pub difference: Option<f64>,
    /// Its interval, at the level of Holm's step, so that it excludes zero exactly when the t test
    /// finds a difference; none where there is no spread.
    pub interval: Option<Interval>,
    /// The p-value of "no difference".
    pub p: f64,
    /// That, adjusted for the family.
    pub p_adjusted: f64,
    /// The adjusted p-value of "not equivalent", where a margin was given and can be tested.
    pub p_equivalence: Option<f64>,
    /// Where the p-value comes from.
    pub test: TestUsed,
    /// The verdict.
    pub verdict: Verdict,
}

/// Judges a family of comparisons, each given by its block differences.
///
/// Comparisons that cannot be tested stay in the family with a p-value of 1.
///
/// # Errors
/// When the margin is not a finite number above zero or the tick not one of at least zero.
pub fn judge(family: &[&[f64]], question: Question) -> Result<Vec<Judged>, Degenerate> {
    check(question)?;
    let tests: Vec<Tested> = family.iter().map(|differences| test(differences)).collect();
    let p: Vec<f64> = tests.iter().map(|test| test.p).collect();
    let adjusted = holm(&p);
    let levels = holm_confidences(&p, question.confidence)?;
    let not_equivalent: Vec<Option<f64>> = family
        .iter()
        .map(|differences| equivalence(differences, question))
        .collect();
    let adjusted_equivalence = holm(
        &not_equivalent
            .iter()
            .map(|p| p.unwrap_or(1.0))
            .collect::<Vec<_>>(),
    );
    let alpha = question.confidence.alpha();
    let needed = smallest_reachable_n(alpha, family.len().max(1))?.signed_rank;
    let mut judged = Vec::with_capacity(family.len());
    for (i, tested) in tests.into_iter().enumerate() {
        let p_equivalence = not_equivalent[i].map(|_| adjusted_equivalence[i]);
        let verdict = if p_equivalence.is_some_and(|p| p <= alpha) {
            Verdict::Equivalent
        } else if adjusted[i] <= alpha {
            Verdict::Different
        } else {
            Verdict::Undecided(reason(&tested, question, needed))
        };
        judged.push(Judged {
            difference: tested.difference,
            interval: match tested.test {
                TestUsed::PairedT => Some(paired_t(family[i])?.interval(levels[i])),
                _ => None,
            },
            p: tested.p,
            p_adjusted: adjusted[i],
            p_equivalence,
            test: tested.test,
            verdict,
        });
    }
    Ok(judged)
}

fn check(question: Question) -> Result<(), Degenerate> {
    if let Some(margin) = question.margin {
        crate::distributions::positive("the margin of equivalence", margin)?;
    }
    match question.tick {
        Some(tick) if !(tick >= 0.0 && tick.is_finite()) => Err(Degenerate::OutOfRange {
            name: "the tick of the scale",
            value: tick,
            wanted: "a finite number of at least zero",
        }),
        _ => Ok(()),
    }
}

struct Tested {
    difference: Option<f64>,
    p: f64,
    test: TestUsed,
    problem: Option<Degenerate>,
}

fn test(differences: &[f64]) -> Tested {
    match paired_t(differences) {
        Ok(found) => Tested {
            difference: Some(found.mean),
            p: found.p,
            test: TestUsed::PairedT,
            problem: None,
        },
        Err(problem @ Degenerate::ZeroVariance { value, .. }) => match signed_rank(differences) {
            Ok(found) => Tested {
                difference: Some(value),
                p: found.p,
                test: TestUsed::SignedRank,
                problem: Some(problem),
            },
            Err(problem) => Tested {
                difference: Some(value),
                p: 1.0,
                test: TestUsed::None,
                problem: Some(problem),
            },
        },
        Err(problem) => Tested {
            difference: None,
            p: 1.0,
            test: TestUsed::None,
            problem: Some(problem),
        },
    }
}

/// The p-value of "the difference is at least the margin", where it can be tested.
fn equivalence(differences: &[f64], question: Question) -> Option<f64> {
    let room = question.margin? - question.tick.unwrap_or(0.0);
    if room <= 0.0 {
        return None;
    }
    match tost_paired(differences, room) {
        Ok(found) => Some(found.p),
        // Without spread, on a scale whose step is known: were the median difference outside the
        // margin, each block would be inside with a chance of at most one half.
        Err(Degenerate::ZeroVariance { n, value }) if value.abs() < room => {
            question.tick.map(|_| libm::exp2(-(n as f64)))
        }
        Err(_) => None,
    }
}

fn reason(tested: &Tested, question: Question, needed: usize) -> Reason {
    if let (Some(margin), Some(tick)) = (question.margin, question.tick)
        && margin <= tick
        && tested.difference.is_some()
    {
        return Reason::TooCoarse { tick, margin };
    }
    match &tested.problem {
        None => Reason::NotYet,
        Some(Degenerate::ZeroVariance { .. }) => Reason::NoSpread { needed },
        Some(Degenerate::AllZero { .. }) => Reason::AllZero,
        Some(problem) => Reason::Unfit(problem.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUESTION: Question = Question {
        confidence: Confidence::PERCENT_95,
        margin: Some(0.5),
        tick: None,
    };

    fn verdict(differences: &[f64], question: Question) -> Verdict {
        judge(&[differences], question).unwrap().remove(0).verdict
    }

    #[test]
    fn each_of_the_three() {
        let large = [2.0, 2.1, 1.9, 2.2, 1.8];
        let small = [0.1, -0.1, 0.05, -0.02, 0.03];
        let wide = [3.0, -2.0, 1.0, -1.0, 0.5];
        let judged = judge(&[&large, &small, &wide], QUESTION).unwrap();
        let verdicts: Vec<&Verdict> = judged.iter().map(|judged| &judged.verdict).collect();
        assert_eq!(
            verdicts,
            [
                &Verdict::Different,
                &Verdict::Equivalent,
                &Verdict::Undecided(Reason::NotYet)
            ]
        );
        assert!(judged[0].interval.unwrap().low > 0.0);
        assert!(judged[1].interval.unwrap().contains(0.0));
    }

    #[test]
    fn without_spread_the_signs_are_counted() {
        let judged = judge(&[&[2.0; 6]], QUESTION).unwrap().remove(0);
        assert_eq!((judged.p, judged.test), (0.03125, TestUsed::SignedRank));
        assert_eq!(judged.verdict, Verdict::Different);
        assert_eq!(
            verdict(&[2.0; 5], QUESTION),
            Verdict::Undecided(Reason::NoSpread { needed: 6 })
        );
        assert_eq!(
            verdict(&[0.0; 20], QUESTION),
            Verdict::Undecided(Reason::AllZero)
        );
        let known = Question {
            tick: Some(0.1),
            ..QUESTION
        };
        assert_eq!(verdict(&[0.0; 20], known), Verdict::Equivalent);
        assert_eq!(
            verdict(&[0.0; 4], known),
            Verdict::Undecided(Reason::AllZero)
        );
    }

    #[test]
    fn a_coarse_metric_is_never_called_equivalent() {
        let coarse = Question {
            tick: Some(1.0),
            ..QUESTION
        };
        let wanted = Reason::TooCoarse {
            tick: 1.0,
            margin: 0.5,
        };
        assert_eq!(
            verdict(&[0.0; 20], coarse),
            Verdict::Undecided(wanted.clone())
        );
        assert_eq!(
            verdict(
                &[0.0, 1.0, 0.0, -1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
                coarse
            ),
            Verdict::Undecided(wanted)
        );
    }

    #[test]
    fn the_unfit_are_named_and_stay_in_the_family() {
        let judged = judge(&[&[1.0], &[f64::NAN, 1.0], &[]], QUESTION).unwrap();
        for judged in &judged {
            assert!(matches!(
                judged.verdict,
                Verdict::Undecided(Reason::Unfit(_))
            ));
            assert_eq!((judged.p_adjusted, judged.test), (1.0, TestUsed::None));
        }
        assert!(judge(&[], QUESTION).unwrap().is_empty());
        assert!(
            judge(
                &[&[1.0]],
                Question {
                    margin: Some(-1.0),
                    ..QUESTION
                }
            )
            .is_err()
        );
        assert!(
            judge(
                &[&[1.0]],
                Question {
                    tick: Some(f64::NAN),
                    ..QUESTION
                }
            )
            .is_err()
        );
    }
}
