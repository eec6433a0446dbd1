//! The sender's loops in a world whose time moves only when something is done in it.

use std::cell::Cell;
use std::sync::atomic::AtomicBool;

use proptest::prelude::*;

use super::outlet::{Outlet, OutletError};
use super::pacer::Clock;
use super::pacer::iperf2_2007::{Stair, microseconds_per_packet, packets_per_wait};
use super::sender::{Keeping, Missed, Quota, Readings, Waiting, iperf2_2007, scheduled, unpaced};

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

impl<'a> CostlyOutlet<'a> {
    fn new(world: &'a World, capacity: usize, cost: u64) -> Self {
        Self {
            world,
            capacity,
            cost,
        }
    }
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

    fn refusals(&self) -> u64 {
        0
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
    Quota {
        count,
        stop,
        overdue: &|| false,
        looks: 0,
    }
}

/// A sender that keeps a schedule.
#[derive(Clone, Copy)]
struct Scheduled {
    capacity: usize,
    cost: u64,
    step: u64,
    reading_cost: u64,
    rate: f64,
    missed: Missed,
    count: u64,
}

/// Ten thousand datagrams a second of 3 us each, by a clock that costs 30 ns.
const EASY: Scheduled = Scheduled {
    capacity: 64,
    cost: 3000,
    step: 1,
    reading_cost: 30,
    rate: 10_000.0,
    missed: Missed::MadeUp,
    count: 1000,
};

impl Scheduled {
    fn keep(self, mut world: &World) -> Keeping {
        let stop = AtomicBool::new(false);
        scheduled(
            &mut CostlyOutlet::new(world, self.capacity, self.cost),
            &mut clock(world, self.step, self.reading_cost),
            &mut world,
            self.rate,
            self.missed,
            &mut exactly(self.count, &stop),
        )
        .unwrap()
    }
}

#[test]
fn a_sender_whose_flag_nobody_raises_ends_when_the_time_is_long_over() {
    let (world, stop) = (World::new(), AtomicBool::new(false));
    let mut outlet = CostlyOutlet::new(&world, 4, 1000);
    let limit = world.nanoseconds.get() + 50_000_000;
    let overdue = || world.nanoseconds.get() > limit;
    let mut quota = Quota {
        overdue: &overdue,
        ..exactly(u64::MAX, &stop)
    };
    let mut readings = clock(&world, 1, 1000);
    let sent = unpaced(&mut outlet, &mut readings, &mut quota).unwrap();
    assert!((50_000..60_000).contains(&sent), "{sent}");
}

#[test]
fn a_count_is_kept_whatever_the_batches() {
    for capacity in [1, 3, 64] {
        let (world, stop) = (World::new(), AtomicBool::new(false));
        let mut outlet = CostlyOutlet::new(&world, capacity, 10);
        let mut readings = clock(&world, 1, 0);
        assert_eq!(
            unpaced(&mut outlet, &mut readings, &mut exactly(10, &stop)).unwrap(),
            10
        );
        assert_eq!(world.numbers.get(), 10);
    }
}

#[test]
fn an_unpaced_sender_reads_the_clock_as_often_as_asked_and_no_more() {
    for (per_packet, cost) in [(0, 0), (2, 60)] {
        let (world, stop) = (World::new(), AtomicBool::new(false));
        let mut outlet = CostlyOutlet::new(&world, 64, 0);
        let mut readings = Readings {
            per_packet,
            ..clock(&world, 1, 30)
        };
        let before = world.nanoseconds.get();
        unpaced(&mut outlet, &mut readings, &mut exactly(1000, &stop)).unwrap();
        assert_eq!(world.nanoseconds.get() - before, 1000 * cost);
    }
}

#[test]
fn a_raised_flag_ends_every_loop() {
    let (world, stop) = (World::new(), AtomicBool::new(true));
    let mut outlet = CostlyOutlet::new(&world, 4, 1);
    let mut readings = clock(&world, 1, 1);
    let mut quota = exactly(u64::MAX, &stop);
    assert_eq!(unpaced(&mut outlet, &mut readings, &mut quota).unwrap(), 0);
    let keeping = scheduled(
        &mut outlet,
        &mut readings,
        &mut &world,
        1e6,
        Missed::MadeUp,
        &mut quota,
    )
    .unwrap();
    assert_eq!(keeping.sent, 0);
    assert_eq!(
        iperf2_2007(&mut outlet, &mut readings, 5, None, &mut quota)
            .unwrap()
            .sent,
        0
    );
}

#[test]
fn a_schedule_that_can_be_kept_is_kept_to_the_count_and_the_gap() {
    let world = World::new();
    let before = world.nanoseconds.get();
    let keeping = EASY.keep(&world);
    assert_eq!((keeping.sent, keeping.late), (1000, 0));
    assert_eq!(keeping.gaps.total(), 999);
    assert_eq!(keeping.gaps.share_within(95_000, 105_000), Some(1.0));
    let elapsed = world.nanoseconds.get() - before;
    assert!((99_900_000..100_000_000).contains(&elapsed), "{elapsed}");
}

#[test]
fn a_schedule_on_a_coarse_clock_goes_in_bursts_and_says_that_they_are_late() {
    let coarse = Scheduled {
        cost: 10,
        step: 4_000_000,
        count: 400,
        ..EASY
    };
    let keeping = coarse.keep(&World::new());
    assert_eq!(keeping.sent, 400);
    assert!(keeping.late > 300, "{}", keeping.late);
}

/// More than can be sent: five or so times of the schedule pass in each send.
const IMPOSSIBLE: Scheduled = Scheduled {
    cost: 5000,
    reading_cost: 0,
    rate: 1e6,
    ..EASY
};

#[test]
fn a_schedule_that_cannot_be_kept_sends_as_fast_as_it_goes() {
    let world = World::new();
    let before = world.nanoseconds.get();
    let one_by_one = Scheduled {
        capacity: 1,
        ..IMPOSSIBLE
    };
    let keeping = one_by_one.keep(&world);
    assert_eq!(keeping.sent, 1000);
    assert_eq!(keeping.late, 999);
    assert_eq!(world.nanoseconds.get() - before, 1000 * 5000);
}

#[test]
fn times_that_are_given_up_leave_no_burst_and_are_counted() {
    for (times, count) in [(1000, u64::MAX), (u64::MAX, 100)] {
        let giving_up = Scheduled {
            // Four and a half times each: four or five of them are given up after it.
            cost: 4500,
            missed: Missed::GivenUp { times },
            count,
            ..IMPOSSIBLE
        };
        let keeping = giving_up.keep(&World::new());
        assert_eq!(keeping.late, 0);
        assert_eq!(keeping.gaps.share_within(4_000, 5_000), Some(1.0));
        if count == u64::MAX {
            assert_eq!(keeping.sent + keeping.skipped, 1000);
            assert!((200..=251).contains(&keeping.sent), "{}", keeping.sent);
        } else {
            assert_eq!(keeping.sent, 100);
            assert!((300..500).contains(&keeping.skipped), "{}", keeping.skipped);
        }
    }
}

#[test]
fn a_schedule_that_is_kept_gives_no_time_up() {
    let giving_up = Scheduled {
        missed: Missed::GivenUp { times: 500 },
        count: 500,
        ..EASY
    };
    let keeping = giving_up.keep(&World::new());
    assert_eq!((keeping.sent, keeping.skipped, keeping.late), (500, 0, 0));
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
    let mut outlet = CostlyOutlet::new(&world, capacity, cost);
    let mut readings = clock(&world, step, 25);
    let per_packet = microseconds_per_packet(1e9 / (8 * size) as f64);
    let before = world.nanoseconds.get();
    let waits = iperf2_2007(
        &mut outlet,
        &mut readings,
        per_packet,
        packets_per_wait(step, per_packet).map(|credited| Stair { step, credited }),
        &mut exactly(count, &stop),
    )
    .unwrap();
    assert_eq!(waits.sent, count);
    assert_eq!(
        waits.as_predicted,
        waits.periods.total(),
        "{size} B, {step} ns"
    );
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
        let mut outlet = CostlyOutlet::new(&world, 1, 3500);
        let mut readings = clock(&world, 1000, reading_cost);
        let before = world.nanoseconds.get();
        let waits = iperf2_2007(
            &mut outlet,
            &mut readings,
            0,
            None,
            &mut exactly(1000, &stop),
        )
        .unwrap();
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
        let reading_cost = 20_000;
        let asked =
            Scheduled { capacity, cost, step, reading_cost, rate, missed: Missed::MadeUp, count };
        let keeping = asked.keep(&world);
        prop_assert_eq!(keeping.sent, count);
        prop_assert!(keeping.late <= count);
        prop_assert_eq!(keeping.gaps.total(), count.saturating_sub(1));
        prop_assert_eq!(world.numbers.get(), count);
        world.numbers.set(0);
        let mut outlet = CostlyOutlet::new(&world, capacity, cost);
        let mut readings = clock(&world, step, reading_cost);
        let per_packet = microseconds_per_packet(rate);
        let waits =
            iperf2_2007(&mut outlet, &mut readings, per_packet, None, &mut exactly(count, &stop)).unwrap();
        prop_assert_eq!(waits.sent, count);
        prop_assert!(waits.packets.total() <= count);
    }
}
