//! Double-precision operations with the NaNs of x86-64, and sums in a given order.
//!
//! The original prints the sign of a NaN, and that sign follows the rules of SSE2: an operation
//! on a NaN returns its first NaN operand, and an invalid operation returns a negative NaN. Rust
//! leaves both open, so they are spelt out here. On other values these are the plain operations.

fn with_x86_nan(first: f64, second: f64, result: f64) -> f64 {
    if first.is_nan() {
        first
    } else if second.is_nan() {
        second
    } else if result.is_nan() {
        f64::NAN.copysign(-1.0)
    } else {
        result
    }
}

/// `first + second`.
pub(super) fn add(first: f64, second: f64) -> f64 {
    with_x86_nan(first, second, first + second)
}

/// `first - second`.
pub(super) fn subtract(first: f64, second: f64) -> f64 {
    with_x86_nan(first, second, first - second)
}

/// `first * second`.
pub(super) fn multiply(first: f64, second: f64) -> f64 {
    with_x86_nan(first, second, first * second)
}

/// `first / second`.
pub(super) fn divide(first: f64, second: f64) -> f64 {
    with_x86_nan(first, second, first / second)
}

/// The square root.
pub(super) fn square_root(value: f64) -> f64 {
    with_x86_nan(value, value, value.sqrt())
}

/// The sum of `values`, added in their order.
pub(super) fn sum(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |sum, &value| add(sum, value))
}

/// The sum of the squares of `values`, added in their order. (The square is the first operand.)
pub(super) fn sum_of_squares(values: &[f64]) -> f64 {
    values
        .iter()
        .fold(0.0, |sum, &value| add(multiply(value, value), sum))
}

/// The sum of squared distances from `center`, added in the order of `values`.
pub(super) fn squared_distances(values: &[f64], center: f64) -> f64 {
    values.iter().fold(0.0, |sum, &value| {
        let distance = value - center;
        sum + distance * distance
    })
}

/// Bounds of what [`squared_distances`] returns for *any* order of `values`, found without
/// putting them in that order.
///
/// The terms are the same numbers in every order and none is negative, so a sum of n of them by
/// any chain of k roundings is within a factor 1 ± k u/(1 - k u) of their exact sum (Higham,
/// Accuracy and Stability of Numerical Algorithms, 2nd ed., section 4.2), u = 2^-53.
pub(super) fn squared_distances_in_any_order(values: &[f64], center: f64) -> (f64, f64) {
    const LANES: usize = 8;
    let mut lanes = [0.0; LANES];
    let (blocks, rest) = values.as_chunks::<LANES>();
    for block in blocks {
        for (lane, &value) in lanes.iter_mut().zip(block) {
            let distance = value - center;
            *lane += distance * distance;
        }
    }
    let sum = lanes.iter().sum::<f64>() + squared_distances(rest, center);
    let roundings = values.len() + values.len() / LANES + 2 * LANES;
    // The last factor covers the products of errors, and the rounding of this line and the next.
    let relative = roundings as f64 * (f64::EPSILON / 2.0) * 1.001;
    (sum * (1.0 - relative), sum * (1.0 + relative))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn is_negative_nan(value: f64) -> bool {
        value.is_nan() && value.is_sign_negative()
    }

    #[test]
    fn an_invalid_operation_is_a_negative_nan() {
        assert!(is_negative_nan(subtract(f64::INFINITY, f64::INFINITY)));
        assert!(is_negative_nan(divide(0.0, 0.0)));
        assert!(is_negative_nan(multiply(0.0, f64::INFINITY)));
        assert!(is_negative_nan(square_root(-1.0)));
    }

    #[test]
    fn the_first_nan_wins() {
        let (plus, minus) = (f64::NAN.copysign(1.0), f64::NAN.copysign(-1.0));
        assert!(!is_negative_nan(add(plus, minus)));
        assert!(is_negative_nan(add(minus, plus)));
        assert!(!is_negative_nan(sum(&[plus, minus, 3.0])));
        assert!(is_negative_nan(sum_of_squares(&[plus, minus, 3.0])));
        assert!(is_negative_nan(sum(&[
            f64::INFINITY,
            f64::NEG_INFINITY,
            plus
        ])));
    }

    proptest! {
        #[test]
        fn every_order_is_within_bounds(
            mut values in prop::collection::vec(-1e3..1e3_f64, 1..300)
        ) {
            let center = sum(&values) / values.len() as f64;
            let (low, high) = squared_distances_in_any_order(&values, center);
            prop_assert!(low <= high);
            values.sort_by(f64::total_cmp);
            for _ in 0..2 {
                let ordered = squared_distances(&values, center);
                prop_assert!(low <= ordered && ordered <= high, "{} {} {}", low, ordered, high);
                values.reverse();
                let turn = 7 % values.len();
                values.rotate_left(turn);
            }
        }
    }
}
