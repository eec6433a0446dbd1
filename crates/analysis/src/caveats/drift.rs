//! Whether the machine drifted over the experiment.

use knobstat_stats::health::trend;

use super::{Context, SURPRISING, residuals};
use crate::analysis::Caveat;
use crate::phrase;

pub(super) fn check(context: &Context) -> Vec<Caveat> {
    let residuals = residuals(context.values);
    let series: Vec<f64> = residuals.iter().map(|residual| residual.share).collect();
    let Ok(found) = trend(&series) else {
        return Vec::new();
    };
    if found.p > SURPRISING {
        return Vec::new();
    }
    let over_all = found.slope * (series.len() - 1) as f64 * 100.0;
    vec![Caveat {
        kind: "drift",
        sentence: format!(
            "Over the experiment {} {} by about {} %, whatever the treatment (p = {}). \
             Comparisons are made within blocks, so that this falls out of them; the means and \
             their intervals hold it.",
            context.record.experiment.analysis.metric.name,
            if over_all > 0.0 { "rose" } else { "fell" },
            phrase::significant(over_all.abs(), 2),
            phrase::probability(found.p)
        ),
    }]
}
