//! The loops of a sender: unpaced, on a schedule, or as the iperf of 2007 did.
//!
//! Nothing is allocated and no lock is taken per datagram. Unpaced, no clock is read per datagram
//! unless that is asked for: the end of the time is a flag that another, sleeping thread raises.

use std::hint::{black_box, spin_loop};
use std::sync::atomic::{AtomicBool, Ordering};

use super::outlet::{Outlet, OutletError};
use super::pacer::Clock;
use super::pacer::iperf2_2007::{Iperf2, Stair, microseconds};
use super::pacer::schedule::Schedule;
use crate::histogram::Histogram;

/// How much is to be sent.
pub(super) struct Quota<'a> {
    /// No more than this many datagrams.
    pub count: u64,
    /// Raised when the time is over.
    pub stop: &'a AtomicBool,
    /// Whether the time is long over: asked once in a while, because under a real-time priority
    /// the thread that raises the flag may get no CPU as long as this one runs.
    pub overdue: &'a dyn Fn() -> bool,
    /// How often the end was looked for.
    pub looks: u32,
}

/// So many looks at the flag for one at the time.
const LOOKS_PER_TIME: u32 = 256;

impl Quota<'_> {
    fn left(&mut self, sent: u64) -> u64 {
        self.looks = self.looks.wrapping_add(1);
        if self.looks.is_multiple_of(LOOKS_PER_TIME) && (self.overdue)() {
            self.stop.store(true, Ordering::Relaxed);
        }
        if self.stop.load(Ordering::Relaxed) {
            0
        } else {
            self.count.saturating_sub(sent)
        }
    }
}

/// The pacing clock, and how often it is read beside the pacer's own readings.
pub(super) struct Readings<C> {
    /// The clock.
    pub clock: C,
    /// Additional readings per datagram.
    pub per_packet: u32,
}

impl<C: Clock> Readings<C> {
    #[inline]
    fn burn(&mut self, packets: usize) {
        for _ in 0..packets as u64 * u64::from(self.per_packet) {
            black_box(self.clock.now());
        }
    }
}

/// Sends as fast as it goes, and says how many went.
///
/// # Errors
/// When the outlet fails.
pub(super) fn unpaced(
    outlet: &mut impl Outlet,
    readings: &mut Readings<impl Clock>,
    quota: &mut Quota,
) -> Result<u64, OutletError> {
    let mut sent = 0;
    loop {
        let count = (outlet.capacity() as u64).min(quota.left(sent)) as usize;
        if count == 0 {
            return Ok(sent);
        }
        readings.burn(count);
        outlet.send(sent, count)?;
        sent += count as u64;
    }
}

/// What a schedule came to.
pub(super) struct Keeping {
    /// How many datagrams went.
    pub sent: u64,
    /// How many of them went when the next one was due already.
    pub late: u64,
    /// How many times of the schedule were given up, where that is what is done with them.
    pub skipped: u64,
    /// Nanoseconds between the sends of two datagrams, by the stopwatch.
    pub gaps: Histogram,
}

/// How a scheduled sender waits and what times its gaps.
pub(super) trait Waiting {
    /// Waits, a little at least, for the pacing clock to show `due`, which it does not yet:
    /// `now` is what it shows. May return early.
    fn wait(&mut self, due: u64, now: u64);

    /// The stopwatch's reading in nanoseconds: independent of the pacing clock.
    fn stopwatch(&mut self) -> u64;
}

/// What is done about times of the schedule that have passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Missed {
    /// Their datagrams go at once.
    MadeUp,
    /// They are given up: at most one datagram goes at a time, and there are only so many times.
    GivenUp {
        /// The times that the schedule has.
        times: u64,
    },
}

