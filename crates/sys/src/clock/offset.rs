//! How far the counters of the CPUs are apart.
//!
//! A thread on each of two CPUs: the first reads its counter and passes the turn, the second
//! reads its own and passes the turn back, the first reads again. Whatever the second read lies,
//! by the first one's counter, between the two readings of the first; every exchange narrows what
//! their offset can be. Nothing is assumed of how long the two ways take.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::counter;
use super::kernel::{self, Clock};
use crate::topology;

/// How far a counter is ahead of the first CPU's, in ticks: certainly within these bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offset {
    /// The CPU.
    pub cpu: u32,
    /// At least so much.
    pub low: i64,
    /// At most so much.
    pub high: i64,
}

impl Offset {
    /// The largest offset that it may be, in either direction.
    pub fn at_most(self) -> u64 {
        self.low.unsigned_abs().max(self.high.unsigned_abs())
    }

    /// How far the bounds are apart; zero where they exclude each other.
    fn width(self) -> u64 {
        u64::try_from(self.high.saturating_sub(self.low)).unwrap_or(0)
    }

    /// What two looks at the same CPU tell together.
    fn and(self, other: Self) -> Self {
        Self {
            cpu: self.cpu,
            low: self.low.max(other.low),
            high: self.high.min(other.high),
        }
    }

    /// The smallest offset that it must be: zero where none was seen. Bounds that exclude each
    /// other, as when a counter was written to meanwhile, are an offset too.
    pub fn at_least(self) -> u64 {
        if self.low > 0 || self.high < 0 {
            self.low.unsigned_abs().min(self.high.unsigned_abs())
        } else {
            0
        }
    }
}

/// Exchanges that are enough where nothing disturbs them.
const ENOUGH: u32 = 200;

/// How long two CPUs are tried at a time, at most: another task may have one of them.
const LIMIT: Duration = Duration::from_millis(20);

/// How long all of them are tried, at most.
const LIMIT_FOR_ALL: Duration = Duration::from_millis(500);

/// How long after the beginning one is tried again, at most.
const LIMIT_FOR_AGAIN: Duration = Duration::from_millis(200);

/// The second thread has ended, or the first wants it to.
const OVER: u64 = u64::MAX;

/// The offset of the counter of every CPU that this process may use, but the first, which the
/// others are compared with; `None` for one that never met it. Spins on two CPUs meanwhile.
///
/// Where other tasks have the CPUs two threads seldom run at once, and the bounds are as wide as
/// their turns are long. Whatever is wider than `enough` ticks is tried again while there is time.
pub(super) fn offsets(enough: u64) -> Vec<Option<Offset>> {
    let cpus = topology::affinity().unwrap_or_default();
    let Some((first, others)) = cpus.split_first() else {
        return Vec::new();
    };
    let start = kernel::now(Clock::Monotonic);
    let is_over = |limit| kernel::now(Clock::Monotonic).saturating_sub(start) > limit;
    let mut found = vec![None; others.len()];
    let mut limit = LIMIT_FOR_ALL;
    loop {
        for (cpu, offset) in others.iter().zip(&mut found) {
            if is_narrow(*offset, enough) {
                continue;
            }
            if is_over(limit) {
                return found;
            }
            *offset = match (*offset, between(*first, *cpu)) {
                (Some(before), Some(again)) => Some(Offset::and(before, again)),
                (before, again) => before.or(again),
            };
        }
        if found.iter().all(|offset| is_narrow(*offset, enough)) {
            return found;
        }
        limit = LIMIT_FOR_AGAIN;
    }
}

fn is_narrow(offset: Option<Offset>, enough: u64) -> bool {
    offset.is_some_and(|offset| offset.width() <= enough)
}

