//! Whether the first values belong to a machine that was not yet warm.

use crate::degenerate::{Degenerate, finite, require};
use crate::distributions::{Probability, StudentT};
use crate::summary::Moments;
use crate::tests::welch::welch;

/// A beginning that differs from the rest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WarmUp {
    /// How many values at the beginning differ.
    pub length: usize,
    /// Their mean less the mean of the rest.
    pub shift: f64,
    /// The p-value, times the number of lengths that were tried.
    pub p: f64,
}

/// Looks for a warm-up of at most half of the series: the beginning whose removal makes the
/// standard error of what is left smallest (the marginal standard error rule, White 1997), reported
/// only when that beginning differs from the rest at the level `alpha`, after Bonferroni's
/// correction for the lengths tried. A beginning of one value is compared by its distance from the
/// rest in the rest's standard deviations.
///
/// # Errors
/// When there are fewer than eight values, one is not finite, or alpha is not a probability.
pub fn warm_up(values: &[f64], alpha: f64) -> Result<Option<WarmUp>, Degenerate> {
    require(values, 8)?;
    Probability::new(alpha)?;
    let longest = values.len() / 2;
    let mut best = (0, f64::INFINITY);
    // Long series are tried at a hundred lengths.
    for length in (0..=longest).step_by(longest.div_ceil(100)) {
        let rest = Moments::of(&values[length..])?;
        let sd = rest.sd.unwrap_or(0.0);
        let standard_error = sd / ((values.len() - length) as f64).sqrt();
        if standard_error < best.1 {
            best = (length, standard_error);
        }
    }
    let length = best.0;
    if length == 0 {
        return Ok(None);
    }
    let (beginning, rest) = values.split_at(length);
    let (shift, p) = match beginning {
        [single] => {
            let moments = Moments::of(rest)?;
            let n = rest.len() as f64;
            let sd = moments.sd.unwrap_or(0.0);
            let shift = finite(single - moments.mean, "the shift")?;
            if sd == 0.0 {
                (shift, if shift == 0.0 { 1.0 } else { 0.0 })
            } else {
                let t = shift / (sd * (1.0 + 1.0 / n).sqrt());
                (shift, StudentT::new(n - 1.0)?.two_sided(t))
            }
        }
        _ => match welch(rest, beginning) {
            Ok(found) => (found.difference, found.p),
            // Two constant levels: different for certain, or one level after all.
            Err(Degenerate::ZeroVariance { value, .. }) => {
                (value, if value == 0.0 { 1.0 } else { 0.0 })
            }
            Err(error) => return Err(error),
        },
    };
    let p = (p * longest as f64).min(1.0);
    Ok((p <= alpha).then_some(WarmUp { length, shift, p }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cold_start_is_found() {
        let mut values: Vec<f64> = (0..40).map(|i| f64::from((i * 7) % 5) * 0.1).collect();
        for (index, value) in values.iter_mut().take(4).enumerate() {
            *value += 3.0 - index as f64 * 0.1;
        }
        let found = warm_up(&values, 0.05).unwrap().unwrap();
        assert_eq!(found.length, 4);
        assert!(found.shift > 2.0);
        values.truncate(30);
        values.drain(..3);
        assert_eq!(warm_up(&values, 0.05).unwrap().unwrap().length, 1);
    }

    #[test]
    fn a_steady_series_has_none() {
        let values: Vec<f64> = (0..40).map(|i| f64::from((i * 7) % 5)).collect();
        assert_eq!(warm_up(&values, 0.05), Ok(None));
        assert_eq!(warm_up(&[1.0; 10], 0.05), Ok(None));
        assert!(warm_up(&[1.0; 3], 0.05).is_err());
        let mut step = [1.0; 12];
        step[0] = 5.0;
        step[1] = 5.0;
        let found = warm_up(&step, 0.05).unwrap().unwrap();
        assert_eq!((found.length, found.shift, found.p), (2, 4.0, 0.0));
    }
}
