//! The interval of a ratio of two means, measured in the same blocks or independently (Fieller 1954).

use knobstat_stats::Interval;

/// The interval of mean(treatment)/mean(baseline) - 1 from paired values: every ratio R for which
/// a t test of the mean of `treatment - R baseline` stays below the critical value. It holds zero
/// exactly when the paired t test of the difference does. The sign is that of a difference in
/// units of the baseline's magnitude.
///
/// None where the baseline's mean cannot be told from zero at that critical value, so that the
/// ratio has no bounds, or where the result is no finite number.
pub(crate) fn relative_change(
    treatment: &[f64],
    baseline: &[f64],
    critical: f64,
) -> Option<Interval> {
    let n = treatment.len() as f64;
    // In units of the baseline's mean, so that squares neither over- nor underflow.
    let unit = (baseline.iter().sum::<f64>() / n).abs();
    if !(unit.is_finite() && unit > 0.0) {
        return None;
    }
    let scaled = |values: &[f64]| values.iter().map(|value| value / unit).collect::<Vec<_>>();
    let (treatment, baseline) = (scaled(treatment), scaled(baseline));
    // The ratio's distance from one is small and its digits matter, so the equation is solved for
    // it: with d = treatment - baseline, every x for which d - x baseline has no proven mean.
    let difference: Vec<f64> = treatment
        .iter()
        .zip(&baseline)
        .map(|(treatment, baseline)| treatment - baseline)
        .collect();
    let mean = |values: &[f64]| values.iter().sum::<f64>() / n;
    let (mean_difference, mean_baseline) = (mean(&difference), mean(&baseline));
    let covariance = |a: &[f64], mean_a: f64, b: &[f64], mean_b: f64| {
        a.iter()
            .zip(b)
            .map(|(a, b)| (a - mean_a) * (b - mean_b))
            .sum::<f64>()
            / (n - 1.0)
    };
    let spread = Spread {
        difference: covariance(&difference, mean_difference, &difference, mean_difference) / n,
        baseline: covariance(&baseline, mean_baseline, &baseline, mean_baseline) / n,
        both: covariance(&difference, mean_difference, &baseline, mean_baseline) / n,
    };
    bounds(mean_difference, mean_baseline, spread, critical)
}

/// The same for two independent samples, from the mean of each and its standard error.
pub(crate) fn relative_change_of_independent(
    (treatment, treatment_error): (f64, f64),
    (baseline, baseline_error): (f64, f64),
    critical: f64,
) -> Option<Interval> {
    let unit = baseline.abs();
    if !(unit.is_finite() && unit > 0.0) {
        return None;
    }
    let variance = |error: f64| (error / unit) * (error / unit);
    let (of_treatment, of_baseline) = (variance(treatment_error), variance(baseline_error));
    let spread = Spread {
        difference: of_treatment + of_baseline,
        baseline: of_baseline,
        // The baseline enters the difference with a minus sign.
        both: -of_baseline,
    };
    bounds(
        (treatment - baseline) / unit,
        baseline / unit,
        spread,
        critical,
    )
}

/// The variances of the mean difference and of the baseline's mean, and their covariance.
struct Spread {
    difference: f64,
    baseline: f64,
    both: f64,
}

/// Every x for which `difference - x baseline` stays below the critical value.
fn bounds(difference: f64, baseline: f64, spread: Spread, critical: f64) -> Option<Interval> {
    let weight = critical * critical;
    // leading x² - 2 middle x + constant <= 0
    let leading = baseline * baseline - weight * spread.baseline;
    let middle = difference * baseline - weight * spread.both;
    let constant = difference * difference - weight * spread.difference;
    let discriminant = middle * middle - leading * constant;
    if leading.is_nan() || leading <= 0.0 || discriminant.is_nan() || discriminant < 0.0 {
        return None;
    }
    let root = discriminant.sqrt();
    // The root of larger magnitude is exact; the other follows from their product.
    let large = (middle + root.copysign(middle)) / leading;
    let small = if large == 0.0 {
        0.0
    } else {
        constant / (leading * large)
    };
    let (low, high) = (large.min(small), large.max(small));
    let interval = Interval { low, high }.scaled(baseline.signum());
    (interval.low.is_finite() && interval.high.is_finite()).then_some(interval)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_steady_baseline_gives_the_plain_interval() {
        // Treatment 2, 3, 4 against a constant 1: the mean difference is 2, its error 1/sqrt 3.
        let found = relative_change(&[2.0, 3.0, 4.0], &[1.0; 3], 3.0).unwrap();
        let reach = 3.0 / 3.0_f64.sqrt();
        assert!((found.low - (2.0 - reach)).abs() < 1e-12);
        assert!((found.high - (2.0 + reach)).abs() < 1e-12);
    }

    #[test]
    fn proportional_values_have_an_exact_ratio() {
        let found = relative_change(&[1.1, 2.2, 3.3], &[1.0, 2.0, 3.0], 2.0).unwrap();
        assert!((found.low - 0.1).abs() < 1e-6 && (found.high - 0.1).abs() < 1e-6);
    }

    #[test]
    fn independent_means_agree_with_fiellers_theorem() {
        // Means 10 and 12 with standard errors 0.5 and 0.4; t = 2: in units of the baseline the bounds
        // are (1.2 ± 2 sqrt(0.0016 (1 - 0.01) + 1.44 0.0025)) / (1 - 0.01), less one.
        let found = relative_change_of_independent((12.0, 0.4), (10.0, 0.5), 2.0).unwrap();
        let reach = 2.0 * (0.0016_f64 * 0.99 + 1.44 * 0.0025).sqrt();
        assert!(
            (found.low - ((1.2 - reach) / 0.99 - 1.0)).abs() < 1e-12,
            "{found:?}"
        );
        assert!(
            (found.high - ((1.2 + reach) / 0.99 - 1.0)).abs() < 1e-12,
            "{found:?}"
        );
        let about_zero = relative_change_of_independent((1.0, 0.3), (0.5, 0.3), 2.0);
        assert_eq!(about_zero, None);
    }

    #[test]
    fn a_baseline_about_zero_has_no_ratio() {
        assert_eq!(relative_change(&[1.0, 2.0], &[-1.0, 1.5], 12.7), None);
        assert_eq!(relative_change(&[1.0, 2.0], &[0.0, 0.0], 1.0), None);
    }

    #[test]
    fn a_negative_baseline_keeps_the_sign_of_the_difference() {
        let found = relative_change(&[-1.0, -1.1, -0.9], &[-2.0, -2.1, -2.0], 4.3).unwrap();
        assert!(found.low > 0.0, "{found:?}");
    }
}
