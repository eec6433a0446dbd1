//! Bootstrap intervals for any statistic.

use crate::confidence::Confidence;
use crate::degenerate::{Degenerate, require};
use crate::distributions::{Normal, Probability};
use crate::interval::Interval;
use crate::random::Generator;
use crate::summary::quantile;

/// A statistic and its bootstrap interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bootstrap {
    /// The statistic of the samples as they are.
    pub estimate: f64,
    /// Its interval.
    pub interval: Interval,
    /// How far the resampled statistics lie to one side, in normal quantiles.
    pub bias: f64,
    /// How fast the standard error changes with the statistic.
    pub acceleration: f64,
}

/// The bias-corrected and accelerated interval (Efron 1987) of a statistic of one or more
/// independent samples, each resampled within itself. The same seed gives the same interval.
///
/// `statistic` gets the samples in their order and may decline a resample by `None` (a resample
/// without spread, say); declined ones are drawn again, up to as many as were wanted.
///
/// # Errors
/// When a sample has fewer than two values or one that is not finite, there are fewer than 100
/// resamples, the statistic is not defined for the samples, declines most resamples, never varies,
/// or has all of its resamples on one side.
pub fn bca(
    samples: &[&[f64]],
    statistic: impl Fn(&[&[f64]]) -> Option<f64>,
    resamples: usize,
    seed: u64,
    confidence: Confidence,
) -> Result<Bootstrap, Degenerate> {
    if samples.is_empty() {
        return Err(Degenerate::TooFew { needed: 1, got: 0 });
    }
    for sample in samples {
        require(sample, 2)?;
    }
    if resamples < 100 {
        return Err(Degenerate::OutOfRange {
            name: "the number of resamples",
            value: resamples as f64,
            wanted: "at least 100",
        });
    }
    let defined = |samples: &[&[f64]]| statistic(samples).filter(|value| value.is_finite());
    let estimate = defined(samples).ok_or(Degenerate::Resampling {
        why: "the statistic is not defined for these values",
    })?;
    let replicates = resample(samples, &defined, resamples, seed)?;
    let acceleration = acceleration(samples, &defined)?;
    // Half of the ties count as below.
    let below = replicates.iter().filter(|value| **value < estimate).count() as f64;
    let ties = replicates
        .iter()
        .filter(|value| **value == estimate)
        .count() as f64;
    if ties == replicates.len() as f64 {
        return Err(Degenerate::Resampling {
            why: "the statistic is the same in every resample",
        });
    }
    let share = (below + ties / 2.0) / replicates.len() as f64;
    let bias = Normal.quantile(Probability::new(share).map_err(|_| Degenerate::Resampling {
        why: "all resamples lie on one side of the estimate",
    })?);
    let z = Normal.upper_quantile(Probability::of_one_tail(confidence));
    let place = |z: f64| {
        let shifted = bias + z;
        let stretched = shifted / (1.0 - acceleration * shifted);
        // Beyond the pole of the transformation lies everything.
        if 1.0 - acceleration * shifted <= 0.0 {
            if z > 0.0 { 1.0 } else { 0.0 }
        } else {
            Normal.cdf(bias + stretched)
        }
    };
    Ok(Bootstrap {
        estimate,
        interval: Interval {
            low: quantile(&replicates, place(-z))?,
            high: quantile(&replicates, place(z))?,
        },
        bias,
        acceleration,
    })
}

fn resample(
    samples: &[&[f64]],
    defined: &impl Fn(&[&[f64]]) -> Option<f64>,
    resamples: usize,
    seed: u64,
) -> Result<Vec<f64>, Degenerate> {
    let mut generator = Generator::from_seed(seed);
    let mut drawn: Vec<Vec<f64>> = samples.iter().map(|sample| sample.to_vec()).collect();
    let mut replicates = Vec::with_capacity(resamples);
    let mut declined = 0;
    while replicates.len() < resamples {
        for (draw, sample) in drawn.iter_mut().zip(samples) {
            for value in draw.iter_mut() {
                *value = sample[generator.below(sample.len())];
            }
        }
        let views: Vec<&[f64]> = drawn.iter().map(Vec::as_slice).collect();
        match defined(&views) {
            Some(value) => replicates.push(value),
            None => declined += 1,
        }
        if declined > resamples {
            return Err(Degenerate::Resampling {
                why: "the statistic is not defined for most resamples",
            });
        }
    }
    Ok(replicates)
}

