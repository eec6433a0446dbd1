//! Treatments whose values fall into two clusters, lie far from the rest, or spread unlike those
//! of the others.

use knobstat_data::Treatment;
use knobstat_stats::anova::one_way;
use knobstat_stats::health::{TwoModes, bimodality, outliers};
use knobstat_stats::summary::median;

use super::{Context, SURPRISING};
use crate::analysis::{Caveat, Method};
use crate::observations::Observed;
use crate::phrase;

pub(super) fn check(context: &Context) -> Vec<Caveat> {
    let name = |index: usize| &context.record.plan.treatments[index].treatment;
    let mut clustered: Vec<(&Treatment, Clusters)> = Vec::new();
    let mut far: Vec<String> = Vec::new();
    for (index, cell) in context.values.iter().enumerate() {
        let values = plain(cell);
        if let Ok(Some(modes)) = bimodality(&values) {
            let clusters = Clusters {
                modes,
                values: values.len(),
            };
            clustered.push((name(index), clusters));
        } else if let Ok(places) = outliers(&values) {
            far.extend(places.into_iter().filter_map(|place| {
                let observed = cell.get(place)?;
                let value = phrase::significant(observed.value, 4);
                Some(format!(
                    "{value} in block {} of {}",
                    observed.block + 1,
                    name(index)
                ))
            }));
        }
    }
    let mut caveats = two_clusters(&clustered);
    if !far.is_empty() {
        caveats.push(Caveat {
            kind: "outliers",
            sentence: format!(
                "Far from the rest {} {}; {} kept and counted.",
                if far.len() == 1 { "lies" } else { "lie" },
                phrase::list_of_some(&far, "and"),
                if far.len() == 1 { "it is" } else { "they are" },
            ),
        });
    }
    caveats.extend(unequal_spread(context));
    caveats
}

/// The two clusters of a treatment's values.
struct Clusters {
    modes: TwoModes,
    /// How many values there are.
    values: usize,
}

/// Of more treatments than this it is said once that their values fall into two clusters.
const MOST_BY_THEMSELVES: usize = 4;

fn two_clusters(clustered: &[(&Treatment, Clusters)]) -> Vec<Caveat> {
    let about = |Clusters { modes, values }: &Clusters| {
        format!(
            "{} about {} and {} about {}",
            modes.lower_count,
            phrase::significant(modes.lower, 4),
            values - modes.lower_count,
            phrase::significant(modes.upper, 4),
        )
    };
    let caveat = |whose: &str, how: &str| Caveat {
        kind: "two-clusters",
        sentence: format!(
            "The values of {whose} fall into two clusters{how}: something has two states there, \
             and the mean describes neither."
        ),
    };
    match clustered {
        [(first, clusters), ..] if clustered.len() > MOST_BY_THEMSELVES => {
            let names: Vec<&Treatment> = clustered.iter().map(|(name, _)| *name).collect();
            let how = format!(" each, as those of {first} do, {}", about(clusters));
            vec![caveat(&phrase::list_of_some(&names, "and"), &how)]
        }
        few => few
            .iter()
            .map(|(name, clusters)| caveat(&name.to_string(), &format!(", {}", about(clusters))))
            .collect(),
    }
}

fn plain(cell: &[Observed]) -> Vec<f64> {
    cell.iter().map(|observed| observed.value).collect()
}

/// Where one error for all was asked for, treatments count as varying unlike each other at this
/// p-value: it is a condition of the test and not only a matter of health.
const DOUBTFUL: f64 = 0.05;

/// Whether some treatments vary more than others, where a test takes one error for all: Dunnett's
/// and Tukey's, and those of the main effects and interactions.
fn unequal_spread(context: &Context) -> Option<Caveat> {
    let p = p_of_equal_spread(context)?;
    let mut methods = context.comparisons.iter().filter_map(|one| one.method);
    if methods.any(|method| matches!(method, Method::Dunnett | Method::Tukey)) && p <= DOUBTFUL {
        return Some(Caveat {
            kind: "unequal-spread",
            sentence: format!(
                "Some treatments vary more than others (p = {}), and the test that was asked for \
                 takes one error for all: false alarms are likelier than the confidence says. \
                 correction = \"holm\" judges each comparison by its own error.",
                phrase::probability(p)
            ),
        });
    }
    let concerns_effects =
        context.record.experiment.factors.len() > 1 && context.effects_untested.is_none();
    (concerns_effects && p <= SURPRISING).then(|| Caveat {
        kind: "unequal-spread",
        sentence: format!(
            "Some treatments vary more than others (p = {}): the tests of factors and their \
             interactions take one error for all and are rough here. The comparisons have an \
             error each and are not touched.",
            phrase::probability(p)
        ),
    })
}

/// Brown and Forsythe (1974): whether the distances from the medians differ between treatments.
fn p_of_equal_spread(context: &Context) -> Option<f64> {
    let distances: Vec<Vec<f64>> = context
        .values
        .iter()
        .filter(|cell| !cell.is_empty())
        .map(|cell| {
            let values = plain(cell);
            let centre = median(&values).unwrap_or(0.0);
            values.iter().map(|value| (value - centre).abs()).collect()
        })
        .collect();
    let groups: Vec<&[f64]> = distances.iter().map(Vec::as_slice).collect();
    Some(one_way(&groups).ok()?.p)
}
