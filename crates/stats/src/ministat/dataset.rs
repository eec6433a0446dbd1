//! One data set and the statistics ministat prints of it.

use super::arithmetic::{self, divide, multiply, square_root, subtract};
use super::format::general;
use super::order;
use super::profile::Profile;
use super::reader::Values;

/// Significant digits of a printed statistic.
pub(super) const PRINTED_DIGITS: usize = 8;

/// From here on selection is worth its code; below, sorting takes no time.
const LARGE: usize = 4096;

/// How the statistics will be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Detail {
    /// Printed only: what is computed prints as the exact statistic does, and `values` may be in
    /// any order.
    AsPrinted,
    /// Computed with: every statistic is the original's to the last bit, and `values` is sorted.
    Exact,
}

/// A data set with its statistics.
#[derive(Debug, Clone)]
pub(super) struct DataSet {
    /// As reports name it.
    pub(super) name: Vec<u8>,
    /// How many values there are.
    pub(super) count: usize,
    /// Ascending, unless made with [`Detail::AsPrinted`]; empty after
    /// [`take_memory`](Self::take_memory).
    pub(super) values: Vec<f64>,
    /// The first in ascending order.
    pub(super) minimum: f64,
    /// The last in ascending order.
    pub(super) maximum: f64,
    /// The middle one, by the profile's rule.
    pub(super) median: f64,
    /// The sum in the order of the file, divided by the count.
    pub(super) average: f64,
    /// By the profile's formula; negative or NaN where that formula fails.
    pub(super) variance: f64,
}

impl DataSet {
    /// The statistics of `read`, which holds at least one value.
    pub(super) fn new(name: Vec<u8>, read: Values, profile: Profile, detail: Detail) -> Self {
        let Values {
            mut values,
            sum,
            sum_of_squares,
            has_special,
        } = read;
        let n = values.len() as f64;
        let average = divide(sum, n);
        let may_select = detail == Detail::AsPrinted && values.len() >= LARGE && !has_special;
        let quick_variance = if may_select && profile == Profile::Newest {
            variance_as_printed(&values, average)
        } else {
            None
        };
        let select = match profile {
            Profile::Debian2015 => may_select,
            Profile::Newest => quick_variance.is_some(),
        };
        let (minimum, maximum, middle) = if select {
            let (minimum, maximum) = extremes(&values);
            (minimum, maximum, order::middle(&mut values))
        } else {
            order::sort(&mut values, has_special);
            let last = values.len() - 1;
            let middle = (values[last / 2], values[values.len() / 2]);
            (values[0], values[last], middle)
        };
        let (median, variance) = match profile {
            Profile::Debian2015 => (
                middle.1,
                divide(
                    subtract(sum_of_squares, divide(multiply(sum, sum), n)),
                    n - 1.0,
                ),
            ),
            Profile::Newest => (
                if values.len() % 2 == 0 {
                    (middle.1 + middle.0) / 2.0
                } else {
                    middle.1
                },
                quick_variance
                    .unwrap_or_else(|| arithmetic::squared_distances(&values, average) / (n - 1.0)),
            ),
        };
        Self {
            name,
            count: values.len(),
            values,
            minimum,
            maximum,
            median,
            average,
            variance,
        }
    }

    /// Lets the values go, the statistics being made, and gives their memory back.
    pub(super) fn take_memory(&mut self) -> Vec<f64> {
        let mut memory = std::mem::take(&mut self.values);
        memory.clear();
        memory
    }

    /// The square root of the variance; NaN when that is negative.
    pub(super) fn standard_deviation(&self) -> f64 {
        square_root(self.variance)
    }
}

/// A variance whose root prints as that of the variance summed in ascending order, found without
/// sorting; `None` when that takes sorting to know.
fn variance_as_printed(values: &[f64], average: f64) -> Option<f64> {
    let (low, high) = arithmetic::squared_distances_in_any_order(values, average);
    let degrees_of_freedom = values.len() as f64 - 1.0;
    let (low, high) = (low / degrees_of_freedom, high / degrees_of_freedom);
    // Division and root are correctly rounded, hence monotone: what lies between prints the same.
    let print = |variance: f64| general(variance.sqrt(), PRINTED_DIGITS, false);
    (high.is_finite() && print(low) == print(high)).then_some(low)
}

/// The least and the greatest of `values`, none of them special.
fn extremes(values: &[f64]) -> (f64, f64) {
    // Lanes do not wait for each other.
    const LANES: usize = 8;
    let mut least = [f64::INFINITY; LANES];
    let mut greatest = [f64::NEG_INFINITY; LANES];
    for chunk in values.chunks(LANES) {
        for ((least, greatest), &value) in least.iter_mut().zip(&mut greatest).zip(chunk) {
            *least = if value < *least { value } else { *least };
            *greatest = if value > *greatest { value } else { *greatest };
        }
    }
    (
        least.into_iter().fold(f64::INFINITY, f64::min),
        greatest.into_iter().fold(f64::NEG_INFINITY, f64::max),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(values: &[f64], profile: Profile, detail: Detail) -> DataSet {
        DataSet::new(Vec::new(), Values::from_slice(values), profile, detail)
    }

    #[test]
    fn the_median_follows_the_profile() {
        let values = [4.0, 1.0, 3.0, 2.0];
        assert_eq!(set(&values, Profile::Debian2015, Detail::Exact).median, 3.0);
        assert_eq!(set(&values, Profile::Newest, Detail::Exact).median, 2.5);
        for profile in [Profile::Debian2015, Profile::Newest] {
            assert_eq!(set(&values[1..], profile, Detail::Exact).median, 2.0);
        }
    }

    #[test]
    fn plain_sums_lose_what_two_passes_keep() {
        let values = [1e9, 1e9 + 1.0, 1e9 + 2.0];
        assert_eq!(set(&values, Profile::Newest, Detail::Exact).variance, 1.0);
        assert_eq!(
            set(&values, Profile::Debian2015, Detail::Exact).variance,
            0.0
        );
    }

    #[test]
    fn selection_prints_what_sorting_prints() {
        let seed = 20_100_607_u64;
        println!("seed {seed}");
        let mut state = seed;
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as f64 / f64::from(1_u32 << 31)
        };
        for round in 0..60 {
            let count = LARGE + round % 7;
            let scale = 10_f64.powi(round as i32 % 13 - 6);
            let values: Vec<f64> = (0..count)
                .map(|_| ((next() + next()) * 1e4).round() * scale + f64::from(round as u32 % 3))
                .collect();
            for profile in [Profile::Debian2015, Profile::Newest] {
                let [quick, exact] =
                    [Detail::AsPrinted, Detail::Exact].map(|detail| set(&values, profile, detail));
                let print = |set: &DataSet| {
                    [
                        set.minimum,
                        set.maximum,
                        set.median,
                        set.average,
                        set.standard_deviation(),
                    ]
                    .map(|value| general(value, PRINTED_DIGITS, true))
                };
                assert_eq!(print(&quick), print(&exact), "round {round}");
                assert_eq!(quick.median.to_bits(), exact.median.to_bits());
            }
        }
    }
}
