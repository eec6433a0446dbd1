//! The estimate of one comparison of plain samples.
//!
//! Independent samples: Welch's t. Where a sample varies less than the step of its scale could hide,
//! its own spread is no measure of the error, and the most that the step could hide is taken instead:
//! readings that agree to a step g may have a standard deviation of g/2 sqrt(n/(n-1)) (half of them
//! at either end), and the difference of two means may be off by g. Pairs: [`crate::paired`].

use knobstat_stats::distributions::{Probability, StudentT};
use knobstat_stats::summary::Summary;
use knobstat_stats::{Confidence, Degenerate, Interval};

use super::findings::Method;
use super::outlook::more_of_each;
use super::scale::{hidden_sd, step_that_matters};
use crate::paired::{self, Looks};
use crate::ratio;
use crate::verdict::Estimated;

/// An estimated difference of two means and how sure it is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Estimate {
    /// From two independent samples.
    Independent(Independent),
    /// From values paired by their positions.
    Paired(Box<paired::Estimate>),
}

/// The difference of the means of two independent samples.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Independent {
    /// The mean and its standard error, of the set and of the baseline.
    set: (f64, f64),
    baseline: (f64, f64),
    /// The standard deviations that the error was taken from: of the set and of the baseline.
    pub(super) sd: [f64; 2],
    /// How many values each has.
    pub(super) n: [usize; 2],
    difference: f64,
    standard_error: f64,
    shift: f64,
    distribution: StudentT,
    on_scale: bool,
}

impl Independent {
    /// The estimate of set minus baseline. `step` is that of the clock, where it is known; where it
    /// is not, the digits of the values tell it.
    ///
    /// # Errors
    /// When either has fewer than two values, there is no spread and no step to bound it, or a
    /// result overflows.
    fn of(
        (set, of_set): (&[f64], &Summary),
        (baseline, of_baseline): (&[f64], &Summary),
        step: Option<f64>,
    ) -> Result<Self, Degenerate> {
        let overflow = |what| Degenerate::Overflow { what };
        let n = [of_set.n, of_baseline.n];
        if let Some(got) = n.into_iter().find(|n| *n < 2) {
            return Err(Degenerate::TooFew { needed: 2, got });
        }
        let seen = [of_set.sd, of_baseline.sd];
        let [Some(of_set_sd), Some(of_baseline_sd)] = seen else {
            return Err(overflow("a standard deviation"));
        };
        let seen = [of_set_sd, of_baseline_sd];
        let smaller = seen[0].min(seen[1]);
        let step = step.or_else(|| step_that_matters([set, baseline], smaller));
        let hidden = n.map(|n| step.map_or(0.0, |step| hidden_sd(step, n)));
        let on_scale = seen[0] < hidden[0] || seen[1] < hidden[1];
        let sd = if on_scale {
            [seen[0].max(hidden[0]), seen[1].max(hidden[1])]
        } else {
            seen
        };
        let errors = [0, 1].map(|of| sd[of] / (n[of] as f64).sqrt());
        let standard_error = errors[0].hypot(errors[1]);
        let difference = of_set.mean - of_baseline.mean;
        if standard_error == 0.0 {
            return Err(Degenerate::ZeroVariance {
                n: n[0] + n[1],
                value: difference,
            });
        }
        if !(standard_error.is_finite() && difference.is_finite()) {
            return Err(overflow("the difference of the means"));
        }
        // Satterthwaite's degrees of freedom, in shares of the whole so that nothing overflows.
        let share = |of: usize| {
            let ratio = errors[of] / standard_error;
            ratio.powi(4) / (n[of] - 1) as f64
        };
        Ok(Self {
            set: (of_set.mean, errors[0]),
            baseline: (of_baseline.mean, errors[1]),
            sd,
            n,
            difference,
            standard_error,
            shift: if on_scale { step.unwrap_or(0.0) } else { 0.0 },
            distribution: StudentT::new(1.0 / (share(0) + share(1)))?,
            on_scale,
        })
    }

