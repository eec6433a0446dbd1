//! Ranks, with equal values sharing theirs.

/// The rank of every value, from 1; equal values all have the mean of their ranks.
pub(crate) fn midranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_unstable_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0.0; values.len()];
    let mut first = 0;
    // Zero equals minus zero, which a total order keeps side by side.
    for group in order.chunk_by(|a, b| values[*a] == values[*b]) {
        let rank = first as f64 + (group.len() + 1) as f64 / 2.0;
        for place in group {
            ranks[*place] = rank;
        }
        first += group.len();
    }
    ranks
}

/// `Σ (t³ - t)` over the groups of t equal ranks.
pub(crate) fn tie_term(ranks: &[f64]) -> f64 {
    let mut sorted = ranks.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted
        .chunk_by(|a, b| a == b)
        .map(|group| {
            let t = group.len() as f64;
            t * t * t - t
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_share_their_rank() {
        assert_eq!(
            midranks(&[3.0, 1.0, 3.0, 0.0, -0.0]),
            [4.5, 3.0, 4.5, 1.5, 1.5]
        );
        assert_eq!(tie_term(&[4.5, 3.0, 4.5, 1.5, 1.5]), 12.0);
        assert!(midranks(&[]).is_empty());
    }
}
