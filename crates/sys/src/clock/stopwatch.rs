//! The stopwatch: a hardware counter read directly where there is one of constant rate, else
//! CLOCK_MONOTONIC_RAW with a caveat.
//!
//! The counter does not depend on the clock source that the kernel uses, so that it stays what
//! it is while the clock source is what varies. Its rate is found once, by comparison with
//! CLOCK_MONOTONIC_RAW over an interval, and is kept: a rate that were refined later would be a
//! difference between earlier and later runs.

use std::fmt;
use std::time::Duration;

use super::kernel::{self, Clock};
use super::offset::{Offset, offsets};
use super::{NoCounter, counter};

/// How long the counter is compared with the kernel's clock.
pub const CALIBRATION_INTERVAL: Duration = Duration::from_millis(100);

/// How often each end of the interval is tried; the tightest counts.
const TRIES: u32 = 8;

/// So many readings without a step and the clock stands still: more than a tick at 100 Hz takes
/// at 20 ns a reading.
const READINGS_FOR_A_STEP: u32 = 2_000_000;

/// Readings for finding the step of the stopwatch itself.
const READINGS_FOR_GRANULARITY: u32 = 1000;

/// Counters that are apart by more than this cannot time a process that moves between CPUs.
const MOST_APART: Duration = Duration::from_micros(1);

/// Counters that are known to be this close together are not compared any further.
const CLOSE_ENOUGH: Duration = Duration::from_micros(10);

/// A moment by the stopwatch, in its own ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reading(u64);

/// What the stopwatch reads.
#[derive(Clone, Debug, PartialEq)]
pub enum Reference {
    /// A hardware counter.
    Counter {
        /// Ticks a second, by CLOCK_MONOTONIC_RAW.
        frequency: f64,
        /// How far that may be off, in parts per million of CLOCK_MONOTONIC_RAW's rate.
        uncertainty_ppm: f64,
        /// How far a time may be off that begins on one CPU and ends on another; absent where
        /// the CPUs could not be compared.
        apart_at_most: Option<Duration>,
    },
    /// CLOCK_MONOTONIC_RAW, which is read through the kernel's clock source.
    MonotonicRaw {
        /// Why there is no counter.
        why: NoCounter,
    },
}

/// A stopwatch. Cheap to read, and never adjusted after it was made.
#[derive(Clone, Debug)]
pub struct Stopwatch {
    reference: Reference,
    granularity: Duration,
}

/// A moment known by both clocks: within `width` ticks before `ticks` the kernel's clock stepped
/// to `time`.
#[derive(Clone, Copy)]
struct Anchor {
    ticks: u64,
    width: u64,
    time: Duration,
}

impl Stopwatch {
    /// The best stopwatch of this machine; takes [`CALIBRATION_INTERVAL`], asleep.
    pub fn calibrated() -> Self {
        let reference = counter::probe()
            .and_then(|()| calibrate(CALIBRATION_INTERVAL))
            .and_then(|reference| reference.over_all_cpus(offsets));
        Self::of(match reference {
            Ok(reference) => reference,
            Err(why) => Reference::MonotonicRaw { why },
        })
    }

    /// The stopwatch without a counter, for machines that have none and for tests of that.
    pub fn without_counter(why: NoCounter) -> Self {
        Self::of(Reference::MonotonicRaw { why })
    }

    fn of(reference: Reference) -> Self {
        let mut stopwatch = Self {
            reference,
            granularity: Duration::ZERO,
        };
        stopwatch.granularity = stopwatch.find_granularity();
        stopwatch
    }

    /// This moment.
    #[inline]
    pub fn read(&self) -> Reading {
        match self.reference {
            Reference::Counter { .. } => Reading(counter::read()),
            Reference::MonotonicRaw { .. } => {
                let now = kernel::now(Clock::MonotonicRaw);
                Reading(u64::try_from(now.as_nanos()).unwrap_or(u64::MAX))
            }
        }
    }