    fn beyond(&self, distance: f64) -> f64 {
        let t = distance / self.standard_error;
        if t.is_nan() {
            1.0
        } else {
            self.distribution.survival(t.clamp(f64::MIN, f64::MAX))
        }
    }

    fn critical(&self, confidence: Confidence) -> f64 {
        self.distribution
            .upper_quantile(Probability::of_one_tail(confidence))
    }
}

impl Estimated for Independent {
    fn difference(&self) -> f64 {
        self.difference
    }

    fn baseline_mean(&self) -> f64 {
        self.baseline.0
    }

    fn shift(&self) -> f64 {
        self.shift
    }

    fn is_on_scale(&self) -> bool {
        self.on_scale
    }

    fn p(&self) -> f64 {
        let distance = (self.difference.abs() - self.shift).max(0.0);
        (2.0 * self.beyond(distance)).min(1.0)
    }

    fn p_of_not_within(&self, margin: f64) -> f64 {
        self.beyond(margin - self.shift - self.difference.abs())
    }

    fn interval(&self, confidence: Confidence) -> Option<Interval> {
        let reach = self.shift + self.critical(confidence) * self.standard_error;
        finite(Interval::around(self.difference, reach))
    }

    fn percent_interval(&self, confidence: Confidence) -> Option<Interval> {
        let critical = self.critical(confidence);
        if !self.on_scale {
            let change = ratio::relative_change_of_independent(self.set, self.baseline, critical)?;
            return finite(change.scaled(100.0));
        }
        let (mean, error) = self.baseline;
        let told_from_zero = mean.abs() > self.shift + critical * error;
        let interval = self.interval(confidence)?.scaled(100.0 / mean.abs());
        told_from_zero.then_some(interval).and_then(finite)
    }

    fn more_needed(&self, effect: f64, alpha: f64) -> Option<u64> {
        more_of_each(self, effect, alpha)
    }
}

fn finite(interval: Interval) -> Option<Interval> {
    (interval.low.is_finite() && interval.high.is_finite()).then_some(interval)
}

impl Estimate {
    /// The estimate from independent samples, each with its summary.
    ///
    /// # Errors
    /// As where there are too few values, no spread, or sums that overflow.
    pub(super) fn independent(
        set: (&[f64], &Summary),
        baseline: (&[f64], &Summary),
        step: Option<f64>,
    ) -> Result<Self, Degenerate> {
        Independent::of(set, baseline, step).map(Self::Independent)
    }

    /// The estimate from pairs.
    ///
    /// # Errors
    /// As [`paired::estimate`].
    pub(super) fn paired(
        set: &[f64],
        baseline: &[f64],
        step: Option<f64>,
    ) -> Result<Self, Degenerate> {
        let step = step.or_else(|| step_that_matters([set, baseline], 0.0));
        paired::estimate(set, baseline, step, Looks::Once)
            .map(|estimate| Self::Paired(Box::new(estimate)))
    }

    /// How it was come by.
    pub(super) fn method(&self) -> Method {
        match self {
            Self::Independent(estimate) if estimate.on_scale => Method::WelchOnScale,
            Self::Independent(_) => Method::Welch,
            Self::Paired(estimate) if estimate.is_on_scale() => Method::PairedTOnScale,
            Self::Paired(_) => Method::PairedT,
        }
    }

    fn as_estimated(&self) -> &dyn Estimated {
        match self {
            Self::Independent(estimate) => estimate,
            Self::Paired(estimate) => estimate.as_ref(),
        }
    }
}

impl Estimated for Estimate {
    fn difference(&self) -> f64 {
        self.as_estimated().difference()
    }

    fn baseline_mean(&self) -> f64 {
        self.as_estimated().baseline_mean()
    }

    fn shift(&self) -> f64 {
        self.as_estimated().shift()
    }

