//! P-values adjusted for the number of comparisons.
//!
//! Input values outside 0 to 1, or that are not numbers, count as 1: what is no p-value is no
//! evidence. All results are in the order of the input.

pub(super) fn as_probability(p: &f64) -> f64 {
    if p.is_nan() { 1.0 } else { p.clamp(0.0, 1.0) }
}

/// The places of the values, from the smallest value to the largest.
pub(super) fn order(p_values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|a, b| as_probability(&p_values[*a]).total_cmp(&as_probability(&p_values[*b])));
    order
}

/// Bonferroni: every p-value times their number. Controls the chance of any false alarm.
pub fn bonferroni(p_values: &[f64]) -> Vec<f64> {
    let family = p_values.len() as f64;
    p_values
        .iter()
        .map(|p| (as_probability(p) * family).min(1.0))
        .collect()
}

/// Holm (1979): the smallest times k, the next times k - 1, and so on, never falling. Controls the
/// chance of any false alarm under any dependence, and rejects all that Bonferroni rejects.
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let family = p_values.len();
    let mut adjusted = vec![1.0; family];
    let mut largest = 0.0_f64;
    for (rank, place) in order(p_values).into_iter().enumerate() {
        let stepped = as_probability(&p_values[place]) * (family - rank) as f64;
        largest = largest.max(stepped.min(1.0));
        adjusted[place] = largest;
    }
    adjusted
}

/// Benjamini and Hochberg (1995): controls the expected share of false alarms among the alarms,
/// for independent or positively dependent tests. For exploring, not for verdicts.
pub fn benjamini_hochberg(p_values: &[f64]) -> Vec<f64> {
    let family = p_values.len() as f64;
    let mut adjusted = vec![1.0; p_values.len()];
    let mut smallest = 1.0_f64;
    for (rank, place) in order(p_values).into_iter().enumerate().rev() {
        let stepped = as_probability(&p_values[place]) * family / (rank + 1) as f64;
        smallest = smallest.min(stepped);
        adjusted[place] = smallest;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    const P: [f64; 10] = [0.001, 0.008, 0.012, 0.02, 0.041, 0.042, 0.06, 0.2, 0.5, 0.9];

    fn close(found: &[f64], wanted: &[f64]) {
        for (found, wanted) in found.iter().zip(wanted) {
            assert!((found - wanted).abs() < 1e-15, "{found} {wanted}");
        }
    }

    #[test]
    fn agree_with_an_independent_implementation() {
        close(
            &bonferroni(&P),
            &[0.01, 0.08, 0.12, 0.2, 0.41, 0.42, 0.6, 1.0, 1.0, 1.0],
        );
        close(
            &holm(&P),
            &[0.01, 0.072, 0.096, 0.14, 0.246, 0.246, 0.246, 0.6, 1.0, 1.0],
        );
        let bh = [
            0.01,
            0.04,
            0.04,
            0.05,
            0.07,
            0.07,
            0.6 / 7.0,
            0.25,
            5.0 / 9.0,
            0.9,
        ];
        close(&benjamini_hochberg(&P), &bh);
    }

    #[test]
    fn order_is_kept_and_no_number_is_no_evidence() {
        close(&holm(&[0.04, 0.01]), &[0.04, 0.02]);
        close(&holm(&[f64::NAN, 0.01]), &[1.0, 0.02]);
        assert!(holm(&[]).is_empty());
    }
}
