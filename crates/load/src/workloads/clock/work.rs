//! A survey of the clocks: from what is asked to what was found out.
//!
//! The comparisons for the drift stand at both ends; everything else happens in between, the
//! samples of the cost in rounds over all clocks, so that whatever disturbs the machine disturbs
//! them alike.

use std::sync::Mutex;
use std::time::Duration;

use knobstat_sys::clock::{
    CLOCK_IDS, ClockId, Reading, Reference, Stopwatch, readings_by_system_call,
};
use knobstat_sys::net::nap::nap;

use super::super::survey::{Seen, StopwatchFigures, Wanted, nanoseconds, on_each_cpu};
use super::cost::Costs;
use super::drift::{Anchor, anchor, drift};
use super::figures::{ClockFigures, Criterion, Drift, OneClock, Order, Path};
use super::order::{Shared, take_turns};
use super::step::smallest_step;

/// How long a clock is waited for that does not move: more than a tick of 100 Hz.
const LONGEST_STEP: Duration = Duration::from_millis(50);

/// How often a clock is read for counting its system calls.
const COUNTED_READINGS: u32 = 64;

/// A reading that costs less than this share of a system call makes none.
const SHARE_OF_A_SYSTEM_CALL: f64 = 0.7;

/// How long each clock's order is looked at, as a share of the whole, and the bounds of that.
const SHARE_FOR_ORDER: u32 = 40;
const ORDER_BOUNDS: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(25));

/// Makes the survey.
///
/// # Errors
/// When a CPU or a priority cannot be had.
pub(super) fn run(wanted: &Wanted, stopwatch: &Stopwatch) -> Result<ClockFigures, String> {
    let cpus = wanted.cpus_here()?;
    let survey = Survey {
        wanted,
        cpus: &cpus,
        watch: Watch {
            stopwatch,
            start: stopwatch.read(),
        },
    };
    let first = *cpus.first().ok_or("there is no CPU to look at")?;
    // The order of the clocks is looked at beforehand, by threads of its own.
    let orders = CLOCK_IDS
        .iter()
        .map(|clock| survey.order(*clock))
        .collect::<Result<Vec<_>, _>>()?;
    let mut clocks = on_each_cpu(
        &[first],
        wanted.priority,
        |_| Ok(()),
        |_, ()| Ok(survey.clocks()),
    )?
    .into_iter()
    .flatten()
    .collect::<Vec<_>>();
    for (clock, order) in clocks.iter_mut().zip(orders) {
        clock.order = order;
    }
    Ok(ClockFigures {
        duration_seconds: wanted.duration.as_secs_f64(),
        interval_nanoseconds: nanoseconds(wanted.interval),
        cpu: first,
        stopwatch: StopwatchFigures::of(stopwatch),
        clocks,
        cpus,
    })
}

/// The stopwatch in nanoseconds.
#[derive(Clone, Copy)]
struct Watch<'a> {
    stopwatch: &'a Stopwatch,
    start: Reading,
}

impl Watch<'_> {
    #[inline]
    fn now(self) -> u64 {
        nanoseconds(self.stopwatch.between(self.start, self.stopwatch.read()))
    }

    /// Whether so much time has not passed yet, from now on.
    fn limit(self, time: Duration) -> impl FnMut() -> bool {
        let end = self.now() + nanoseconds(time);
        move || self.now() < end
    }
}

/// What is asked, where, and by which stopwatch.
struct Survey<'a> {
    wanted: &'a Wanted,
    cpus: &'a [u32],
    watch: Watch<'a>,
}

/// A clock under way.
struct UnderWay {
    clock: ClockId,
    /// Why it cannot be read.
    refused: Option<String>,
    anchor: Option<Anchor>,
    step: Option<u64>,
    cost: Costs,
    system_call_cost: Costs,
}