    fn is_on_scale(&self) -> bool {
        self.as_estimated().is_on_scale()
    }

    fn p(&self) -> f64 {
        self.as_estimated().p()
    }

    fn p_of_not_within(&self, margin: f64) -> f64 {
        self.as_estimated().p_of_not_within(margin)
    }

    fn interval(&self, confidence: Confidence) -> Option<Interval> {
        self.as_estimated().interval(confidence)
    }

    fn percent_interval(&self, confidence: Confidence) -> Option<Interval> {
        self.as_estimated().percent_interval(confidence)
    }

    fn more_needed(&self, effect: f64, alpha: f64) -> Option<u64> {
        self.as_estimated().more_needed(effect, alpha)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(set: &[f64], baseline: &[f64]) -> Result<Estimate, Degenerate> {
        let summary = |values: &[f64]| Summary::of(values).unwrap();
        Estimate::independent((set, &summary(set)), (baseline, &summary(baseline)), None)
    }

    #[test]
    fn agrees_with_welchs_test() {
        let (set, baseline) = ([11.1, 12.7, 11.9, 13.3], [10.2, 10.9, 10.4, 10.6, 10.1]);
        let found = of(&set, &baseline).unwrap();
        let known = knobstat_stats::tests::welch::welch(&baseline, &set).unwrap();
        assert_eq!(found.method(), Method::Welch);
        assert!((found.p() / known.p - 1.0).abs() < 1e-12);
        let interval = found.interval(Confidence::PERCENT_95).unwrap();
        assert!((interval.low / known.interval(Confidence::PERCENT_95).low - 1.0).abs() < 1e-12);
    }

    #[test]
    fn constants_far_apart_differ_and_constants_a_step_apart_do_not() {
        let far = of(&[886.0; 3], &[513.0; 3]).unwrap();
        assert_eq!(far.method(), Method::WelchOnScale);
        assert!(far.p() < 1e-6, "{}", far.p());
        assert_eq!(of(&[2.0; 3], &[1.0; 3]).unwrap().p(), 1.0);
        assert_eq!(of(&[951.0; 3], &[951.0; 3]).unwrap().p(), 1.0);
        assert!(matches!(
            of(&[0.0; 3], &[0.0; 3]),
            Err(Degenerate::ZeroVariance { .. })
        ));
        assert!(matches!(
            of(&[1.0], &[2.0, 3.0]),
            Err(Degenerate::TooFew { .. })
        ));
    }

    #[test]
    fn the_interval_holds_zero_exactly_when_p_is_above_alpha() {
        let cells: [(&[f64], &[f64]); 4] = [
            (&[141.0, 145.0, 142.0, 139.0], &[131.0, 136.0, 130.0]),
            (&[145.0, 135.0], &[131.0, 137.0, 139.0]),
            (&[513.0, 513.0, 513.0], &[886.0, 886.0]),
            (&[951.0, 951.0, 951.0], &[951.0, 950.0, 951.0]),
        ];
        for (set, baseline) in cells {
            let found = of(set, baseline).unwrap();
            for percent in [80.0, 95.0, 97.5, 99.0, 99.9] {
                let confidence = Confidence::percent(percent).unwrap();
                let undecided = found.p() > confidence.alpha();
                let absolute = found.interval(confidence).unwrap();
                assert_eq!(absolute.contains(0.0), undecided, "{set:?} {percent}");
                if let Some(relative) = found.percent_interval(confidence) {
                    assert_eq!(relative.contains(0.0), undecided, "{set:?} {percent}");
                }
            }
        }
    }

    #[test]
    fn a_baseline_about_zero_has_no_percentage() {
        let found = of(&[1.0, 2.5, 4.0], &[-1.0, 1.25, 0.5]).unwrap();
        assert_eq!(found.percent_interval(Confidence::PERCENT_95), None);
        assert_eq!(of(&[1.0, 2.0], &[-1.0, 1.0]).unwrap().percent(), None);
    }
}
