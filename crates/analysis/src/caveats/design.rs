//! Weaknesses of the design or of how far it was carried out.

use knobstat_data::experiment::{Correction, Order};

use super::Context;
use crate::analysis::{Caveat, Method};
use crate::phrase;

pub(super) fn check(context: &Context) -> Vec<Caveat> {
    let record = context.record;
    let experiment = &record.experiment;
    let mut caveats = Vec::new();
    if record.finished.is_none() && experiment.design.stop.is_none() {
        let planned =
            u64::from(record.plan.replicates) * record.plan.participating().count() as u64;
        let done: usize = context.values.iter().map(Vec::len).sum();
        caveats.push(Caveat {
            kind: "unfinished",
            sentence: format!(
                "The experiment is not finished: {done} of {planned} planned runs have a value. \
                 Stopping here because of what is seen here makes false alarms more likely than \
                 the confidence says."
            ),
        });
    }
    if experiment.design.order == Order::AsWritten {
        caveats.push(Caveat {
            kind: "order-not-random",
            sentence: "The order within blocks was as written, not random: whatever drifts or \
                       repeats within a block can look like an effect."
                .to_owned(),
        });
    }
    let asked_for = match experiment.analysis.correction {
        Correction::Dunnett => Some(("Dunnett's test", Method::Dunnett)),
        Correction::Tukey => Some(("Tukey's test", Method::Tukey)),
        Correction::Holm | Correction::BenjaminiHochberg | Correction::None => None,
    };
    let mut made = context.comparisons.iter().filter_map(|one| one.method);
    if let Some((name, method)) = asked_for
        && made.any(|used| used != method)
    {
        let why = if experiment.design.stop.is_some() {
            "allows for one look only, and the experiment was looked at after every block"
        } else {
            "needs two blocks at least that have a value of every treatment it compares"
        };
        caveats.push(Caveat {
            kind: "correction-replaced",
            sentence: format!("{name} {why}; Holm's correction stands in for it."),
        });
    }
    if let Some(reason) = context.effects_untested {
        caveats.push(Caveat {
            kind: "effects-untested",
            sentence: reason.to_owned(),
        });
    }
    if experiment.analysis.correction == Correction::None && context.comparisons.len() > 1 {
        caveats.push(Caveat {
            kind: "no-correction",
            sentence: format!(
                "The p-values of {} are not adjusted: about {} of them would look different by \
                 chance alone if nothing differed.",
                phrase::count(context.comparisons.len() as u64, "comparison"),
                phrase::significant(
                    context.comparisons.len() as f64 * (1.0 - experiment.analysis.confidence.0),
                    2
                )
            ),
        });
    }
    caveats
}
