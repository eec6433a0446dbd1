//! Student's t with pooled variances between a set and the reference, in each profile's formulas.

use super::arithmetic::divide;
use super::dataset::DataSet;
use super::profile::Profile;
use super::quantiles::Confidence;

/// A difference that is larger than its half-width.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Difference {
    /// Average less the reference's.
    pub(super) difference: f64,
    /// Half-width of its interval.
    pub(super) half_width: f64,
    /// The difference in percent of the reference's average.
    pub(super) percent: f64,
    /// The half-width in percent, by the profile's formula.
    pub(super) percent_half_width: f64,
    /// The pooled standard deviation.
    pub(super) pooled: f64,
}

/// The difference of `set` from `reference`, or `None` when it is not proven.
pub(super) fn compare(
    set: &DataSet,
    reference: &DataSet,
    confidence: Confidence,
    profile: Profile,
) -> Option<Difference> {
    let (count, reference_count) = (set.count, reference.count);
    let degrees_of_freedom = count + reference_count - 2;
    let (n, m) = (count as f64, reference_count as f64);
    let t = confidence.quantile(degrees_of_freedom);
    let pooled = (((n - 1.0) * set.variance + (m - 1.0) * reference.variance)
        / degrees_of_freedom as f64)
        .sqrt();
    let standard_error = pooled * (1.0 / n + 1.0 / m).sqrt();
    let difference = set.average - reference.average;
    let half_width = t * standard_error;
    // A NaN on either side proves nothing.
    if difference.abs() > half_width {
        let relative = match profile {
            Profile::Debian2015 => half_width,
            Profile::Newest => t * relative_standard_error(set, reference),
        };
        Some(Difference {
            difference,
            half_width,
            percent: divide(difference * 100.0, reference.average),
            percent_half_width: divide(relative * 100.0, reference.average),
            pooled,
        })
    } else {
        None
    }
}

/// The standard error of the ratio of the averages, times the reference's average, in the
/// operations' original order.
fn relative_standard_error(set: &DataSet, reference: &DataSet) -> f64 {
    let (n, m) = (set.count as f64, reference.count as f64);
    let own = (n - 1.0) * set.variance;
    let scaled = (m - 1.0) * reference.variance * (set.average * set.average)
        / (reference.average * reference.average);
    let counts = (n + m) / (n * m * (n + m - 2.0));
    ((own + scaled) * counts).sqrt()
}

#[cfg(test)]
mod tests {
    use super::super::dataset::Detail;
    use super::super::reader::Values;
    use super::*;

    fn set(values: &[f64]) -> DataSet {
        DataSet::new(
            Vec::new(),
            Values::from_slice(values),
            Profile::Debian2015,
            Detail::Exact,
        )
    }

    #[test]
    fn a_difference_of_exactly_its_half_width_is_not_proven() {
        let level = Confidence::default();
        let zero = set(&[0.0, 0.0, 0.0]);
        assert_eq!(compare(&zero, &zero, level, Profile::Debian2015), None);
        let one = set(&[1.0, 1.0, 1.0]);
        assert!(compare(&one, &zero, level, Profile::Debian2015).is_some());
    }

    #[test]
    fn a_nan_proves_nothing() {
        let nan = set(&[1.0, f64::NAN, 2.0]);
        let other = set(&[100.0, 101.0, 102.0]);
        for profile in [Profile::Debian2015, Profile::Newest] {
            assert_eq!(compare(&nan, &other, Confidence::default(), profile), None);
            assert_eq!(compare(&other, &nan, Confidence::default(), profile), None);
        }
    }
}
