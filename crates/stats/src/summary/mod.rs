//! Describing one set of values: centre, spread, quantiles.

mod mean_interval;
mod moments;
mod quantile;
mod quantile_interval;
mod spread;

pub use mean_interval::mean_interval;
pub use moments::{Moments, moments_of_decimals};
pub(crate) use quantile::sorted;
pub use quantile::{median, quantile};
pub use quantile_interval::{QuantileInterval, median_interval, quantile_interval};
pub use spread::{mean_absolute_deviation, median_absolute_deviation};

/// What is said of a set of values at a glance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// How many values there are.
    pub n: usize,
    /// The arithmetic mean.
    pub mean: f64,
    /// The median: the middle value, or the mean of the two middle ones.
    pub median: f64,
    /// The standard deviation (n - 1 in the denominator); none for a single value.
    pub sd: Option<f64>,
    /// The smallest value.
    pub min: f64,
    /// The largest value.
    pub max: f64,
}

impl Summary {
    /// Summarises `values`; none when there are none, when one is not finite, or when they are so
    /// large that a result overflows.
    pub fn of(values: &[f64]) -> Option<Self> {
        let moments = Moments::of(values).ok()?;
        Some(Self {
            n: values.len(),
            mean: moments.mean,
            median: median(values).ok()?,
            sd: moments.sd,
            min: values.iter().copied().reduce(f64::min)?,
            max: values.iter().copied().reduce(f64::max)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_says_what_there_is() {
        let summary = Summary::of(&[3.0, 1.0, 2.0, 10.0]).unwrap();
        assert_eq!(summary.n, 4);
        assert_eq!(summary.mean, 4.0);
        assert_eq!(summary.median, 2.5);
        assert_eq!((summary.min, summary.max), (1.0, 10.0));
        let sd = (50.0_f64 / 3.0).sqrt();
        assert!((summary.sd.unwrap() - sd).abs() < 1e-15);
    }

    #[test]
    fn odd_inputs_have_a_defined_answer() {
        assert_eq!(Summary::of(&[]), None);
        assert_eq!(Summary::of(&[1.0, f64::NAN]), None);
        assert_eq!(Summary::of(&[f64::INFINITY]), None);
        assert_eq!(Summary::of(&[2.0]).unwrap().sd, None);
        assert_eq!(Summary::of(&[2.0, 2.0]).unwrap().sd, Some(0.0));
        let huge = Summary::of(&[1.7e308, 1.7e308]).unwrap();
        assert_eq!((huge.mean, huge.sd), (1.7e308, Some(0.0)));
        let tiny = Summary::of(&[1e-300, 3e-300]).unwrap();
        assert!((tiny.sd.unwrap() / 2.0_f64.sqrt() / 1e-300 - 1.0).abs() < 1e-14);
    }
}
