//! Why a throughput is as it is, where the evidence of a run tells.
//!
//! The pacing loop of iperf 2.0 on a clock of step r sends N = r/T packets, T being the whole
//! microseconds per packet at the asked rate, and then waits for a whole tick. What was counted is
//! set beside what that predicts.

use knobstat_data::{Attempt, Treatment};

use crate::phrase;

/// Counted and predicted packets per wait that agree this well confirm the prediction.
const AGREES: f64 = 0.05;

/// The mean of a piece of evidence over the accepted attempts of a treatment.
fn mean(attempts: &[&Attempt], treatment: usize, key: &str) -> Option<f64> {
    let values: Vec<f64> = attempts
        .iter()
        .filter(|attempt| attempt.treatment == treatment)
        .flat_map(|attempt| &attempt.result.evidence)
        .filter(|evidence| evidence.key == key)
        .filter_map(|evidence| evidence.value.as_ref().ok().copied())
        .filter(|value| value.is_finite())
        .collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// What the pacing loop did in a treatment, in words.
fn pacing(attempts: &[&Attempt], treatment: usize) -> Option<String> {
    let seen = |key: &str| mean(attempts, treatment, key);
    let per_packet = seen("pacer.whole_microseconds_per_packet")?;
    let step = seen("pacer.clock_step");
    if per_packet < 1.0 {
        return Some(
            "the pacing loop never waits, for a packet takes less than a whole microsecond at the \
             asked rate: what shows is the cost of each packet, its clock reads included"
                .to_owned(),
        );
    }
    match (seen("pacer.packets_per_wait"), step) {
        (Some(counted), Some(step)) if counted >= 2.0 => {
            let predicted =
                seen("pacer.packets_per_wait_predicted").map_or_else(String::new, |predicted| {
                    let number = phrase::short(predicted, 4);
                    if (counted - predicted).abs() <= AGREES * predicted {
                        format!(", as N = r/T predicts ({number})")
                    } else {
                        format!(", where N = r/T predicts {number}")
                    }
                });
            Some(format!(
                "the pacing clock stands still between ticks, as jiffies do: the loop sends {} \
                 packets, then waits for a whole {} tick{predicted}",
                phrase::short(counted.round(), 4),
                phrase::nanoseconds(step)
            ))
        }
        (_, Some(step)) if step <= per_packet * 1000.0 => Some(format!(
            "the pacing clock's step, {}, is finer than the {} us between packets, so that they \
             are paced one by one",
            phrase::nanoseconds(step),
            phrase::short(per_packet, 3)
        )),
        _ => None,
    }
}

/// The cause of a difference between two treatments, as far as the evidence tells.
pub(crate) fn cause(
    attempts: &[&Attempt],
    treatment: (usize, &Treatment),
    baseline: (usize, &Treatment),
) -> Option<String> {
    let of_treatment = pacing(attempts, treatment.0);
    let of_baseline = pacing(attempts, baseline.0);
    let with = |levels: &Treatment, what: &str| format!("With {} {what}.", phrase::levels(levels));
    match (of_treatment, of_baseline) {
        (None, None) => None,
        (Some(one), None) => Some(with(treatment.1, &one)),
        (None, Some(other)) => Some(with(baseline.1, &other)),
        (Some(one), Some(other)) if one == other => Some(format!("With both {one}.")),
        (Some(one), Some(other)) => Some(format!(
            "{} {}",
            with(treatment.1, &one),
            with(baseline.1, &other)
        )),
    }
}

/// Whether a cause already tells what this evidence shows.
pub(crate) fn tells(key: &str) -> bool {
    key.starts_with("pacer.")
}