/// The offset of one CPU's counter from another's; none where the two threads never met.
fn between(first: u32, second: u32) -> Option<Offset> {
    // Even: the first one's turn; odd: the second one's.
    let turn = AtomicU64::new(0);
    let reading = AtomicU64::new(0);
    std::thread::scope(|scope| {
        let answering = std::thread::Builder::new().spawn_scoped(scope, || {
            if topology::set_affinity(&[second]).is_err() {
                turn.store(OVER, Ordering::Release);
                return;
            }
            answer(&turn, &reading);
        });
        let asking = std::thread::Builder::new().spawn_scoped(scope, || {
            let found = topology::set_affinity(&[first])
                .is_ok()
                .then(|| ask(&turn, &reading))
                .flatten();
            turn.store(OVER, Ordering::Release);
            found
        });
        match (answering, asking) {
            (Ok(_), Ok(asking)) => asking.join().ok().flatten(),
            _ => {
                turn.store(OVER, Ordering::Release);
                None
            }
        }
    })
    .map(|(low, high)| Offset {
        cpu: second,
        low,
        high,
    })
}

fn ask(turn: &AtomicU64, reading: &AtomicU64) -> Option<(i64, i64)> {
    let deadline = kernel::now(Clock::Monotonic) + LIMIT;
    let mut bounds: Option<(i64, i64)> = None;
    for exchange in 0..ENOUGH {
        let mine = u64::from(exchange) * 2;
        let before = counter::read();
        // One that has ended in the meantime stays ended.
        if turn
            .compare_exchange(mine, mine + 1, Ordering::AcqRel, Ordering::Acquire)
            .is_err()
        {
            return bounds;
        }
        loop {
            match turn.load(Ordering::Acquire) {
                now if now == mine + 2 => break,
                OVER => return bounds,
                _ if kernel::now(Clock::Monotonic) > deadline => return bounds,
                _ => std::hint::spin_loop(),
            }
        }
        let after = counter::read();
        let theirs = reading.load(Ordering::Relaxed);
        let low = theirs.wrapping_sub(after) as i64;
        let high = theirs.wrapping_sub(before) as i64;
        bounds = Some(bounds.map_or((low, high), |(lowest, highest)| {
            (lowest.max(low), highest.min(high))
        }));
    }
    bounds
}

fn answer(turn: &AtomicU64, reading: &AtomicU64) {
    loop {
        match turn.load(Ordering::Acquire) {
            OVER => return,
            now if now % 2 == 1 => {
                reading.store(counter::read(), Ordering::Relaxed);
                // Fails where the first one has given up.
                let _ = turn.compare_exchange(now, now + 1, Ordering::AcqRel, Ordering::Acquire);
            }
            _ => std::hint::spin_loop(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offset_is_certain_only_where_zero_is_left_out() {
        let offset = |low, high| Offset { cpu: 1, low, high };
        assert_eq!(
            (offset(-40, 60).at_least(), offset(-40, 60).at_most()),
            (0, 60)
        );
        assert_eq!(
            (offset(900, 960).at_least(), offset(900, 960).at_most()),
            (900, 960)
        );
        assert_eq!(
            (offset(-960, -900).at_least(), offset(-960, -900).at_most()),
            (900, 960)
        );
        // Bounds that exclude each other.
        assert_eq!(offset(50, -50).at_least(), 50);
    }

    #[test]
    fn two_looks_tell_more_than_one() {
        let offset = |low, high| Offset { cpu: 1, low, high };
        assert_eq!(
            offset(-40, 60_000).and(offset(-90_000, 80)),
            offset(-40, 80)
        );
        assert_eq!(offset(-40, 80).width(), 120);
        // One of the counters was written to in between: an offset that is certain.
        let apart = offset(-40, 80).and(offset(900, 990));
        assert_eq!((apart.width(), apart.at_least()), (0, 80));
    }

    #[test]
    fn the_counters_of_this_machine_are_within_their_bounds() {
        if counter::probe().is_err() {
            println!("no counter to be looked at");
            return;
        }
        for offset in offsets(1000).into_iter().flatten() {
            println!("{offset:?}");
            assert!(offset.low <= offset.high, "{offset:?}");
        }
    }

    #[test]
    fn a_cpu_that_is_not_there_has_no_offset() {
        let mine = topology::affinity().unwrap()[0];
        assert_eq!(between(mine, 1023), None);
    }
}
