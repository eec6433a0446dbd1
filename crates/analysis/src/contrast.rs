//! What a treatment and its baseline differ in, and what a sentence calls them.

use knobstat_data::{Metric, Treatment};
use knobstat_stats::Degenerate;

use crate::phrase;
use crate::verdict::{Names, NoEstimate};

/// How the levels of a treatment stand to those of its baseline.
pub(crate) struct Contrast {
    /// The treatment's levels that differ.
    pub(crate) differing: Treatment,
    /// The baseline's levels of the same factors.
    pub(crate) differing_baseline: Treatment,
    /// The levels that both share.
    pub(crate) held: Treatment,
}

impl Contrast {
    pub(crate) fn of(levels: &Treatment, against: &Treatment) -> Self {
        let factors: Vec<&str> = levels
            .settings
            .iter()
            .filter(|setting| against.level(&setting.factor) != Some(&setting.level))
            .map(|setting| setting.factor.as_str())
            .collect();
        let only = |treatment: &Treatment| {
            Treatment::new(
                treatment
                    .settings
                    .iter()
                    .filter(|setting| factors.contains(&setting.factor.as_str()))
                    .cloned(),
            )
        };
        Self {
            differing: only(levels),
            differing_baseline: only(against),
            held: levels.without(&factors),
        }
    }

    /// What a sentence about a metric calls the two.
    pub(crate) fn names<'a>(&self, metric: &'a Metric) -> Names<'a> {
        Names {
            at: phrase::at(&self.held),
            set: phrase::levels(&self.differing),
            baseline: phrase::levels(&self.differing_baseline),
            metric: &metric.name,
            unit: metric.unit.to_string(),
        }
    }
}

/// How many values there are.
pub(crate) struct Counts {
    pub(crate) treatment: usize,
    pub(crate) baseline: usize,
    /// Blocks that have both.
    pub(crate) common: usize,
}

/// Why treatments so named, with so many values, have no estimate of their difference.
pub(crate) fn no_estimate(names: &Names, counts: &Counts, reason: &Degenerate) -> NoEstimate {
    let (at, treatment, baseline) = (&names.at, &names.set, &names.baseline);
    let metric = names.metric;
    let sentence = match (counts.treatment, counts.baseline, counts.common) {
        (0, 0, _) => format!(
            "{at}neither {treatment} nor {baseline} has a value of {metric}, so nothing can be \
             said; see why their runs failed."
        ),
        (0, _, _) | (_, 0, _) => {
            let missing = if counts.treatment == 0 {
                treatment
            } else {
                baseline
            };
            format!(
                "{at}{missing} has no value of {metric}, so it cannot be compared; see why its \
                 runs failed."
            )
        }
        (_, _, 0) => format!(
            "{at}{treatment} and {baseline} have no block in common, so there is no difference \
             to judge; run more blocks."
        ),
        (_, _, 1) => format!(
            "{at}{treatment} and {baseline} have one block in common: a single difference does \
             not show how much it would vary. Run at least two blocks, better six."
        ),
        _ => match reason {
            Degenerate::ZeroVariance { value: 0.0, .. } => format!(
                "{at}every {metric} of {treatment} and of {baseline} is the same and no step of \
                 the scale is known, so nothing can be said of their difference; measure more \
                 finely."
            ),
            other => format!("{at}{treatment} and {baseline} cannot be compared: {other}."),
        },
    };
    let only_too_few = counts.common < 2 && counts.treatment > 0 && counts.baseline > 0;
    NoEstimate {
        sentence,
        more: only_too_few.then(|| 2 - counts.common as u64),
    }
}
