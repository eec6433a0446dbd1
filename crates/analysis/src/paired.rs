//! The estimate of one comparison, from differences within blocks.
//!
//! Both members of a pair ran in the same block, in random order, so whatever drifts from block
//! to block falls out of their difference, and Student's t on the differences keeps its error
//! rate under drift and correlation alike.
//!
//! Where the differences vary less than the step of the scale could hide, their own spread is no
//! measure of the error. The worst that the scale could hide is taken instead: readings that
//! agree to a step g may differ by a standard deviation of g sqrt(n/(n-1)) at most (half of them
//! at either end), and their mean may be off by g. So 886, 886, 886 against 513, 513, 513 read in
//! whole numbers are different beyond doubt, and 1, 1, 1 against 2, 2, 2 are not.

use knobstat_stats::distributions::{Probability, StudentT};
use knobstat_stats::summary::Summary;
use knobstat_stats::tests::paired::differences;
use knobstat_stats::{Confidence, Degenerate, Interval};

use crate::analysis::Method;
use crate::needed::more_blocks;
use crate::ratio;
use crate::sequential::Course;
use crate::verdict::Estimated;

/// An estimated mean difference and how sure it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// The values of the treatment and of the baseline, block by block.
    treatment: Vec<f64>,
    baseline: Vec<f64>,
    /// The treatment's mean.
    pub treatment_mean: f64,
    /// The baseline's mean.
    pub baseline_mean: f64,
    /// The mean difference, treatment minus baseline.
    pub difference: f64,
    /// The standard deviation of the differences; at least what the scale could hide.
    pub sd: f64,
    /// The standard error of the mean difference.
    pub standard_error: f64,
    /// How far the scale may have moved the mean difference.
    pub shift: f64,
    /// The degrees of freedom.
    pub degrees_of_freedom: f64,
    distribution: StudentT,
    /// How it was come by.
    pub method: Method,
    /// Its course over the blocks, where it is looked at after every one.
    course: Option<Course>,
}

/// How often a comparison is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Looks {
    /// Once, when all planned blocks are done.
    Once,
    /// After every block, so that the experiment can stop when enough is known.
    EveryBlock,
}

/// Estimates the mean of treatment minus baseline from values paired by block, read from a scale
/// of this step (none: not known, as where all values are zero).
///
/// # Errors
/// Where there are fewer than two pairs, no spread and no scale to bound it, or sums overflow.
pub fn estimate(
    treatment: &[f64],
    baseline: &[f64],
    step: Option<f64>,
    looks: Looks,
) -> Result<Estimate, Degenerate> {
    let differences = differences(treatment, baseline)?;
    let n = differences.len();
    if n < 2 {
        return Err(Degenerate::TooFew { needed: 2, got: n });
    }
    let overflow = Degenerate::Overflow {
        what: "a mean of the values",
    };
    let summary = Summary::of(&differences).ok_or(overflow.clone())?;
    let treatment_mean = Summary::of(treatment).ok_or(overflow.clone())?.mean;
    let baseline_mean = Summary::of(baseline).ok_or(overflow.clone())?.mean;
    let seen = summary.sd.ok_or(overflow)?;
    let count = n as f64;
    let hidden = step.map_or(0.0, |step| step * (count / (count - 1.0)).sqrt());
    let (sd, shift, method) = if seen < hidden {
        (hidden, step.unwrap_or(0.0), Method::PairedTOnScale)
    } else {
        (seen, 0.0, Method::PairedT)
    };
    if sd == 0.0 {
        return Err(Degenerate::ZeroVariance {
            n,
            value: summary.mean,
        });
    }
    let degrees_of_freedom = count - 1.0;
    let (course, method) = match looks {
        Looks::Once => (None, method),
        Looks::EveryBlock => (Some(Course::of(&differences, step)), Method::EveryBlock),
    };
    Ok(Estimate {
        treatment: treatment.to_vec(),
        baseline: baseline.to_vec(),
        treatment_mean,
        baseline_mean,
        difference: summary.mean,
        sd,
        standard_error: sd / count.sqrt(),
        shift,
        degrees_of_freedom,
        distribution: StudentT::new(degrees_of_freedom)?,
        method,
        course,
    })
}

