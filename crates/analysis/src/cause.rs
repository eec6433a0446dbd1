//! Why a throughput or a time is as it is, where the evidence of a run tells.
//!
//! The pacing loop of iperf 2.0, on a clock of step r that is longer than the T whole microseconds
//! per packet at the asked rate, credits r/T packets and then waits for the next tick. What was
//! counted is set beside what that predicts. Where a wait ends several ticks late, the loop owes
//! as many times more: the machine was too busy for the pacer to be what limits. On a finer clock
//! packets are paced one by one, or, where each takes longer than T, hardly ever.

use knobstat_data::{Attempt, Treatment};

use crate::phrase;

/// Counted and predicted packets per wait that agree this well confirm the prediction.
const AGREES: f64 = 0.05;

/// So many times more packets per wait than predicted tell of waits that end ticks late.
const LATE: f64 = 1.5;

/// So many packets per wait on a fine clock tell that most are late and wait for nothing.
const HARDLY_EVER: f64 = 2.0;

/// What a piece of evidence says in the accepted attempts of a treatment.
fn values(attempts: &[&Attempt], treatment: usize, key: &str) -> Vec<f64> {
    attempts
        .iter()
        .filter(|attempt| attempt.treatment == treatment)
        .flat_map(|attempt| &attempt.result.evidence)
        .filter(|evidence| evidence.key == key)
        .filter_map(|evidence| evidence.value.as_ref().ok().copied())
        .filter(|value| value.is_finite())
        .collect()
}