    /// The time between two moments; zero where the second is not after the first.
    pub fn between(&self, start: Reading, end: Reading) -> Duration {
        let ticks = end.0.saturating_sub(start.0);
        match self.reference {
            Reference::Counter { frequency, .. } => {
                Duration::from_nanos((ticks as f64 * 1e9 / frequency).round() as u64)
            }
            Reference::MonotonicRaw { .. } => Duration::from_nanos(ticks),
        }
    }

    /// The name for records: `tsc`, `cntvct` or `monotonic-raw`.
    pub fn name(&self) -> &'static str {
        match self.reference {
            Reference::Counter { .. } => counter::NAME,
            Reference::MonotonicRaw { .. } => "monotonic-raw",
        }
    }

    /// What is read.
    pub fn reference(&self) -> &Reference {
        &self.reference
    }

    /// How far its rate may be off, in parts per million of CLOCK_MONOTONIC_RAW's rate; zero
    /// where it is that clock.
    pub fn uncertainty_ppm(&self) -> f64 {
        match self.reference {
            Reference::Counter {
                uncertainty_ppm, ..
            } => uncertainty_ppm,
            Reference::MonotonicRaw { .. } => 0.0,
        }
    }

    /// How far a time may be off that begins on one CPU and ends on another; absent where that
    /// could not be found out.
    pub fn apart_at_most(&self) -> Option<Duration> {
        match self.reference {
            Reference::Counter { apart_at_most, .. } => apart_at_most,
            // The kernel keeps one time for all of them.
            Reference::MonotonicRaw { .. } => Some(Duration::ZERO),
        }
    }

    /// The smallest difference that two readings can show.
    pub fn granularity(&self) -> Duration {
        self.granularity
    }

    /// What a reader of its times must know, where there is anything.
    pub fn caveat(&self) -> Option<String> {
        match &self.reference {
            Reference::Counter { .. } => None,
            Reference::MonotonicRaw { why } => Some(format!(
                "times were taken by CLOCK_MONOTONIC_RAW, which is read through the clock source \
                 in force and steps by {:?}, because {why}",
                self.granularity
            )),
        }
    }

    fn find_granularity(&self) -> Duration {
        if let Reference::MonotonicRaw { .. } = self.reference {
            return kernel::observed_step(Clock::MonotonicRaw, READINGS_FOR_A_STEP)
                .unwrap_or_else(|| kernel::reported_resolution(Clock::MonotonicRaw));
        }
        let mut smallest = Duration::MAX;
        let mut last = self.read();
        for _ in 0..READINGS_FOR_GRANULARITY {
            let next = self.read();
            if next > last {
                smallest = smallest.min(self.between(last, next));
            }
            last = next;
        }
        smallest.max(Duration::from_nanos(1))
    }
}

impl fmt::Display for Stopwatch {
    /// In words, for the fingerprint of a machine.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.reference {
            Reference::Counter {
                frequency,
                uncertainty_ppm,
                apart_at_most,
            } => {
                let vouched = if counter::is_vouched() {
                    ", whose constant rate the host vouches for"
                } else {
                    ""
                };
                write!(
                    f,
                    "{} read directly{vouched}, {:.6} MHz within {:.1} ppm of CLOCK_MONOTONIC_RAW, step {:?}",
                    counter::NAME,
                    frequency / 1e6,
                    uncertainty_ppm,
                    self.granularity
                )?;
                match apart_at_most {
                    Some(apart) => write!(f, ", the same on all CPUs within {apart:.0?}"),
                    None => f.write_str(", not compared between CPUs"),
                }
            }
            Reference::MonotonicRaw { why } => {
                write!(f, "CLOCK_MONOTONIC_RAW, step {:?}: {why}", self.granularity)
            }
        }
    }
}

