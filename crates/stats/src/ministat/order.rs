//! Sorting and selection, with the order that the original's sort gives to equals and NaNs.

use std::cmp::Ordering;

/// Sorts `values` ascending. `has_special`: NaNs or negative zeros may be among them.
pub(super) fn sort(values: &mut [f64], has_special: bool) {
    if has_special {
        // To the original's comparison a NaN equals everything, which is no order, and -0 equals
        // 0, which is seen when printed; so its very merges are made.
        let mut spare = values.to_vec();
        merge_sort(values, &mut spare);
    } else {
        values.sort_unstable_by(f64::total_cmp);
    }
}

/// The C library's merge sort: the lower half is the smaller one, and a value from it goes first
/// unless it is greater.
fn merge_sort(values: &mut [f64], spare: &mut [f64]) {
    let count = values.len();
    if count < 2 {
        return;
    }
    let (lower, upper) = values.split_at_mut(count / 2);
    merge_sort(lower, &mut spare[..count / 2]);
    merge_sort(upper, &mut spare[count / 2..]);
    let (mut low, mut high) = (0, 0);
    for slot in spare.iter_mut() {
        let take_low = match (lower.get(low), upper.get(high)) {
            (Some(low), Some(high)) => low.partial_cmp(high) != Some(Ordering::Greater),
            (Some(_), None) => true,
            (None, _) => false,
        };
        *slot = if take_low {
            low += 1;
            lower[low - 1]
        } else {
            high += 1;
            upper[high - 1]
        };
    }
    values.copy_from_slice(spare);
}

/// The two middle values, the same one twice when the count is odd. Reorders `values`, of which
/// none is special and there is at least one.
pub(super) fn middle(values: &mut [f64]) -> (f64, f64) {
    let count = values.len();
    let (below, &mut upper, _) = values.select_nth_unstable_by(count / 2, f64::total_cmp);
    if count % 2 == 1 {
        return (upper, upper);
    }
    let lower = below.iter().copied().max_by(f64::total_cmp);
    (lower.unwrap_or(upper), upper)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bits(values: &[f64]) -> Vec<u64> {
        values.iter().map(|value| value.to_bits()).collect()
    }

    #[test]
    fn nans_stay_where_the_merges_leave_them() {
        // As Debian's ministat orders them: its minimum, median and maximum show it.
        let mut values = vec![5.0, f64::NAN, 3.0, 1.0, f64::NAN, 9.0, 2.0];
        sort(&mut values, true);
        assert_eq!((values[0], values[3], values[6]), (1.0, 3.0, 9.0));
    }

    #[test]
    fn zeros_keep_their_order() {
        let mut values = vec![0.0, -0.0, -0.0];
        sort(&mut values, true);
        assert_eq!(bits(&values), bits(&[0.0, -0.0, -0.0]));
    }

    proptest! {
        #[test]
        fn both_sorts_agree_on_plain_values(
            values in prop::collection::vec((-50..50_i32).prop_map(|n| f64::from(n) + 0.5), 1..200)
        ) {
            let (mut merged, mut quick) = (values.clone(), values.clone());
            sort(&mut merged, true);
            sort(&mut quick, false);
            prop_assert_eq!(&merged, &quick);
            let mut selected = values;
            let count = quick.len();
            prop_assert_eq!(
                middle(&mut selected),
                (quick[(count - 1) / 2], quick[count / 2])
            );
        }
    }
}
