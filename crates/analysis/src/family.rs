//! Which treatments are compared, and what asking so many times costs.

use knobstat_data::experiment::Correction;
use knobstat_data::plan::PlannedTreatment;
use knobstat_data::{Experiment, Plan, Treatment};
use knobstat_stats::comparisons::{benjamini_hochberg, holm};

/// A treatment and what it is compared with, as indices into the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pair {
    /// The treatment.
    pub treatment: usize,
    /// Its baseline.
    pub baseline: usize,
}

/// Every comparison that an experiment asks for: the family over which its error rate holds.
/// With Tukey's correction these are all pairs of treatments under each combination of the factors
/// that the baseline leaves out, else every treatment against its baseline.
pub fn of(experiment: &Experiment, plan: &Plan) -> Vec<Pair> {
    let baseline = &experiment.analysis.baseline;
    match experiment.analysis.correction {
        Correction::Tukey => all_pairs(&plan.treatments, baseline),
        _ => pairs(&plan.treatments, baseline),
    }
}

/// The treatments that take part, in groups that share the levels of every factor that the
/// baseline leaves out; each group begins with its baseline, or with the first that takes part.
pub(crate) fn groups(treatments: &[PlannedTreatment], baseline: &Treatment) -> Vec<Vec<usize>> {
    let factors: Vec<&str> = baseline
        .settings
        .iter()
        .map(|setting| setting.factor.as_str())
        .collect();
    let mut groups: Vec<(Treatment, Vec<usize>)> = Vec::new();
    for (index, planned) in treatments.iter().enumerate() {
        if planned.omitted.is_some() {
            continue;
        }
        let held = planned.treatment.without(&factors);
        match groups.iter_mut().find(|(known, _)| *known == held) {
            Some((_, members)) => members.push(index),
            None => groups.push((held, vec![index])),
        }
    }
    groups
        .into_iter()
        .map(|(_, mut members)| {
            let first = members
                .iter()
                .position(|index| treatments[*index].treatment.agrees_with(baseline))
                .unwrap_or(0);
            members[..=first].rotate_right(1);
            members
        })
        .collect()
}

/// All pairs within each group: the later against the earlier, the baseline first.
fn all_pairs(treatments: &[PlannedTreatment], baseline: &Treatment) -> Vec<Pair> {
    let mut pairs = Vec::new();
    for members in groups(treatments, baseline) {
        for (place, baseline) in members.iter().enumerate() {
            pairs.extend(members[place + 1..].iter().map(|treatment| Pair {
                treatment: *treatment,
                baseline: *baseline,
            }));
        }
    }
    pairs
}

/// Every treatment against its baseline.
///
/// A baseline that leaves factors out stands for one baseline under each combination of those
/// factors. Where the baseline itself does not take part, the first treatment that does stands in
/// for it.
fn pairs(treatments: &[PlannedTreatment], baseline: &Treatment) -> Vec<Pair> {
    let mut pairs: Vec<Pair> = groups(treatments, baseline)
        .into_iter()
        .flat_map(|members| {
            let baseline = members[0];
            members.into_iter().skip(1).map(move |treatment| Pair {
                treatment,
                baseline,
            })
        })
        .collect();
    pairs.sort_by_key(|pair| pair.treatment);
    pairs
}

/// One comparison's place in its family.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Adjusted {
    /// The p-value adjusted for the family.
    pub p: f64,
    /// The error rate at which this comparison by itself was tested: its interval at the
    /// confidence `1 - alpha` holds zero exactly when the adjusted p-value is above the family's
    /// alpha.
    pub alpha: f64,
}