impl Reference {
    /// The same with what is known of the CPUs' counters against each other: `offsets` finds them
    /// out, within so many ticks where that can be had.
    ///
    /// # Errors
    /// One of them is certainly more than [`MOST_APART`] apart.
    fn over_all_cpus(
        self,
        offsets: impl FnOnce(u64) -> Vec<Option<Offset>>,
    ) -> Result<Self, NoCounter> {
        let Self::Counter {
            frequency,
            uncertainty_ppm,
            ..
        } = self
        else {
            return Ok(self);
        };
        let time = |ticks: u64| Duration::from_secs_f64(ticks as f64 / frequency);
        let offsets = offsets((CLOSE_ENOUGH.as_secs_f64() * frequency) as u64);
        let seen = || offsets.iter().flatten();
        let farthest = seen().max_by_key(|offset| offset.at_least());
        if let Some(farthest) = farthest
            && time(farthest.at_least()) > MOST_APART
        {
            return Err(NoCounter::Apart {
                cpu: farthest.cpu,
                apart: time(farthest.at_least()),
            });
        }
        // Of a CPU that was never met nothing is known, and so nothing of all of them.
        let is_whole = offsets.iter().all(Option::is_some);
        Ok(Self::Counter {
            frequency,
            uncertainty_ppm,
            apart_at_most: seen()
                .map(|offset| time(offset.at_most()))
                .max()
                .filter(|_| is_whole),
        })
    }
}

fn calibrate(interval: Duration) -> Result<Reference, NoCounter> {
    // A step is what the edges at both ends are certain to: the kernel may have rounded the time
    // of either by that much.
    let step = kernel::observed_step(Clock::MonotonicRaw, READINGS_FOR_A_STEP)
        .ok_or(NoCounter::NotCalibrated)?;
    let first = anchor()?;
    std::thread::sleep(interval);
    let second = anchor()?;
    reference(first, second, step).ok_or(NoCounter::NotCalibrated)
}

/// The tightest of several moments at which the kernel's clock steps.
fn anchor() -> Result<Anchor, NoCounter> {
    let mut tightest: Option<Anchor> = None;
    for _ in 0..TRIES {
        let next = edge()?;
        if tightest.is_none_or(|tightest| next.width < tightest.width) {
            tightest = Some(next);
        }
    }
    tightest.ok_or(NoCounter::NotCalibrated)
}

/// Waits for the next step of the kernel's clock. It lies between the counter's readings around
/// the last reading of the old time and the first of the new one: as tight for a clock that
/// ticks every 4 ms as for one that steps with every reading.
fn edge() -> Result<Anchor, NoCounter> {
    let mut before = counter::read();
    let mut old = kernel::now(Clock::MonotonicRaw);
    for _ in 0..READINGS_FOR_A_STEP {
        let between = counter::read();
        let time = kernel::now(Clock::MonotonicRaw);
        let ticks = counter::read();
        if time != old {
            let width = ticks.saturating_sub(before);
            return Ok(Anchor { ticks, width, time });
        }
        before = between;
        old = time;
    }
    Err(NoCounter::NotCalibrated)
}

