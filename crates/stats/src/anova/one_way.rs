//! One-way analysis of variance that keeps every digit of the values.

use super::error::AnovaError;
use crate::arithmetic::DoubleDouble;
use crate::degenerate::{Degenerate, finite, require_finite};
use crate::distributions::FisherF;

/// A one-way analysis of variance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OneWay {
    /// The sum of squares between the groups.
    pub between_sum: f64,
    /// Its degrees of freedom.
    pub between_df: f64,
    /// The sum of squares within the groups.
    pub within_sum: f64,
    /// Its degrees of freedom.
    pub within_df: f64,
    /// The F statistic.
    pub f: f64,
    /// The p-value.
    pub p: f64,
}

impl OneWay {
    /// The share of the sum of squares that the groups explain.
    pub fn r_squared(&self) -> f64 {
        self.between_sum / (self.between_sum + self.within_sum)
    }

    /// The standard deviation within the groups.
    pub fn residual_sd(&self) -> f64 {
        (self.within_sum / self.within_df).sqrt()
    }
}

/// Whether the means of `groups` differ, in double-double arithmetic.
///
/// # Errors
/// When there are fewer than two groups, an empty one, no more values than groups, a value that is
/// not finite, or no spread within any group.
pub fn one_way(groups: &[&[f64]]) -> Result<OneWay, AnovaError> {
    for group in groups {
        require_finite(group)?;
    }
    let exact: Vec<Vec<DoubleDouble>> = groups
        .iter()
        .map(|group| group.iter().copied().map(DoubleDouble::from).collect())
        .collect();
    one_way_of_decimals(&exact)
}

/// The same for values that were read as decimals and never rounded to doubles.
///
/// # Errors
/// As [`one_way`].
pub fn one_way_of_decimals(groups: &[Vec<DoubleDouble>]) -> Result<OneWay, AnovaError> {
    if groups.len() < 2 {
        return Err(Degenerate::TooFew {
            needed: 2,
            got: groups.len(),
        }
        .into());
    }
    if groups.iter().any(Vec::is_empty) {
        return Err(Degenerate::TooFew { needed: 1, got: 0 }.into());
    }
    let n: usize = groups.iter().map(Vec::len).sum();
    if n <= groups.len() {
        return Err(AnovaError::NoResidual {
            values: n,
            parameters: groups.len(),
        });
    }
    let count = |n: usize| DoubleDouble::from(n as f64);
    let sum = |values: &[DoubleDouble]| {
        values
            .iter()
            .fold(DoubleDouble::ZERO, |sum, value| sum + *value)
    };
    let all = groups
        .iter()
        .fold(DoubleDouble::ZERO, |total, group| total + sum(group));
    let grand_mean = all / count(n);
    let (mut between, mut within) = (DoubleDouble::ZERO, DoubleDouble::ZERO);
    for group in groups {
        let mean = sum(group) / count(group.len());
        let distance = mean - grand_mean;
        between = between + count(group.len()) * distance * distance;
        for value in group {
            let deviation = *value - mean;
            within = within + deviation * deviation;
        }
    }
    if within.to_f64() <= 0.0 {
        return Err(AnovaError::NoError);
    }
    let (between_df, within_df) = ((groups.len() - 1) as f64, (n - groups.len()) as f64);
    let f = (between / DoubleDouble::from(between_df)) / (within / DoubleDouble::from(within_df));
    let f = finite(f.to_f64(), "F")?;
    Ok(OneWay {
        between_sum: finite(between.to_f64(), "the sum of squares")?,
        between_df,
        within_sum: finite(within.to_f64(), "the sum of squares")?,
        within_df,
        f,
        p: FisherF::new(between_df, within_df)?.survival(f),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_groups_by_hand() {
        let found = one_way(&[&[1.0, 3.0], &[2.0, 4.0], &[6.0, 8.0]]).unwrap();
        // Means 2, 3, 7 around 4: 2 (4 + 1 + 9) = 28; within 2 + 2 + 2 = 6.
        assert_eq!(
            (found.between_sum, found.within_sum, found.f),
            (28.0, 6.0, 7.0)
        );
    }

    #[test]
    fn odd_inputs_are_named() {
        assert!(one_way(&[&[1.0, 2.0]]).is_err());
        assert!(one_way(&[&[1.0], &[2.0]]).is_err());
        assert!(one_way(&[&[1.0, 2.0], &[]]).is_err());
        assert_eq!(
            one_way(&[&[1.0, 1.0], &[2.0, 2.0]]),
            Err(AnovaError::NoError)
        );
        assert!(one_way(&[&[1.0, f64::NAN], &[2.0, 2.0]]).is_err());
        assert!(one_way(&[&[1e200, 2e200], &[2e200, 4e200]]).is_err());
    }
}