/// Adjusts the p-values of a family; a comparison without one counts as one that shows nothing,
/// so that a family does not shrink when a run is lost.
///
/// Holm's procedure tests the smallest p-value at alpha/m, the next at alpha/(m-1), and so on
/// until one fails, which fails all that are left. Benjamini and Hochberg's tests all at alpha
/// R/m, where R are found (Benjamini and Yekutieli 2005 on the intervals).
///
/// For Dunnett's and Tukey's tests, which are not made of single p-values, Holm's procedure stands
/// in here, as where the tests themselves cannot be made.
pub fn adjust(p_values: &[Option<f64>], correction: Correction, alpha: f64) -> Vec<Adjusted> {
    let p_values: Vec<f64> = p_values.iter().map(|p| p.unwrap_or(1.0)).collect();
    let size = p_values.len() as f64;
    let with = |adjusted: Vec<f64>, level: &dyn Fn(usize) -> f64| {
        adjusted
            .into_iter()
            .enumerate()
            .map(|(place, p)| Adjusted {
                p,
                alpha: level(place),
            })
            .collect()
    };
    match correction {
        Correction::None => with(p_values, &|_| alpha),
        Correction::BenjaminiHochberg => {
            let adjusted = benjamini_hochberg(&p_values);
            let found = adjusted.iter().filter(|p| **p <= alpha).count().max(1) as f64;
            with(adjusted, &|_| alpha * found / size)
        }
        Correction::Holm | Correction::Dunnett | Correction::Tukey => {
            let adjusted = holm(&p_values);
            let mut order: Vec<usize> = (0..p_values.len()).collect();
            order.sort_by(|a, b| {
                adjusted[*a]
                    .total_cmp(&adjusted[*b])
                    .then(p_values[*a].total_cmp(&p_values[*b]))
            });
            let found = adjusted.iter().filter(|p| **p <= alpha).count();
            let mut rank = vec![0; p_values.len()];
            for (place, comparison) in order.into_iter().enumerate() {
                rank[comparison] = place.min(found);
            }
            with(adjusted, &|place| alpha / (size - rank[place] as f64))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use knobstat_data::words::Setting;

    fn factorial() -> Vec<PlannedTreatment> {
        let mut treatments = Vec::new();
        for clock in ["jiffies", "tsc", "acpi_pm"] {
            for size in [64, 128] {
                treatments.push(PlannedTreatment {
                    treatment: Treatment::new([
                        Setting::new("clocksource", clock),
                        Setting::new("packet_size", size),
                    ]),
                    omitted: None,
                });
            }
        }
        treatments
    }

    fn found(treatments: &[PlannedTreatment], baseline: &[Setting]) -> Vec<(usize, usize)> {
        pairs(treatments, &Treatment::new(baseline.iter().cloned()))
            .into_iter()
            .map(|pair| (pair.treatment, pair.baseline))
            .collect()
    }

    #[test]
    fn a_partial_baseline_is_one_baseline_in_each_combination() {
        let baseline = [Setting::new("clocksource", "tsc")];
        assert_eq!(
            found(&factorial(), &baseline),
            [(0, 2), (1, 3), (4, 2), (5, 3)]
        );
    }

    #[test]
    fn a_full_baseline_is_compared_with_all_others() {
        let baseline = [
            Setting::new("clocksource", "tsc"),
            Setting::new("packet_size", 128),
        ];
        assert_eq!(
            found(&factorial(), &baseline),
            [(0, 3), (1, 3), (2, 3), (4, 3), (5, 3)]
        );
    }

    #[test]
    fn a_baseline_that_is_omitted_has_a_stand_in() {
        let mut treatments = factorial();
        treatments[2].omitted = Some("not here".to_owned());
        let baseline = [Setting::new("clocksource", "tsc")];
        assert_eq!(found(&treatments, &baseline), [(1, 3), (4, 0), (5, 3)]);
    }

    #[test]
    fn the_level_of_each_comparison_agrees_with_its_adjusted_value() {
        let p = [0.04, 0.001, 0.3, 0.012, 0.02, 0.02].map(Some);
        for correction in [
            Correction::Holm,
            Correction::BenjaminiHochberg,
            Correction::None,
        ] {
            for alpha in [0.01, 0.05, 0.1, 0.5] {
                for (adjusted, p) in adjust(&p, correction, alpha).iter().zip(p) {
                    assert_eq!(
                        adjusted.p <= alpha,
                        p.is_some_and(|p| p <= adjusted.alpha),
                        "{correction:?} {alpha} {p:?} {adjusted:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_lost_comparison_does_not_shrink_the_family() {
        let adjusted = adjust(&[Some(0.02), None, None], Correction::Holm, 0.05);
        assert!((adjusted[0].p - 0.06).abs() < 1e-12);
        assert!((adjusted[0].alpha - 0.05 / 3.0).abs() < 1e-12);
    }
}
