//! Exact distributions of rank sums, ties included, by counting.

/// The distribution of a sum of doubled ranks.
pub(super) struct RankSums {
    /// The probability of each sum.
    probabilities: Vec<f64>,
    /// The mean of the sum.
    centre: f64,
}

impl RankSums {
    /// The sum over a random half of signs: every doubled rank counts or not, each with
    /// probability 1/2.
    pub(super) fn of_signs(doubled_ranks: &[usize]) -> Self {
        let total: usize = doubled_ranks.iter().sum();
        let mut probabilities = vec![0.0; total + 1];
        probabilities[0] = 1.0;
        let mut reach = 0;
        for rank in doubled_ranks {
            for sum in (0..=reach).rev() {
                let half = probabilities[sum] / 2.0;
                probabilities[sum] = half;
                probabilities[sum + rank] += half;
            }
            reach += rank;
        }
        Self {
            probabilities,
            centre: total as f64 / 2.0,
        }
    }

    /// The sum over a random choice of `chosen` of the doubled ranks.
    pub(super) fn of_choices(doubled_ranks: &[usize], chosen: usize) -> Self {
        let total: usize = doubled_ranks.iter().sum();
        let n = doubled_ranks.len();
        // ways[k][s]: the probability, so far, that k were chosen with sum s. Choosing the next
        // with probability (chosen - k) / (rest) keeps all numbers between 0 and 1.
        let mut ways = vec![vec![0.0; total + 1]; chosen + 1];
        ways[0][0] = 1.0;
        let mut reach = 0;
        for (seen, rank) in doubled_ranks.iter().enumerate() {
            let rest = (n - seen) as f64;
            for k in (0..=chosen.min(seen)).rev() {
                let take = (chosen - k) as f64 / rest;
                for sum in (0..=reach).rev() {
                    let here = ways[k][sum];
                    if here > 0.0 {
                        ways[k][sum] = here * (1.0 - take).max(0.0);
                        if k < chosen {
                            ways[k + 1][sum + rank] += here * take;
                        }
                    }
                }
            }
            reach += rank;
        }
        Self {
            probabilities: ways.swap_remove(chosen),
            centre: chosen as f64 * total as f64 / n as f64,
        }
    }

    /// The probability of a sum at least as far from the mean as `doubled_sum`.
    pub(super) fn two_sided(&self, doubled_sum: f64) -> f64 {
        // All sums are whole and the centre a multiple of 1/n: less than this is rounding.
        let distance = (doubled_sum - self.centre).abs() - 1e-7;
        let p: f64 = self
            .probabilities
            .iter()
            .enumerate()
            .filter(|(sum, _)| (*sum as f64 - self.centre).abs() >= distance)
            .map(|(_, probability)| probability)
            .sum();
        p.min(1.0)
    }

    /// The largest doubled sum with `P(sum <= it) <= tail`; none where even the smallest has more.
    pub(super) fn lower_critical(&self, tail: f64) -> Option<usize> {
        let mut below = 0.0;
        let mut critical = None;
        for (sum, probability) in self.probabilities.iter().enumerate() {
            below += probability;
            if below > tail {
                break;
            }
            critical = Some(sum);
        }
        critical
    }
}

/// Ranks doubled, so that shared ranks are whole.
pub(super) fn doubled(ranks: &[f64]) -> Vec<usize> {
    ranks.iter().map(|rank| (2.0 * rank) as usize).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_cases_by_hand() {
        let signs = RankSums::of_signs(&[2, 4, 6]);
        assert_eq!(signs.two_sided(12.0), 0.25);
        assert_eq!(signs.two_sided(6.0), 1.0);
        assert_eq!(signs.lower_critical(0.125), Some(1));
        assert_eq!(signs.lower_critical(0.1), None);
        let choices = RankSums::of_choices(&[2, 4, 6, 8], 2);
        assert!((choices.two_sided(6.0) - 2.0 / 6.0).abs() < 1e-15);
        let tied = RankSums::of_choices(&[3, 3, 6, 8], 2);
        assert!((tied.two_sided(6.0) - 2.0 / 6.0).abs() < 1e-15);
    }
}
