//! The loops of a sender: unpaced, on a schedule, or as the iperf of 2007 did.
//!
//! Nothing is allocated and no lock is taken per datagram. Unpaced, no clock is read per datagram
//! unless that is asked for: the end of the time is a flag that another, sleeping thread raises.

use std::hint::{black_box, spin_loop};
use std::sync::atomic::{AtomicBool, Ordering};

use super::histogram::Histogram;
use super::outlet::{Outlet, OutletError};
use super::pacer::Clock;
use super::pacer::iperf2_2007::{Iperf2, microseconds};
use super::pacer::schedule::Schedule;

/// How much is to be sent.
pub(super) struct Quota<'a> {
    /// No more than this many datagrams.
    pub count: u64,
    /// Raised when the time is over.
    pub stop: &'a AtomicBool,
}

impl Quota<'_> {
    fn left(&self, sent: u64) -> u64 {
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
    quota: &Quota,
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

/// Sends each datagram when it is due; those that are due together go together.
///
/// # Errors
/// When the outlet fails.
pub(super) fn scheduled(
    outlet: &mut impl Outlet,
    readings: &mut Readings<impl Clock>,
    waiting: &mut impl Waiting,
    packets_per_second: f64,
    quota: &Quota,
) -> Result<Keeping, OutletError> {
    let mut keeping = Keeping {
        sent: 0,
        late: 0,
        gaps: Histogram::new(GAP_PRECISION),
    };
    let schedule = Schedule::new(readings.clock.now(), packets_per_second);
    let mut last_send = None;
    loop {
        let left = quota.left(keeping.sent);
        if left == 0 {
            return Ok(keeping);
        }
        let now = readings.clock.now();
        let due = schedule.due_by(now).saturating_sub(keeping.sent);
        let count = due.min(left).min(outlet.capacity() as u64);
        if count == 0 {
            waiting.wait(schedule.due(keeping.sent), now);
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
}

/// Sends as the iperf of 2007 did. Its datagrams went one a call; with an outlet that takes more,
/// those between two waits are gathered, and a wait sends what was gathered first.
///
/// # Errors
/// When the outlet fails.
pub(super) fn iperf2_2007(
    outlet: &mut impl Outlet,
    readings: &mut Readings<impl Clock>,
    per_packet_microseconds: u64,
    quota: &Quota,
) -> Result<Waits, OutletError> {
    let mut waits = Waits {
        sent: 0,
        packets: Histogram::new(WAIT_PRECISION),
        credited: Histogram::new(WAIT_PRECISION),
    };
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
            spin(&mut readings.clock, delay, quota.stop);
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

/// Reads the clock until it has moved by so many whole microseconds, or the time is over.
fn spin(clock: &mut impl Clock, delay_microseconds: u64, stop: &AtomicBool) {
    let began = microseconds(clock.now());
    while microseconds(clock.now()) - began < delay_microseconds as i64 {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        spin_loop();
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use proptest::prelude::*;

    use super::super::pacer::iperf2_2007::microseconds_per_packet;
    use super::*;

    /// A machine whose time moves when something is done on it.
    struct World {
        nanoseconds: Cell<u64>,
        numbers: Cell<u64>,
    }

    impl World {
        fn new() -> Self {
            Self {
                nanoseconds: Cell::new(50_000_000_000),
                numbers: Cell::new(0),
            }
        }

        fn pass(&self, nanoseconds: u64) {
            self.nanoseconds.set(self.nanoseconds.get() + nanoseconds);
        }
    }

    struct SteppingClock<'a> {
        world: &'a World,
        step: u64,
        reading_cost: u64,
    }

    impl Clock for SteppingClock<'_> {
        fn now(&mut self) -> u64 {
            self.world.pass(self.reading_cost);
            self.world.nanoseconds.get() / self.step * self.step
        }
    }

    struct CostlyOutlet<'a> {
        world: &'a World,
        capacity: usize,
        cost: u64,
    }

    impl Outlet for CostlyOutlet<'_> {
        fn capacity(&self) -> usize {
            self.capacity
        }

        fn send(&mut self, first: u64, count: usize) -> Result<(), OutletError> {
            assert_eq!(first, self.world.numbers.get(), "numbers run on");
            assert!(count > 0 && count <= self.capacity);
            self.world.numbers.set(first + count as u64);
            self.world.pass(self.cost * count as u64);
            Ok(())
        }
    }

    impl Waiting for &World {
        fn wait(&mut self, due: u64, now: u64) {
            assert!(due > now);
            self.pass(1000);
        }

        fn stopwatch(&mut self) -> u64 {
            self.nanoseconds.get()
        }
    }

    fn clock(world: &World, step: u64, reading_cost: u64) -> Readings<SteppingClock<'_>> {
        Readings {
            clock: SteppingClock {
                world,
                step,
                reading_cost,
            },
            per_packet: 0,
        }
    }

    fn exactly(count: u64, stop: &AtomicBool) -> Quota<'_> {
        Quota { count, stop }
    }

    #[test]
    fn a_count_is_kept_whatever_the_batches() {
        for capacity in [1, 3, 64] {
            let (world, stop) = (World::new(), AtomicBool::new(false));
            let mut outlet = CostlyOutlet {
                world: &world,
                capacity,
                cost: 10,
            };
            let mut readings = clock(&world, 1, 0);
            assert_eq!(
                unpaced(&mut outlet, &mut readings, &exactly(10, &stop)).unwrap(),
                10
            );
            assert_eq!(world.numbers.get(), 10);
        }
    }

    #[test]
    fn an_unpaced_sender_reads_the_clock_as_often_as_asked_and_no_more() {
        for (per_packet, cost) in [(0, 0), (2, 60)] {
            let (world, stop) = (World::new(), AtomicBool::new(false));
            let mut outlet = CostlyOutlet {
                world: &world,
                capacity: 64,
                cost: 0,
            };
            let mut readings = Readings {
                per_packet,
                ..clock(&world, 1, 30)
            };
            let before = world.nanoseconds.get();
            unpaced(&mut outlet, &mut readings, &exactly(1000, &stop)).unwrap();
            assert_eq!(world.nanoseconds.get() - before, 1000 * cost);
        }
    }

    #[test]
    fn a_raised_flag_ends_every_loop() {
        let (world, stop) = (World::new(), AtomicBool::new(true));
        let mut outlet = CostlyOutlet {
            world: &world,
            capacity: 4,
            cost: 1,
        };
        let mut readings = clock(&world, 1, 1);
        let quota = exactly(u64::MAX, &stop);
        assert_eq!(unpaced(&mut outlet, &mut readings, &quota).unwrap(), 0);
        let keeping = scheduled(&mut outlet, &mut readings, &mut &world, 1e6, &quota).unwrap();
        assert_eq!(keeping.sent, 0);
        assert_eq!(
            iperf2_2007(&mut outlet, &mut readings, 5, &quota)
                .unwrap()
                .sent,
            0
        );
    }

    #[test]
    fn a_schedule_that_can_be_kept_is_kept_to_the_count_and_the_gap() {
        let (world, stop) = (World::new(), AtomicBool::new(false));
        let mut outlet = CostlyOutlet {
            world: &world,
            capacity: 64,
            cost: 3000,
        };
        let mut readings = clock(&world, 1, 30);
        let before = world.nanoseconds.get();
        let keeping = scheduled(
            &mut outlet,
            &mut readings,
            &mut &world,
            10_000.0,
            &exactly(1000, &stop),
        )
        .unwrap();
        assert_eq!((keeping.sent, keeping.late), (1000, 0));
        assert_eq!(keeping.gaps.total(), 999);
        assert_eq!(keeping.gaps.share_within(95_000, 105_000), Some(1.0));
        let elapsed = world.nanoseconds.get() - before;
        assert!((99_900_000..100_000_000).contains(&elapsed), "{elapsed}");
    }

    #[test]
    fn a_schedule_on_a_coarse_clock_goes_in_bursts_and_says_that_they_are_late() {
        let (world, stop) = (World::new(), AtomicBool::new(false));
        let mut outlet = CostlyOutlet {
            world: &world,
            capacity: 64,
            cost: 10,
        };
        let mut readings = clock(&world, 4_000_000, 30);
        let keeping = scheduled(
            &mut outlet,
            &mut readings,
            &mut &world,
            10_000.0,
            &exactly(400, &stop),
        )
        .unwrap();
        assert_eq!(keeping.sent, 400);
        assert!(keeping.late > 300, "{}", keeping.late);
    }

    #[test]
    fn a_schedule_that_cannot_be_kept_sends_as_fast_as_it_goes() {
        let (world, stop) = (World::new(), AtomicBool::new(false));
        let mut outlet = CostlyOutlet {
            world: &world,
            capacity: 1,
            cost: 5000,
        };
        let mut readings = clock(&world, 1, 0);
        let before = world.nanoseconds.get();
        let keeping = scheduled(
            &mut outlet,
            &mut readings,
            &mut &world,
            1e6,
            &exactly(1000, &stop),
        )
        .unwrap();
        assert_eq!(keeping.sent, 1000);
        assert_eq!(keeping.late, 999);
        assert_eq!(world.nanoseconds.get() - before, 1000 * 5000);
    }

    /// What the loop of 2007 does, asked for 1 Gbit/s, with datagrams that cost so much and a
    /// clock that costs 25 ns a reading.
    struct Of2007 {
        packets_per_second: f64,
        packets_per_wait: Option<u64>,
        credited_per_wait: Option<u64>,
    }

    fn of_2007(size: u64, step: u64, cost: u64, capacity: usize, count: u64) -> Of2007 {
        let (world, stop) = (World::new(), AtomicBool::new(false));
        let mut outlet = CostlyOutlet {
            world: &world,
            capacity,
            cost,
        };
        let mut readings = clock(&world, step, 25);
        let per_packet = microseconds_per_packet(1e9 / (8 * size) as f64);
        let before = world.nanoseconds.get();
        let waits = iperf2_2007(
            &mut outlet,
            &mut readings,
            per_packet,
            &exactly(count, &stop),
        )
        .unwrap();
        assert_eq!(waits.sent, count);
        let seconds = (world.nanoseconds.get() - before) as f64 / 1e9;
        Of2007 {
            packets_per_second: count as f64 / seconds,
            packets_per_wait: waits.packets.quantile(0.5),
            credited_per_wait: waits.credited.quantile(0.5),
        }
    }

    #[test]
    fn on_a_clock_of_ticks_the_loop_of_2007_is_what_its_formula_says() {
        for (size, step, credited) in [
            (128, 4_000_000, 4000),
            (512, 4_000_000, 1000),
            (1280, 4_000_000, 400),
            (128, 1_000_000, 1000),
            (512, 1_000_000, 250),
            (1280, 1_000_000, 100),
        ] {
            // 3.8 µs to send and a reading of 25 ns.
            let ticks = (credited * 3825u64).div_ceil(step);
            let packets = credited + ticks - 1;
            // The first datagram waits for the first tick; then forty periods.
            let count = 1 + 40 * packets;
            let of_2007 = of_2007(size, step, 3800, 1, count);
            assert_eq!(
                of_2007.credited_per_wait,
                Some(credited),
                "{size} B, {step} ns"
            );
            assert_eq!(
                of_2007.packets_per_wait,
                Some(packets),
                "{size} B, {step} ns"
            );
            let predicted = count as f64 / ((1 + 40 * ticks) * step) as f64 * 1e9;
            let relative = of_2007.packets_per_second / predicted;
            assert!(
                (relative - 1.0).abs() < 0.001,
                "{size} B, {step} ns: {relative}"
            );
        }
    }

    #[test]
    fn the_256_megabits_of_2007_come_out_for_128_bytes() {
        let of_2007 = of_2007(128, 4_000_000, 3586, 1, 1 + 1000 * 4003);
        let megabits = of_2007.packets_per_second * 128.0 * 8.0 / 1e6;
        assert_eq!(megabits.round(), 256.0, "{megabits}");
    }

    #[test]
    fn gathering_changes_no_count_between_waits() {
        let of_2007 = of_2007(512, 4_000_000, 1000, 64, 40_001);
        assert_eq!(of_2007.credited_per_wait, Some(1000));
    }

    #[test]
    fn at_64_bytes_the_loop_of_2007_never_waits_and_pays_for_its_readings() {
        let per_packet = |reading_cost| {
            let (world, stop) = (World::new(), AtomicBool::new(false));
            let mut outlet = CostlyOutlet {
                world: &world,
                capacity: 1,
                cost: 3500,
            };
            let mut readings = clock(&world, 1000, reading_cost);
            let before = world.nanoseconds.get();
            let waits = iperf2_2007(&mut outlet, &mut readings, 0, &exactly(1000, &stop)).unwrap();
            assert_eq!(waits.packets.total(), 0);
            (world.nanoseconds.get() - before) / 1000
        };
        assert_eq!(per_packet(1250) - per_packet(250), 1001);
    }

    proptest! {
        #[test]
        fn every_loop_sends_exactly_its_count(
            count in 0u64..300,
            capacity in 1usize..70,
            rate in 1e3f64..1e8,
            step in prop::sample::select(vec![1u64, 1000, 4_000_000]),
            cost in 0u64..5000,
        ) {
            let (world, stop) = (World::new(), AtomicBool::new(false));
            let mut outlet = CostlyOutlet { world: &world, capacity, cost };
            let mut readings = clock(&world, step, 20_000);
            let keeping =
                scheduled(&mut outlet, &mut readings, &mut &world, rate, &exactly(count, &stop))
                    .unwrap();
            prop_assert_eq!(keeping.sent, count);
            prop_assert!(keeping.late <= count);
            prop_assert_eq!(keeping.gaps.total(), count.saturating_sub(1));
            prop_assert_eq!(world.numbers.get(), count);
            world.numbers.set(0);
            let per_packet = microseconds_per_packet(rate);
            let waits =
                iperf2_2007(&mut outlet, &mut readings, per_packet, &exactly(count, &stop)).unwrap();
            prop_assert_eq!(waits.sent, count);
            prop_assert!(waits.packets.total() <= count);
        }
    }
}
