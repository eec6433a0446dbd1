//! Metrics that were timed by the clock under test.

use knobstat_data::{Experiment, Metric};

/// Words that name a setting of the machine's timekeeping, as a knob of the catalogue, as the
/// last part of a path or as a boot parameter. `idletick` is `nohz` by its name on FreeBSD.
const TIMEKEEPING: [&str; 11] = [
    "clocksource",
    "current_clocksource",
    "hz",
    "nohz",
    "nohz_full",
    "idletick",
    "notsc",
    "highres",
    "hpet",
    "tsc",
    "timecounter",
];

/// The factors that change how the machine keeps time.
pub fn timekeeping_factors(experiment: &Experiment) -> impl Iterator<Item = &str> {
    let knobs = experiment
        .factors
        .iter()
        .filter(|factor| factor.kind.is_knob());
    knobs.map(|factor| factor.name.as_str()).filter(|name| {
        name.split([':', '/', '.', '='])
            .any(|word| TIMEKEEPING.contains(&word.to_ascii_lowercase().as_str()))
    })
}

/// The first factor that changes how the machine keeps time.
pub fn timekeeping_factor(experiment: &Experiment) -> Option<&str> {
    timekeeping_factors(experiment).next()
}

/// The factor that forbids a verdict on this metric: the workload took its time by a clock that
/// the factor changes, and the experiment does not say to trust it.
pub fn forbids_verdict<'e>(experiment: &'e Experiment, metric: &Metric) -> Option<&'e str> {
    if metric.self_timed && !experiment.analysis.trust_self_timed {
        timekeeping_factor(experiment)
    } else {
        None
    }
}
