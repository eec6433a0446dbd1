//! Whether enough is known to stop: the question that is asked after every block of an
//! experiment with a stop rule, and once more of a finished one, to say what ended it.

use knobstat_data::experiment::Stop;
use knobstat_data::{Attempt, Experiment, Plan, Record};

use crate::analysis::{Comparison, StopReason, Stopped};
use crate::comparisons::compare;
use crate::observations::values;
use crate::phrase;
use crate::verdict::Verdict;

/// Whether these attempts are enough by the experiment's stop rule. Without a rule nothing is
/// ever enough, and the planned blocks decide.
///
/// With a half-width, every comparison's interval must be as narrow as that share of the
/// baseline's mean; with a margin, every comparison must be different, or equivalent within it;
/// with both, either will do for each comparison.
pub fn enough(experiment: &Experiment, plan: &Plan, attempts: &[Attempt]) -> bool {
    let Some(stop) = experiment.design.stop else {
        return false;
    };
    let values = values(plan, attempts, &experiment.analysis.metric.name);
    reached(stop, &compare(experiment, plan, attempts, &values)).is_some()
}

/// Which condition of a stop rule these comparisons fulfil, if any.
fn reached(stop: Stop, comparisons: &[Comparison]) -> Option<StopReason> {
    let narrow = |comparison: &Comparison| {
        stop.half_width.is_some_and(|wanted| {
            comparison
                .judged
                .percent_interval
                .is_some_and(|interval| interval.half_width() <= wanted.percent())
        })
    };
    let decided = |comparison: &Comparison| {
        stop.margin.is_some() && comparison.judged.verdict != Verdict::Undecided
    };
    let mut all = comparisons.iter();
    if comparisons.is_empty() || !all.all(|one| narrow(one) || decided(one)) {
        return None;
    }
    Some(if comparisons.iter().all(decided) {
        StopReason::Verdicts
    } else if comparisons.iter().all(narrow) {
        StopReason::HalfWidth
    } else {
        StopReason::VerdictsAndHalfWidth
    })
}

/// What ended a finished experiment that has a stop rule; none while it goes on.
pub(crate) fn stopped(
    record: &Record,
    blocks: usize,
    comparisons: &[Comparison],
) -> Option<Stopped> {
    let stop = record.experiment.design.stop?;
    record.finished?;
    let done = phrase::count(blocks as u64, "block");
    let most = stop.max_replicates;
    let share = |share: Option<knobstat_data::Ratio>| {
        share.map_or_else(String::new, |share| {
            format!("{} %", phrase::short(share.percent(), 3))
        })
    };
    let reason = reached(stop, comparisons).unwrap_or(if blocks >= most as usize {
        StopReason::Maximum
    } else {
        StopReason::Other
    });
    let sentence = match reason {
        StopReason::Verdicts => format!(
            "Stopped after {done} of at most {most}: every comparison has its verdict, different \
             or equivalent within {}.",
            share(stop.margin)
        ),
        StopReason::HalfWidth => format!(
            "Stopped after {done} of at most {most}: every interval is as narrow as was asked, \
             {} on either side.",
            share(stop.half_width)
        ),
        StopReason::VerdictsAndHalfWidth => format!(
            "Stopped after {done} of at most {most}: every comparison has its verdict, or an \
             interval as narrow as was asked, {} on either side.",
            share(stop.half_width)
        ),
        StopReason::Maximum => {
            let open = comparisons
                .iter()
                .filter(|one| reached(stop, std::slice::from_ref(one)).is_none())
                .count();
            format!(
                "Stopped at the maximum of {most} blocks: {} still {} not what the stop rule \
                 waits for.",
                phrase::count(open as u64, "comparison"),
                if open == 1 { "has" } else { "have" }
            )
        }
        StopReason::Other => format!(
            "Ended after {done} of at most {most} before the stop rule was content: blocks were \
             left incomplete."
        ),
    };
    Some(Stopped { reason, sentence })
}
