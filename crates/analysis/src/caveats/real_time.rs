//! Tasks of a real-time priority that the kernel stops from time to time.

use knobstat_data::{Priority, Value};

use super::Context;
use crate::analysis::Caveat;

/// The parameter that gives a workload its priority.
const PRIORITY: &str = "priority";
/// The workload that sleeps between its measurements, and is not stopped for it.
const SLEEPER: &str = "timer";

pub(super) fn check(context: &Context) -> Vec<Caveat> {
    let experiment = &context.record.experiment;
    let Some(percent) = context.record.machine.real_time_percent else {
        return Vec::new();
    };
    let is_fixed = matches!(
        experiment.workload.parameters.get(PRIORITY),
        Some(Value::Priority(Priority::Fifo(_)))
    );
    let varies = experiment
        .factors
        .iter()
        .filter(|factor| factor.name == PRIORITY)
        .flat_map(|factor| &factor.levels)
        .any(|level| matches!(level.to_string().parse(), Ok(Priority::Fifo(_))));
    if !(is_fixed || varies) || experiment.workload.kind == SLEEPER {
        return Vec::new();
    }
    vec![Caveat {
        kind: "real-time-limit",
        sentence: format!(
            "Runs had a real-time priority, and the kernel stops tasks that never sleep for {} % \
             of the time, in one piece of each second: the largest values may be that and not the \
             machine's. `rt_runtime` is the setting.",
            100 - percent.min(100)
        ),
    }]
}