impl Estimate {
    /// The same difference, with an error pooled over further treatments in place of that of its
    /// own differences: the standard deviation of one value and its degrees of freedom. Where the
    /// scale could hide more, that stays.
    ///
    /// # Errors
    /// Where the degrees of freedom are no positive number.
    pub fn with_pooled_error(
        self,
        sd: f64,
        degrees_of_freedom: f64,
        method: Method,
    ) -> Result<Self, Degenerate> {
        let of_differences = std::f64::consts::SQRT_2 * sd;
        let sd = if self.shift > 0.0 {
            of_differences.max(self.sd)
        } else {
            of_differences
        };
        if sd == 0.0 {
            return Err(Degenerate::ZeroVariance {
                n: self.blocks(),
                value: self.difference,
            });
        }
        Ok(Self {
            sd,
            standard_error: sd / (self.blocks() as f64).sqrt(),
            degrees_of_freedom,
            distribution: StudentT::new(degrees_of_freedom)?,
            method,
            course: None,
            ..self
        })
    }

    /// How many standard errors the difference lies from zero, the step of the scale allowed for.
    pub(crate) fn distance_in_errors(&self) -> f64 {
        let t = (self.difference.abs() - self.shift).max(0.0) / self.standard_error;
        t.clamp(0.0, f64::MAX)
    }

    /// The number of blocks.
    pub fn blocks(&self) -> usize {
        self.treatment.len()
    }

    /// The two-sided p-value of there being no difference.
    pub fn p(&self) -> f64 {
        if let Some(course) = &self.course {
            return course.p();
        }
        let distance = (self.difference.abs() - self.shift).max(0.0);
        (2.0 * self.beyond(distance)).min(1.0)
    }

    /// The one-sided p-value of the treatment being no better than the baseline, where `sign` is
    /// +1 when more is better and -1 when less is.
    pub fn p_of_not_better(&self, sign: f64) -> f64 {
        if let Some(course) = &self.course {
            let better = sign * self.difference > 0.0;
            return if better { course.p() } else { 1.0 };
        }
        self.beyond(sign * self.difference - self.shift)
    }

    /// The p-value of the difference being as large as `margin` or larger, either way: the larger
    /// of the two one-sided tests.
    pub fn p_of_not_within(&self, margin: f64) -> f64 {
        if let Some(course) = &self.course {
            return course.p_of_not_within(margin);
        }
        self.beyond(margin - self.shift - self.difference.abs())
    }

    /// The chance of an estimate that lies this far or farther above its mean; no evidence at
    /// all where the distance is no number.
    fn beyond(&self, distance: f64) -> f64 {
        let t = distance / self.standard_error;
        if t.is_nan() {
            1.0
        } else {
            self.distribution.survival(t.clamp(f64::MIN, f64::MAX))
        }
    }

    /// The interval of the mean difference; none where it overflows.
    pub fn interval(&self, confidence: Confidence) -> Option<Interval> {
        if let Some(course) = &self.course {
            return course.interval(confidence);
        }
        let interval = Interval::around(self.difference, self.reach(confidence));
        (interval.low.is_finite() && interval.high.is_finite()).then_some(interval)
    }

    /// The difference in percent of the baseline's mean; none where that mean is zero.
    pub fn percent(&self) -> Option<f64> {
        Estimated::percent(self)
    }

    /// The interval of the difference in percent of the baseline's mean, the error of the
    /// baseline's mean included; none where that mean cannot be told from zero.
    pub fn percent_interval(&self, confidence: Confidence) -> Option<Interval> {
        let interval = match self.method {
            Method::PairedT => {
                ratio::relative_change(&self.treatment, &self.baseline, self.critical(confidence))?
                    .scaled(100.0)
            }
            Method::PooledT | Method::Dunnett | Method::Tukey if self.shift == 0.0 => {
                let of_a_mean = self.standard_error / std::f64::consts::SQRT_2;
                ratio::relative_change_of_independent(
                    (self.treatment_mean, of_a_mean),
                    (self.baseline_mean, of_a_mean),
                    self.critical(confidence),
                )?
                .scaled(100.0)
            }
            Method::PooledT
            | Method::Dunnett
            | Method::Tukey
            | Method::PairedTOnScale
            | Method::EveryBlock => self
                .interval(confidence)?
                .scaled(100.0 / self.baseline_mean.abs()),
        };
        (interval.low.is_finite() && interval.high.is_finite()).then_some(interval)
    }