/// The mean of a piece of evidence over the accepted attempts of a treatment.
fn mean(attempts: &[&Attempt], treatment: usize, key: &str) -> Option<f64> {
    let values = values(attempts, treatment, key);
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The smallest: of what may be measured too large and never too small, as a step of a clock is
/// where a busy machine lets a tick go by unseen.
fn least(attempts: &[&Attempt], treatment: usize, key: &str) -> Option<f64> {
    values(attempts, treatment, key)
        .into_iter()
        .reduce(f64::min)
}

/// What the pacing loop did in a treatment, in words.
fn pacing(attempts: &[&Attempt], treatment: usize) -> Option<String> {
    let seen = |key: &str| mean(attempts, treatment, key);
    let per_packet = seen("pacer.whole_microseconds_per_packet")?;
    if per_packet < 1.0 {
        return Some(
            "the pacing loop never waits, for a packet takes less than a whole microsecond at the \
             asked rate: what shows is the cost of each packet, its clock reads included"
                .to_owned(),
        );
    }
    let step = least(attempts, treatment, "pacer.clock_step")?;
    Some(if step <= per_packet * 1000.0 {
        let waits = seen("pacer.waits").zip(seen("packets.sent"));
        fine(step, per_packet, waits)
    } else {
        // Of what was sent between two waits, that which the formula speaks of.
        let (verb, counted) = match seen("pacer.credited_per_wait") {
            Some(credited) => ("credits", credited),
            None => ("sends", seen("pacer.packets_per_wait")?),
        };
        let predicted = least(attempts, treatment, "pacer.packets_per_wait_predicted");
        coarse(step, (verb, counted), predicted)
    })
}

/// What the loop does on a clock whose step is no longer than the time per packet, given how often
/// it waited and how many packets it sent.
fn fine(step: f64, per_packet: f64, waits: Option<(f64, f64)>) -> String {
    let clock = format!(
        "the pacing clock goes on by {} from reading to reading, less than the {} us between packets",
        phrase::nanoseconds(step),
        phrase::short(per_packet, 3)
    );
    match waits {
        Some((waits, sent)) if sent >= HARDLY_EVER * waits => {
            let how_often = if waits == 0.0 {
                "never waits".to_owned()
            } else {
                format!(
                    "waits only once in {} packets",
                    phrase::short(sent / waits, 3)
                )
            };
            format!(
                "{clock}, and most packets take longer than that: the loop {how_often}, and what \
                 shows is the cost of each"
            )
        }
        _ => format!("{clock}, so that they are paced one by one"),
    }
}

/// What the loop does on a clock that stands still for longer than the time per packet.
fn coarse(step: f64, (verb, counted): (&str, f64), predicted: Option<f64>) -> String {
    let tick = phrase::nanoseconds(step);
    let number = phrase::short(counted.round(), 4);
    let stands_still = "the pacing clock stands still between ticks, as jiffies do";
    match predicted {
        Some(predicted) if counted >= LATE * predicted => format!(
            "{stands_still}, and the machine was too busy for the loop to limit the rate: a wait \
             took about {} ticks of {tick} in place of one ({number} packets a wait, where r/T \
             predicts {})",
            phrase::short(counted / predicted, 2),
            phrase::short(predicted, 4)
        ),
        predicted => {
            let predicted = predicted.map_or_else(String::new, |predicted| {
                let number = phrase::short(predicted, 4);
                if (counted - predicted).abs() <= AGREES * predicted {
                    format!(", as r/T predicts ({number})")
                } else {
                    format!(", where r/T predicts {number}")
                }
            });
            format!(
                "{stands_still}: the loop {verb} {number} packets, then waits for a whole {tick} \
                 tick{predicted}"
            )
        }
    }
}

/// How long the idle cores kept the working one from its highest frequencies, in words: a
/// package grants them by the number of cores awake. Only a simulated machine knows both figures.
fn turbo(attempts: &[&Attempt], treatment: usize) -> Option<String> {
    let awake = mean(attempts, treatment, "idle.awake")?;
    let frequency = mean(attempts, treatment, "frequency.effective")?;
    Some(format!(
        "idle cores are awake for {} % of the time, and the working one is granted {} GHz on \
         average",
        phrase::significant(awake, 3),
        phrase::significant(frequency / 1000.0, 3)
    ))
}

/// The cause of a difference between two treatments, as far as the evidence tells.
pub(crate) fn cause(
    attempts: &[&Attempt],
    treatment: (usize, &Treatment),
    baseline: (usize, &Treatment),
) -> Option<String> {
    let of = |index| pacing(attempts, index).or_else(|| turbo(attempts, index));
    let (of_treatment, of_baseline) = (of(treatment.0), of(baseline.0));
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
    key.starts_with("pacer.") || matches!(key, "idle.awake" | "frequency.effective")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fine_clock_never_waits_for_a_tick() {
        let one_by_one = fine(20.0, 10.0, Some((98_000.0, 100_000.0)));
        assert!(one_by_one.contains("20 ns from reading to reading, less than the 10 us"));
        assert!(one_by_one.ends_with("paced one by one"));
        let late = fine(20.0, 1.0, Some((100.0, 4500.0)));
        assert!(late.contains("waits only once in 45 packets"), "{late}");
        // One wait of one packet at the beginning, and none in half a million packets after it.
        let hardly = fine(69.8, 1.0, Some((1.0, 628_725.0)));
        assert!(hardly.contains("waits only once in"), "{hardly}");
        let never = fine(279.4, 1.0, Some((0.0, 602_812.0)));
        assert!(never.contains("the loop never waits"), "{never}");
        for text in [one_by_one, late, hardly, never] {
            assert!(!text.contains("stands still") && !text.contains("tick"));
        }
    }

    #[test]
    fn a_coarse_clock_is_set_beside_its_prediction() {
        let as_predicted = coarse(4e6, ("credits", 1000.0), Some(1000.0));
        assert!(
            as_predicted.ends_with(
                "the loop credits 1000 packets, then waits for a whole 4 ms tick, as r/T \
                 predicts (1000)"
            ),
            "{as_predicted}"
        );
        let busy = coarse(4e6, ("credits", 3000.0), Some(1000.0));
        assert!(busy.contains("too busy"), "{busy}");
        assert!(
            busy.contains("about 3 ticks of 4 ms in place of one"),
            "{busy}"
        );
        let other = coarse(4e6, ("sends", 1200.0), Some(1000.0));
        assert!(other.ends_with("where r/T predicts 1000"), "{other}");
    }
}
