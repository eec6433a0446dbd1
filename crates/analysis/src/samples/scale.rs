//! The step of the scale of plain samples, where it matters.

use crate::scale::decimal_step;

/// Values looked at before asking whether the step is fine enough by now.
const CHUNK: usize = 1024;

/// How far apart two readings of a step may hide values: the largest standard deviation of `n`
/// values that all read alike, half of them at either end of the step.
pub(super) fn hidden_sd(step: f64, n: usize) -> f64 {
    let n = n as f64;
    step / 2.0 * (n / (n - 1.0)).sqrt()
}

/// The coarsest power of ten of which the values of both sets are whole multiples, as far as that
/// could hide a standard deviation of `sd`: once the step is too fine for that, the rest of the
/// values is not looked at. None where all are zero.
pub(super) fn step_that_matters(sets: [&[f64]; 2], sd: f64) -> Option<f64> {
    let mut finest: Option<f64> = None;
    for chunk in sets.iter().flat_map(|values| values.chunks(CHUNK)) {
        if let Some(step) = decimal_step(chunk.iter().copied()) {
            finest = Some(finest.map_or(step, |finest| finest.min(step)));
        }
        if finest.is_some_and(|step| hidden_sd(step, 2) < sd) {
            break;
        }
    }
    finest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_that_of_the_finest_value_of_both() {
        assert_eq!(step_that_matters([&[10.0], &[1.25]], 0.0), Some(0.01));
        assert_eq!(step_that_matters([&[0.0], &[0.0]], 0.0), None);
        assert!((hidden_sd(1.0, 2) - 0.5_f64.sqrt()).abs() < 1e-12);
    }
}