    /// How far beyond zero, in standard errors, a difference must lie to count at this confidence.
    pub fn critical(&self, confidence: Confidence) -> f64 {
        self.distribution
            .upper_quantile(Probability::of_one_tail(confidence))
    }

    fn reach(&self, confidence: Confidence) -> f64 {
        self.shift + self.critical(confidence) * self.standard_error
    }
}

impl Estimated for Estimate {
    fn difference(&self) -> f64 {
        self.difference
    }

    fn baseline_mean(&self) -> f64 {
        self.baseline_mean
    }

    fn shift(&self) -> f64 {
        self.shift
    }

    fn is_on_scale(&self) -> bool {
        self.method == Method::PairedTOnScale
    }

    fn p(&self) -> f64 {
        self.p()
    }

    fn p_of_not_within(&self, margin: f64) -> f64 {
        self.p_of_not_within(margin)
    }

    fn interval(&self, confidence: Confidence) -> Option<Interval> {
        self.interval(confidence)
    }

    fn percent_interval(&self, confidence: Confidence) -> Option<Interval> {
        self.percent_interval(confidence)
    }

    fn more_needed(&self, effect: f64, alpha: f64) -> Option<u64> {
        more_blocks(self.blocks(), effect, self.sd, alpha)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: [f64; 6] = [11.58825, 11.9115, 11.751, 11.51075, 11.69575, 12.25075];
    const B: [f64; 6] = [11.42075, 11.64675, 11.4735, 11.2455, 11.34625, 11.99975];

    #[test]
    fn agrees_with_the_plain_paired_test_on_a_fine_scale() {
        let found = estimate(&B, &A, Some(0.00025), Looks::Once).unwrap();
        assert_eq!(found.method, Method::PairedT);
        assert!((found.p() / 0.000_106_060_088_944_410_2 - 1.0).abs() < 1e-9);
        assert!((found.p_of_not_better(-1.0) * 2.0 / found.p() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn constants_far_apart_differ_and_constants_a_step_apart_do_not() {
        let far = estimate(&[886.0; 3], &[513.0; 3], Some(1.0), Looks::Once).unwrap();
        assert_eq!(far.method, Method::PairedTOnScale);
        assert!(far.p() < 1e-5, "{}", far.p());
        let near = estimate(&[2.0; 3], &[1.0; 3], Some(1.0), Looks::Once).unwrap();
        assert_eq!(near.p(), 1.0);
        let same = estimate(&[951.0; 3], &[951.0; 3], Some(1.0), Looks::Once).unwrap();
        assert_eq!(same.p(), 1.0);
    }

    #[test]
    fn the_interval_holds_zero_exactly_when_p_is_above_alpha() {
        let cells = [
            ([141.0, 145.0, 142.0], [131.0, 136.0, 130.0]),
            ([145.0, 135.0, 135.0], [131.0, 137.0, 139.0]),
            ([513.0, 513.0, 513.0], [886.0, 886.0, 886.0]),
            ([951.0, 951.0, 951.0], [951.0, 950.0, 951.0]),
        ];
        for (a, b) in cells {
            let found = estimate(&b, &a, Some(1.0), Looks::Once).unwrap();
            for percent in [80.0, 95.0, 97.5, 99.0, 99.9] {
                let confidence = Confidence::percent(percent).unwrap();
                let undecided = found.p() > confidence.alpha();
                let absolute = found.interval(confidence).unwrap();
                let relative = found.percent_interval(confidence).unwrap();
                assert_eq!(absolute.contains(0.0), undecided, "{a:?} {b:?} {percent}");
                assert_eq!(relative.contains(0.0), undecided, "{a:?} {b:?} {percent}");
            }
        }
    }

    #[test]
    fn what_cannot_be_estimated_is_named() {
        assert_eq!(
            estimate(&[1.0], &[2.0], None, Looks::Once),
            Err(Degenerate::TooFew { needed: 2, got: 1 })
        );
        assert_eq!(
            estimate(&[0.0; 3], &[0.0; 3], None, Looks::Once),
            Err(Degenerate::ZeroVariance { n: 3, value: 0.0 })
        );
        let about_zero =
            estimate(&[1.0, 2.0, 4.0], &[-1.0, 1.0, 0.0], Some(1.0), Looks::Once).unwrap();
        assert_eq!(about_zero.percent(), None);
        assert_eq!(about_zero.percent_interval(Confidence::PERCENT_95), None);
    }
}
