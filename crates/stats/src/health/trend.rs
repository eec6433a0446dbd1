//! Whether a series drifts.

use crate::degenerate::{Degenerate, require};
use crate::distributions::Normal;
use crate::summary::median;

/// The result of a Mann-Kendall test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trend {
    /// Kendall's S: pairs that rise less pairs that fall.
    pub s: i64,
    /// S over the number of pairs, from -1 to 1.
    pub tau: f64,
    /// The two-sided p-value, by the normal distribution with continuity and ties corrected.
    pub p: f64,
    /// Sen's slope: the median change per value.
    pub slope: f64,
}

/// More values than this are thinned to about so many by averaging neighbours, since the test
/// looks at every pair.
const MOST: usize = 2000;

/// Mann (1945) and Kendall (1975), with Sen's (1968) slope: whether the values rise or fall with
/// time, whatever the shape.
///
/// # Errors
/// When there are fewer than four values, one is not finite, or all are equal.
pub fn trend(values: &[f64]) -> Result<Trend, Degenerate> {
    require(values, 4)?;
    let width = values.len().div_ceil(MOST);
    let thinned: Vec<f64> = values
        .chunks_exact(width)
        .map(|chunk| chunk.iter().map(|value| value / width as f64).sum())
        .collect();
    let n = thinned.len();
    let mut s = 0_i64;
    let mut slopes = Vec::with_capacity(n * (n - 1) / 2);
    for (i, first) in thinned.iter().enumerate() {
        for (j, second) in thinned.iter().enumerate().skip(i + 1) {
            s += match second.total_cmp(first) {
                _ if second == first => 0,
                std::cmp::Ordering::Greater => 1,
                _ => -1,
            };
            // Halved, so that the difference of two huge values stays finite.
            slopes.push((second / 2.0 - first / 2.0) / (j - i) as f64);
        }
    }
    let count = n as f64;
    let spread = |n: f64| n * (n - 1.0) * (2.0 * n + 5.0);
    let variance = (spread(count) - ties(&thinned).map(spread).sum::<f64>()) / 18.0;
    if variance <= 0.0 {
        return Err(Degenerate::ZeroVariance {
            n: values.len(),
            value: values[0],
        });
    }
    let z = ((s.abs() - 1).max(0)) as f64 / variance.sqrt();
    Ok(Trend {
        s,
        tau: s as f64 / (count * (count - 1.0) / 2.0),
        p: (2.0 * Normal.survival(z)).min(1.0),
        slope: median(&slopes)? * 2.0 / width as f64,
    })
}

/// The sizes of the groups of equal values.
fn ties(values: &[f64]) -> impl Iterator<Item = f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted
        .chunk_by(|a, b| a == b)
        .map(|group| group.len() as f64)
        .collect::<Vec<_>>()
        .into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drift_is_found_and_its_slope() {
        let values: Vec<f64> = (0..20)
            .map(|i| f64::from(i) * 0.5 + f64::from(i % 3))
            .collect();
        let found = trend(&values).unwrap();
        assert!(found.p < 1e-4 && found.tau > 0.7);
        assert!((found.slope - 0.5).abs() < 0.05);
    }

    #[test]
    fn ties_and_their_absence() {
        // S = 6, no ties: variance 4*3*13/18, z = 5/sqrt(26/3).
        let found = trend(&[1.0, 2.0, 3.0, 4.0]).unwrap();
        assert_eq!((found.s, found.tau), (6, 1.0));
        assert!((found.p - 0.089_429_1).abs() < 1e-6, "{found:?}");
        assert!(trend(&[1.0, 1.0, 1.0, 1.0]).is_err());
        assert!(trend(&[1.0, 2.0, 3.0]).is_err());
        let long: Vec<f64> = (0..5000).map(f64::from).collect();
        let found = trend(&long).unwrap();
        assert!((found.slope - 1.0).abs() < 1e-9 && found.p < 1e-10);
    }
}
