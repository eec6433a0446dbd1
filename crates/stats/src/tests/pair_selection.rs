//! Order statistics of all sums of pairs, without making the pairs.
//!
//! Of n·m differences, or n(n+1)/2 means of pairs, the k-th smallest is found by bisection on the
//! bits of the answer, with one walk over the sorted values a step: no memory, and at most 64 walks.

/// A double as a whole number of the same order.
fn to_ordered(value: f64) -> u64 {
    let bits = value.to_bits();
    if bits >> 63 == 1 {
        !bits
    } else {
        bits | 1 << 63
    }
}

fn from_ordered(ordered: u64) -> f64 {
    f64::from_bits(if ordered >> 63 == 1 {
        ordered & !(1 << 63)
    } else {
        !ordered
    })
}

/// The smallest double of which `count_up_to` gives at least `k` pairs.
fn select(k: u64, count_up_to: impl Fn(f64) -> u64) -> f64 {
    let (mut low, mut high) = (to_ordered(f64::MIN), to_ordered(f64::MAX));
    while low < high {
        let middle = low + (high - low) / 2;
        if count_up_to(from_ordered(middle)) >= k {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    // Adding zero turns minus zero into zero.
    from_ordered(low) + 0.0
}

/// The k-th smallest (from 1) of all `other[j] - reference[i]`, both sorted.
pub(super) fn difference(reference: &[f64], other: &[f64], k: u64) -> f64 {
    select(k, |limit| {
        // As the reference rises, more of the other's values stay below it plus the limit.
        let (mut count, mut within) = (0_u64, 0);
        for value in reference {
            while within < other.len() && other[within] - value <= limit {
                within += 1;
            }
            count += within as u64;
        }
        count
    })
}

/// The k-th smallest (from 1) of all `(x[i] + x[j]) / 2` with i <= j, x sorted.
pub(super) fn walsh_average(sorted: &[f64], k: u64) -> f64 {
    select(k, |limit| {
        let (mut count, mut end) = (0_u64, sorted.len());
        for (first, value) in sorted.iter().enumerate() {
            while end > first && value / 2.0 + sorted[end - 1] / 2.0 > limit {
                end -= 1;
            }
            if end <= first {
                break;
            }
            count += (end - first) as u64;
        }
        count
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    proptest! {
    #![proptest_config(ProptestConfig {
        cases: 128,
        rng_seed: RngSeed::Fixed(4),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

        #[test]
        fn the_same_as_sorting_all_pairs(
            a in prop::collection::vec(-100i32..100, 1..12),
            b in prop::collection::vec(-100i32..100, 1..12),
        ) {
            let sorted = |values: &[i32]| {
                let mut values: Vec<f64> = values.iter().map(|v| f64::from(*v) / 8.0).collect();
                values.sort_by(f64::total_cmp);
                values
            };
            let (a, b) = (sorted(&a), sorted(&b));
            let mut pairs: Vec<f64> =
                a.iter().flat_map(|x| b.iter().map(move |y| y - x)).collect();
            pairs.sort_by(f64::total_cmp);
            for (k, wanted) in pairs.iter().enumerate() {
                prop_assert_eq!(difference(&a, &b, k as u64 + 1), *wanted);
            }
            let mut means: Vec<f64> = (0..a.len())
                .flat_map(|i| (i..a.len()).map(move |j| (i, j)))
                .map(|(i, j)| (a[i] + a[j]) / 2.0)
                .collect();
            means.sort_by(f64::total_cmp);
            for (k, wanted) in means.iter().enumerate() {
                prop_assert_eq!(walsh_average(&a, k as u64 + 1), *wanted);
            }
        }
    }
}