/// Sends each datagram when it is due; those that are due together go together, or are given up.
///
/// # Errors
/// When the outlet fails.
pub(super) fn scheduled(
    outlet: &mut impl Outlet,
    readings: &mut Readings<impl Clock>,
    waiting: &mut impl Waiting,
    packets_per_second: f64,
    missed: Missed,
    quota: &mut Quota,
) -> Result<Keeping, OutletError> {
    let mut keeping = Keeping {
        sent: 0,
        late: 0,
        skipped: 0,
        gaps: Histogram::new(GAP_PRECISION),
    };
    let schedule = Schedule::new(readings.clock.now(), packets_per_second);
    let mut last_send = None;
    loop {
        let left = quota.left(keeping.sent);
        let next = keeping.sent + keeping.skipped;
        if left == 0 || matches!(missed, Missed::GivenUp { times } if next >= times) {
            return Ok(keeping);
        }
        let now = readings.clock.now();
        let mut due = schedule.due_by(now).saturating_sub(next);
        if let Missed::GivenUp { times } = missed
            && due > 1
        {
            // The latest time of the schedule is the one that is kept.
            keeping.skipped += due.min(times - next) - 1;
            due = 1;
        }
        let count = due.min(left).min(outlet.capacity() as u64);
        if count == 0 {
            waiting.wait(schedule.due(next), now);
            continue;
        }
        readings.burn(count as usize);
        let moment = waiting.stopwatch();
        outlet.send(keeping.sent, count as usize)?;
        if let Some(last) = last_send.replace(moment) {
            keeping.gaps.record(moment.saturating_sub(last));
        }
        (1..count).for_each(|_| keeping.gaps.record(0));
        keeping.late += count.min(due - 1);
        keeping.sent += count;
    }
}

/// Three in a hundred: enough for quantiles of gaps.
const GAP_PRECISION: u32 = 5;

/// What the loop of 2007 came to.
pub(super) struct Waits {
    /// How many datagrams went.
    pub sent: u64,
    /// How many went from one wait to the next; its total is the number of waits.
    pub packets: Histogram,
    /// How many of those were taken into the running delay.
    pub credited: Histogram,
    /// Nanoseconds of the pacing clock from the end of one wait to that of the next.
    pub periods: Histogram,
    /// How many of those were on the stair that the formula has for them.
    pub as_predicted: u64,
}

/// Sends as the iperf of 2007 did. Its datagrams went one a call; with an outlet that takes more,
/// those between two waits are gathered, and a wait sends what was gathered first. `stair` is what the
/// formula says of this clock.
///
/// # Errors
/// When the outlet fails.
pub(super) fn iperf2_2007(
    outlet: &mut impl Outlet,
    readings: &mut Readings<impl Clock>,
    per_packet_microseconds: u64,
    stair: Option<Stair>,
    quota: &mut Quota,
) -> Result<Waits, OutletError> {
    let mut waits = Waits {
        sent: 0,
        packets: Histogram::new(WAIT_PRECISION),
        credited: Histogram::new(WAIT_PRECISION),
        periods: Histogram::new(WAIT_PRECISION),
        as_predicted: 0,
    };
    let mut last_end = None;
    let mut pacer = Iperf2::new(per_packet_microseconds, readings.clock.now());
    let mut gathered = 0;
    let (mut since_wait, mut credited) = (0, 0);
    while quota.left(waits.sent + gathered as u64) > 0 {
        let verdict = pacer.packet(readings.clock.now());
        readings.burn(1);
        gathered += 1;
        since_wait += 1;
        credited += u64::from(verdict.credited);
        if verdict.wait.is_some() || gathered == outlet.capacity() {
            outlet.send(waits.sent, gathered)?;
            waits.sent += gathered as u64;
            gathered = 0;
        }
        if let Some(delay) = verdict.wait {
            let end = spin(&mut readings.clock, delay, quota.stop);
            if let Some(last) = last_end.replace(end) {
                let period = end.saturating_sub(last);
                waits.periods.record(period);
                waits.as_predicted +=
                    u64::from(stair.is_some_and(|stair| stair.has(since_wait, period)));
            }
            waits.packets.record(since_wait);
            waits.credited.record(credited);
            (since_wait, credited) = (0, 0);
        }
    }
    if gathered > 0 {
        outlet.send(waits.sent, gathered)?;
        waits.sent += gathered as u64;
    }
    Ok(waits)
}

/// Values up to 8191 exactly, beyond to one part in 4096.
const WAIT_PRECISION: u32 = 12;

/// Reads the clock until it has moved by so many whole microseconds, or the time is over; says what
/// it showed in the end.
fn spin(clock: &mut impl Clock, delay_microseconds: u64, stop: &AtomicBool) -> u64 {
    let began = microseconds(clock.now());
    loop {
        let now = clock.now();
        let is_over = microseconds(now) - began >= delay_microseconds as i64;
        if is_over || stop.load(Ordering::Relaxed) {
            return now;
        }
        spin_loop();
    }
}