/// The acceleration by the jackknife over all samples, each leaving out its own values: the
/// influence of a value in a sample of n is (n - 1) times its jackknife deviation, over n.
fn acceleration(
    samples: &[&[f64]],
    defined: &impl Fn(&[&[f64]]) -> Option<f64>,
) -> Result<f64, Degenerate> {
    let (mut cubes, mut squares) = (0.0, 0.0);
    for (which, sample) in samples.iter().enumerate() {
        let n = sample.len();
        let left_out = (0..n)
            .map(|index| {
                let rest: Vec<f64> = [&sample[..index], &sample[index + 1..]].concat();
                let mut views = samples.to_vec();
                views[which] = &rest;
                defined(&views)
            })
            .collect::<Option<Vec<f64>>>()
            .ok_or(Degenerate::Resampling {
                why: "the statistic is not defined without one of the values",
            })?;
        let mean = left_out.iter().map(|value| value / n as f64).sum::<f64>();
        let weight = (n as f64 - 1.0) / n as f64;
        for value in left_out {
            let influence = weight * (mean - value);
            cubes += influence.powi(3);
            squares += influence * influence;
        }
    }
    let acceleration = cubes / (6.0 * squares.powf(1.5));
    // A statistic that no single value moves has no acceleration.
    Ok(if acceleration.is_finite() {
        acceleration
    } else {
        0.0
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::{Moments, mean_interval, median};

    fn mean(samples: &[&[f64]]) -> Option<f64> {
        Some(Moments::of(samples[0]).ok()?.mean)
    }

    #[test]
    fn the_interval_of_a_mean_is_near_students() {
        let mut generator = Generator::from_seed(11);
        let values: Vec<f64> = (0..60).map(|_| 5.0 + generator.normal()).collect();
        let found = bca(&[&values], mean, 2000, 1, Confidence::PERCENT_95).unwrap();
        let student = mean_interval(&values, Confidence::PERCENT_95).unwrap();
        assert!(
            (found.interval.low - student.low).abs() < 0.1,
            "{found:?} {student:?}"
        );
        assert!((found.interval.high - student.high).abs() < 0.1);
        let again = bca(&[&values], mean, 2000, 1, Confidence::PERCENT_95).unwrap();
        assert_eq!(found, again);
        let other = bca(&[&values], mean, 2000, 2, Confidence::PERCENT_95).unwrap();
        assert_ne!(found.interval, other.interval);
    }

    #[test]
    fn two_samples_and_skewed_ones() {
        let (a, b) = (
            [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
            [3.0, 5.0, 9.0, 17.0, 33.0, 65.0],
        );
        let ratio = |samples: &[&[f64]]| Some(median(samples[1]).ok()? / median(samples[0]).ok()?);
        let found = bca(&[&a, &b], ratio, 1000, 5, Confidence::PERCENT_95).unwrap();
        assert!(found.interval.contains(13.0 / 3.5));
        let skewed = bca(&[&b], mean, 1000, 5, Confidence::PERCENT_95).unwrap();
        assert!(skewed.acceleration > 0.05);
        assert!(skewed.interval.high - skewed.estimate > skewed.estimate - skewed.interval.low);
    }

    #[test]
    fn odd_inputs_are_named() {
        let fails = |sample: &[f64]| bca(&[sample], mean, 200, 1, Confidence::PERCENT_95).is_err();
        assert!(fails(&[]) && fails(&[1.0]) && fails(&[1.0, 1.0]) && fails(&[1.0, f64::NAN]));
        let never = |_: &[&[f64]]| None;
        assert!(bca(&[&[1.0, 2.0]], never, 200, 1, Confidence::PERCENT_95).is_err());
        assert!(bca(&[&[1.0, 2.0]], mean, 5, 1, Confidence::PERCENT_95).is_err());
        assert!(bca(&[], mean, 200, 1, Confidence::PERCENT_95).is_err());
    }
}
