//! Whether a series jumps, and where.

use crate::degenerate::{Degenerate, require};
use crate::tests::ranks::midranks;

/// The result of Pettitt's test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChangePoint {
    /// The first value after the likeliest jump, counted from 0.
    pub at: usize,
    /// Pettitt's K, the largest of the rank sums' distances.
    pub k: f64,
    /// The p-value, by Pettitt's approximation `2 exp(-6 K² / (n³ + n²))`.
    pub p: f64,
}

/// Pettitt (1979): whether the values before some place differ in level from those after it.
///
/// # Errors
/// When there are fewer than four values, one is not finite, or all are equal.
pub fn change_point(values: &[f64]) -> Result<ChangePoint, Degenerate> {
    require(values, 4)?;
    if values.iter().all(|value| *value == values[0]) {
        return Err(Degenerate::ZeroVariance {
            n: values.len(),
            value: values[0],
        });
    }
    let n = values.len() as f64;
    let ranks = midranks(values);
    let (mut sum, mut at, mut k) = (0.0, 0, 0.0_f64);
    for (index, rank) in ranks.iter().enumerate().take(values.len() - 1) {
        sum += rank;
        let u = (2.0 * sum - (index + 1) as f64 * (n + 1.0)).abs();
        if u > k {
            (at, k) = (index + 1, u);
        }
    }
    let p = (2.0 * libm::exp(-6.0 * k * k / (n * n * n + n * n))).min(1.0);
    Ok(ChangePoint { at, k, p })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_jump_is_found_where_it_is() {
        let values: Vec<f64> = (0..30)
            .map(|i| if i < 12 { 0.0 } else { 5.0 } + f64::from((i * 7) % 5) * 0.1)
            .collect();
        let found = change_point(&values).unwrap();
        assert_eq!(found.at, 12);
        assert_eq!(found.k, 12.0 * 18.0);
        assert!(found.p < 1e-3);
    }

    #[test]
    fn a_steady_series_does_not_jump() {
        let values: Vec<f64> = (0..30).map(|i| f64::from((i * 7) % 5)).collect();
        assert!(change_point(&values).unwrap().p > 0.5);
        assert!(change_point(&[1.0; 10]).is_err());
        assert!(change_point(&[1.0, 2.0]).is_err());
    }
}