impl Survey<'_> {
    /// Every clock, in the order of [`CLOCK_IDS`].
    fn clocks(&self) -> Vec<OneClock> {
        let watch = self.watch;
        let start = watch.now();
        let mut clocks: Vec<UnderWay> = CLOCK_IDS.map(|clock| self.begin(clock)).into();
        let end = start + nanoseconds(self.wanted.duration);
        loop {
            for one in clocks.iter_mut().filter(|one| one.refused.is_none()) {
                let clock = one.clock;
                one.cost.sample(|| watch.now(), || clock.now());
                one.system_call_cost
                    .sample(|| watch.now(), || clock.now_by_system_call());
            }
            if watch.now() >= end {
                break;
            }
            nap(self.wanted.interval);
        }
        clocks.iter().map(|one| self.finish(one)).collect()
    }

    fn begin(&self, clock: ClockId) -> UnderWay {
        let watch = self.watch;
        let granularity = nanoseconds(watch.stopwatch.granularity());
        let refused = clock.probe().err().map(|error| error.to_string());
        let limit = match refused {
            Some(_) => Duration::ZERO,
            None => LONGEST_STEP,
        };
        UnderWay {
            clock,
            refused,
            anchor: anchor(|| watch.now(), || clock.now(), watch.limit(limit)),
            step: smallest_step(|| clock.now(), watch.limit(2 * limit)),
            cost: Costs::new(granularity, || watch.now(), || clock.now()),
            system_call_cost: Costs::new(
                granularity,
                || watch.now(),
                || clock.now_by_system_call(),
            ),
        }
    }

    fn finish(&self, one: &UnderWay) -> OneClock {
        let clock = one.clock;
        let name = clock.name().to_owned();
        if let Some(why) = &one.refused {
            return OneClock::refused(name, why);
        }
        let no_sample = || "no sample was taken".to_owned();
        let cost = one.cost.distribution().ok_or_else(no_sample);
        let system_call_cost = one.system_call_cost.distribution().ok_or_else(no_sample);
        let medians = match (&cost, &system_call_cost) {
            (Ok(cost), Ok(call)) => Some((cost.p50, call.p50)),
            _ => None,
        };
        OneClock {
            clock: name,
            path: path(readings_by_system_call(clock, COUNTED_READINGS), medians),
            cost: cost.into(),
            system_call_cost: system_call_cost.into(),
            step_nanoseconds: match one.step {
                Some(step) => Seen::Value(step),
                None => Seen::unseen("it was not seen to move"),
            },
            claimed_resolution_nanoseconds: clock
                .claimed_resolution()
                .map_err(|error| error.to_string())
                .into(),
            order: Seen::unseen("it was not looked at"),
            drift: self.drift(one).into(),
        }
    }

    fn drift(&self, one: &UnderWay) -> Result<Drift, String> {
        let watch = self.watch;
        if one.clock.counts_cpu_time() {
            return Err("it counts CPU time, not the passing of time".to_owned());
        }
        let reference_ppm = match watch.stopwatch.reference() {
            Reference::Counter {
                uncertainty_ppm, ..
            } => *uncertainty_ppm,
            Reference::MonotonicRaw { why } => {
                return Err(format!("there is no independent reference: {why}"));
            }
        };
        let clock = one.clock;
        let last = anchor(|| watch.now(), || clock.now(), watch.limit(LONGEST_STEP));
        one.anchor
            .zip(last)
            .and_then(|(first, last)| drift(first, last, reference_ppm))
            .ok_or_else(|| "it was not seen to move".to_owned())
    }

    /// Whether a clock ever goes back.
    fn order(&self, clock: ClockId) -> Result<Seen<Order>, String> {
        if let Err(error) = clock.probe() {
            return Ok(Seen::unseen(error.to_string()));
        }
        if clock.counts_cpu_time() {
            return Ok(Seen::unseen("it counts CPU time, not the passing of time"));
        }
        let (least, most) = ORDER_BOUNDS;
        let time = (self.wanted.duration / SHARE_FOR_ORDER).clamp(least, most);
        let shared = Mutex::new(Shared::default());
        on_each_cpu(
            self.cpus,
            self.wanted.priority,
            |_| Ok(()),
            |cpu, ()| {
                take_turns(&shared, cpu, || clock.now(), self.watch.limit(time));
                Ok(())
            },
        )?;
        let order = shared
            .into_inner()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .order();
        Ok(Seen::Value(order))
    }
}

/// Which way the readings go: counted where that is possible, else by the costs.
fn path(counted: std::io::Result<u32>, medians: Option<(f64, f64)>) -> Seen<Path> {
    let why = match counted {
        Ok(system_calls) => {
            return Seen::Value(Path {
                through_vdso: system_calls == 0,
                criterion: Criterion::Count {
                    readings: COUNTED_READINGS,
                    system_calls,
                },
            });
        }
        Err(error) => format!("system calls cannot be counted here ({error})"),
    };
    match medians {
        Some((cost, call)) if call > 0.0 => Seen::Value(Path {
            through_vdso: cost < SHARE_OF_A_SYSTEM_CALL * call,
            criterion: Criterion::Cost {
                ratio: cost / call,
                why,
            },
        }),
        _ => Seen::Unseen { why },
    }
}

impl OneClock {
    /// A clock that cannot be read.
    fn refused(clock: String, why: &str) -> Self {
        Self {
            clock,
            cost: Seen::unseen(why),
            system_call_cost: Seen::unseen(why),
            path: Seen::unseen(why),
            step_nanoseconds: Seen::unseen(why),
            claimed_resolution_nanoseconds: Seen::unseen(why),
            order: Seen::unseen(why),
            drift: Seen::unseen(why),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    fn through_vdso(counted: io::Result<u32>, medians: Option<(f64, f64)>) -> Option<bool> {
        path(counted, medians).value().map(|path| path.through_vdso)
    }

    #[test]
    fn a_count_decides_and_where_there_is_none_the_costs_do() {
        assert_eq!(through_vdso(Ok(0), Some((90.0, 80.0))), Some(true));
        assert_eq!(through_vdso(Ok(64), Some((10.0, 80.0))), Some(false));
        let uncounted = || Err(io::Error::from(io::ErrorKind::PermissionDenied));
        assert_eq!(through_vdso(uncounted(), Some((25.0, 70.0))), Some(true));
        assert_eq!(
            through_vdso(uncounted(), Some((1010.0, 1000.0))),
            Some(false)
        );
        assert_eq!(through_vdso(uncounted(), None), None);
    }
}
