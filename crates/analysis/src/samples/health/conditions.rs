//! Under which conditions the sets came about: when, where, and whether in one experiment.

use super::{caveat, named};
use crate::analysis::Caveat;
use crate::phrase;
use crate::samples::arrange::Arranged;
use crate::samples::compare::Question;
use crate::samples::findings::Comparison;

/// That nothing held the machine still between one set and the next.
pub(super) fn elsewhere_and_elsewhen(
    arranged: &Arranged,
    comparisons: &[Vec<Comparison>],
    question: Question,
) -> Vec<Caveat> {
    let mut caveats = Vec::new();
    let Some((baseline, others)) = arranged.origins.split_first() else {
        return caveats;
    };
    if comparisons.iter().all(Vec::is_empty) || question.paired {
        return caveats;
    }
    let known: Vec<_> = arranged
        .origins
        .iter()
        .filter_map(|(name, origin)| Some((name, origin.as_ref()?)))
        .collect();
    if others.is_empty() {
        caveats.extend(match &baseline.1 {
            Some(origin) => caveat(
                "one-experiment",
                format!(
                    "All values are of one experiment and are compared as if they were \
                     independent; `knobstat report {}` compares them within its blocks.",
                    origin.experiment
                ),
            ),
            None => None,
        });
        return caveats;
    }
    if known.is_empty() {
        caveats.extend(caveat(
            "order-unknown",
            "The sets are taken as independent and measured under the same conditions. A file does \
             not say whether they were: what drifted between them is in the difference."
                .to_owned(),
        ));
        return caveats;
    }
    let when: Vec<String> = known
        .iter()
        .map(|(name, origin)| format!("{name} ran {}", origin.when()))
        .collect();
    caveats.extend(caveat(
        "time-between",
        format!(
            "Time has passed between the sets ({}), and whatever drifted in it is in the \
             difference: temperature, load, updates. One experiment with both in random order would \
             tell.",
            phrase::list(&when, "and")
        ),
    ));
    let first = known[0];
    let elsewhere: Vec<String> = known[1..]
        .iter()
        .filter(|(_, origin)| origin.machine != first.1.machine)
        .map(|(name, _)| (*name).clone())
        .collect();
    if !elsewhere.is_empty() {
        caveats.extend(caveat(
            "other-machine",
            format!(
                "Not on the machine of {}: {}. The difference is also that of the machines.",
                first.0,
                named(&elsewhere)
            ),
        ));
    }
    let kernels: Vec<String> = known[1..]
        .iter()
        .filter(|(_, origin)| origin.machine == first.1.machine && origin.kernel != first.1.kernel)
        .map(|(name, _)| (*name).clone())
        .collect();
    if !kernels.is_empty() {
        caveats.extend(caveat(
            "other-kernel",
            format!(
                "Under another kernel than {}: {}.",
                first.0,
                named(&kernels)
            ),
        ));
    }
    caveats
}
