//! Whether a metric moves in steps that are too coarse for its spread or for the effect.

use crate::degenerate::{Degenerate, require};

/// The step in which values move.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Granularity {
    /// How many values there are.
    pub n: usize,
    /// How many of them are different.
    pub distinct: usize,
    /// The largest step of which every difference of values is a multiple, where there plainly is
    /// one; none where all values are equal or no common step is seen.
    pub step: Option<f64>,
}

/// How a step compares with what is to be seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coarseness {
    /// All values are equal: the step is at least as coarse as the spread, and not known.
    AllEqual,
    /// The step is coarser than the effect: nothing as fine can be claimed.
    CoarserThanEffect,
    /// The step exceeds the standard deviation: means and intervals are unreliable.
    CoarserThanSpread,
    /// Fine enough.
    Fine,
}

impl Granularity {
    /// Compares the step with a standard deviation and, where there is one, an effect.
    pub fn against(&self, sd: f64, effect: Option<f64>) -> Coarseness {
        match (self.step, effect) {
            (None, _) if self.distinct <= 1 => Coarseness::AllEqual,
            (Some(step), Some(effect)) if step > effect.abs() => Coarseness::CoarserThanEffect,
            (Some(step), _) if step > sd => Coarseness::CoarserThanSpread,
            _ => Coarseness::Fine,
        }
    }
}

/// Counts the distinct values and looks for the step in which they move.
///
/// The step is the greatest common divisor of the distances of neighbouring values, found by
/// Euclid's algorithm with a tolerance for rounding (a millionth of the smallest distance, or what
/// doubles of that size resolve). It is reported when it is seen often enough not to be chance:
/// with three distinct values or more it must be at least a twentieth of the smallest distance
/// that occurs; with two it is their distance.
///
/// # Errors
/// When there is no value or one is not finite.
pub fn granularity(values: &[f64]) -> Result<Granularity, Degenerate> {
    require(values, 1)?;
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.dedup_by(|a, b| a == b);
    Ok(Granularity {
        n: values.len(),
        distinct: sorted.len(),
        step: common_step(&sorted),
    })
}

fn common_step(distinct: &[f64]) -> Option<f64> {
    let distances: Vec<f64> = distinct.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let smallest = distances.iter().copied().reduce(f64::min)?;
    let largest_value = distinct[0].abs().max(distinct[distinct.len() - 1].abs());
    let range = distinct[distinct.len() - 1] - distinct[0];
    let resolution = 4.0 * f64::EPSILON * largest_value;
    if !range.is_finite() || smallest <= 8.0 * resolution {
        return None;
    }
    let tolerance = (1e-6 * smallest).max(resolution);
    let mut step = smallest;
    for distance in &distances {
        step = common_divisor(*distance, step, tolerance);
        if step < smallest / 20.0 {
            return None;
        }
    }
    // Rounding errors of many small distances are averaged out over the whole range.
    let steps = (range / step).round();
    Some(range / steps)
}

/// Euclid's algorithm on numbers that are known to within `tolerance`.
fn common_divisor(mut larger: f64, mut smaller: f64, tolerance: f64) -> f64 {
    while smaller > 0.0 {
        let steps = (larger / smaller).round();
        let rest = (larger - steps * smaller).abs();
        if rest <= tolerance * steps.max(1.0) {
            return smaller;
        }
        (larger, smaller) = (smaller, rest);
    }
    larger
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hundredths_are_seen() {
        let found = granularity(&[12.01, 12.14, 12.02, 12.02, 12.05]).unwrap();
        assert_eq!(found.distinct, 4);
        assert!((found.step.unwrap() - 0.01).abs() < 1e-9);
        assert_eq!(
            found.against(0.05, Some(0.005)),
            Coarseness::CoarserThanEffect
        );
        assert_eq!(found.against(0.005, None), Coarseness::CoarserThanSpread);
        assert_eq!(found.against(0.05, Some(0.3)), Coarseness::Fine);
    }

    #[test]
    fn a_step_need_not_occur_itself() {
        let found = granularity(&[0.0, 4.0, 10.0]).unwrap();
        assert_eq!(found.step, Some(2.0));
    }

    #[test]
    fn fine_values_have_no_step() {
        let values: Vec<f64> = (0..50).map(|i| f64::from(i).sqrt()).collect();
        assert_eq!(granularity(&values).unwrap().step, None);
        let equal = granularity(&[2.0; 5]).unwrap();
        assert_eq!((equal.distinct, equal.step), (1, None));
        assert_eq!(equal.against(0.0, None), Coarseness::AllEqual);
        assert!(granularity(&[]).is_err());
        assert_eq!(granularity(&[-1.7e308, 1.7e308]).unwrap().step, None);
        assert_eq!(granularity(&[0.0, 5e-324]).unwrap().distinct, 2);
    }
}