/// The rate between two anchors, and how far it may be off: the widths of both and one step of
/// the kernel's clock, as a share of the interval.
fn reference(first: Anchor, second: Anchor, step: Duration) -> Option<Reference> {
    let ticks = second.ticks.checked_sub(first.ticks)? as f64;
    let seconds = second.time.checked_sub(first.time)?.as_secs_f64();
    if ticks <= 0.0 || seconds <= 0.0 {
        return None;
    }
    let widths = (first.width + second.width) as f64 / ticks;
    let step = step.as_secs_f64() / seconds;
    Some(Reference::Counter {
        frequency: ticks / seconds,
        uncertainty_ppm: (widths + step) * 1e6,
        apart_at_most: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn anchor_at(ticks: u64, nanoseconds: u64) -> Anchor {
        Anchor {
            ticks,
            width: 100,
            time: Duration::from_nanos(nanoseconds),
        }
    }

    #[test]
    fn the_rate_is_ticks_by_time_and_its_uncertainty_is_stated() {
        let first = anchor_at(1_000, 500);
        let second = anchor_at(1_000 + 300_000_000, 500 + 100_000_000);
        let step = Duration::from_micros(1);
        let Some(Reference::Counter {
            frequency,
            uncertainty_ppm,
            ..
        }) = reference(first, second, step)
        else {
            panic!("two anchors in order give a rate");
        };
        assert!((frequency - 3e9).abs() < 1e-3, "{frequency}");
        // 200 of 3e8 ticks, and 1 us of 100 ms.
        assert!((uncertainty_ppm - (200.0 / 300.0 + 10.0)).abs() < 1e-9);
    }

    #[test]
    fn a_counter_or_a_clock_that_stands_still_gives_no_rate() {
        let first = anchor_at(1_000, 500);
        for second in [
            anchor_at(1_000, 600),
            anchor_at(2_000, 500),
            anchor_at(1, 1),
        ] {
            assert_eq!(reference(first, second, Duration::ZERO), None);
        }
    }

    #[test]
    fn time_by_the_counter_is_ticks_over_frequency() {
        let stopwatch = Stopwatch {
            reference: Reference::Counter {
                frequency: 2.5e9,
                uncertainty_ppm: 1.0,
                apart_at_most: None,
            },
            granularity: Duration::from_nanos(1),
        };
        let day = 2_500_000_000 * 86_400;
        assert_eq!(
            stopwatch.between(Reading(7), Reading(7 + day)),
            Duration::from_secs(86_400)
        );
        assert_eq!(stopwatch.between(Reading(9), Reading(7)), Duration::ZERO);
        assert_eq!(stopwatch.caveat(), None);
    }

    #[test]
    fn counters_that_are_apart_are_no_stopwatch() {
        let reference = || {
            let first = anchor_at(1_000, 500);
            let second = anchor_at(1_000 + 300_000_000, 500 + 100_000_000);
            reference(first, second, Duration::ZERO).unwrap()
        };
        let offset = |cpu, low, high| Offset { cpu, low, high };
        let apart = |offsets: Vec<Option<Offset>>| {
            let found = reference().over_all_cpus(|enough| {
                assert_eq!(enough, 30_000, "CLOSE_ENOUGH at 3 GHz");
                offsets
            });
            let Ok(Reference::Counter { apart_at_most, .. }) = found else {
                panic!("they agree");
            };
            apart_at_most
        };
        let near = [offset(1, -90, 120), offset(2, -30, 60)];
        assert_eq!(
            apart(near.map(Some).to_vec()),
            Some(Duration::from_nanos(40))
        );
        assert_eq!(apart(vec![Some(near[0]), None]), None);
        assert_eq!(apart(Vec::new()), None);
        let far = vec![
            Some(offset(1, -90, 120)),
            None,
            Some(offset(3, 9_000, 9_300)),
        ];
        assert_eq!(
            reference().over_all_cpus(|_| far),
            Err(NoCounter::Apart {
                cpu: 3,
                apart: Duration::from_micros(3)
            })
        );
    }

    #[test]
    fn without_a_counter_the_reason_is_a_caveat() {
        let stopwatch = Stopwatch::without_counter(NoCounter::NotInvariant);
        assert_eq!(stopwatch.name(), "monotonic-raw");
        let caveat = stopwatch.caveat().unwrap();
        assert!(caveat.contains("constant rate"), "{caveat}");
        assert!(stopwatch.granularity() > Duration::ZERO);
        assert!(stopwatch.read() <= stopwatch.read());
    }

    #[test]
    fn this_machine_has_a_stopwatch_that_agrees_with_the_kernel() {
        let stopwatch = Stopwatch::calibrated();
        println!("{stopwatch}");
        let outer_start = kernel::now(Clock::MonotonicRaw);
        let start = stopwatch.read();
        let inner_start = kernel::now(Clock::MonotonicRaw);
        let mut inner_end = inner_start;
        while inner_end - inner_start < Duration::from_millis(20) {
            inner_end = kernel::now(Clock::MonotonicRaw);
        }
        let end = stopwatch.read();
        let outer_end = kernel::now(Clock::MonotonicRaw);
        let slack = match stopwatch.reference() {
            Reference::Counter {
                uncertainty_ppm, ..
            } => 1.0 + 2e-6 * uncertainty_ppm + 1e-4,
            Reference::MonotonicRaw { .. } => 1.0,
        };
        let timed = stopwatch.between(start, end).as_secs_f64();
        let inner = (inner_end - inner_start).as_secs_f64();
        let outer = (outer_end - outer_start).as_secs_f64();
        assert!(timed * slack >= inner, "{timed} within {inner}..{outer}");
        assert!(timed <= outer * slack, "{timed} within {inner}..{outer}");
    }
}
