//! Whether a clock ever goes back as CPUs read it in turn, in the manner of the kernel's own check
//! of the TSC (check_tsc_warp): under one lock each reads the clock and compares it with what
//! was read last, whoever read it.

use std::hint::spin_loop;
use std::sync::{Mutex, MutexGuard, TryLockError};

use super::figures::Order;

/// What was read last, by whom, and what was seen so far.
#[derive(Debug, Default)]
pub(super) struct Shared {
    last: u64,
    reader: Option<u32>,
    order: Order,
}

impl Shared {
    /// One reading more.
    fn read(&mut self, cpu: u32, now: &mut impl FnMut() -> u64) {
        let time = now();
        self.order.readings += 1;
        if let Some(reader) = self.reader {
            self.order.handovers += u64::from(reader != cpu);
            if time < self.last {
                self.order.backward += 1;
                self.order.worst_nanoseconds = self.order.worst_nanoseconds.max(self.last - time);
            }
        }
        // From a step back on only a further one counts.
        self.last = time;
        self.reader = Some(cpu);
    }

    /// What was seen.
    pub(super) fn order(&self) -> Order {
        self.order
    }
}

/// One CPU's part: reads whenever nobody else does, while there is time.
pub(super) fn take_turns(
    shared: &Mutex<Shared>,
    cpu: u32,
    mut now: impl FnMut() -> u64,
    mut time_left: impl FnMut() -> bool,
) {
    while time_left() {
        if let Some(mut shared) = lock(shared) {
            shared.read(cpu, &mut now);
        }
        // The others have to come in between.
        for _ in 0..PAUSE {
            spin_loop();
        }
    }
}

const PAUSE: u32 = 20;

/// The lock, without ever sleeping for it.
fn lock(shared: &Mutex<Shared>) -> Option<MutexGuard<'_, Shared>> {
    match shared.try_lock() {
        Ok(guard) => Some(guard),
        Err(TryLockError::WouldBlock) => None,
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_is_behind_on_one_cpu_goes_back() {
        let mut shared = Shared::default();
        let mut time = 1_000;
        for turn in 0..10u32 {
            let cpu = turn % 2;
            time += 10;
            // CPU 1 is 35 behind.
            shared.read(cpu, &mut || time - u64::from(cpu) * 35);
        }
        let order = shared.order();
        assert_eq!((order.readings, order.handovers), (10, 9));
        assert_eq!((order.backward, order.worst_nanoseconds), (5, 25));
    }

    #[test]
    fn a_clock_that_is_the_same_everywhere_never_goes_back() {
        let shared = Mutex::new(Shared::default());
        let time = std::sync::atomic::AtomicU64::new(0);
        std::thread::scope(|scope| {
            for cpu in 0..3 {
                let (shared, time) = (&shared, &time);
                scope.spawn(move || {
                    let mut left = 1_000;
                    take_turns(
                        shared,
                        cpu,
                        || time.fetch_add(1, std::sync::atomic::Ordering::SeqCst),
                        || {
                            left -= 1;
                            left > 0
                        },
                    );
                });
            }
        });
        let order = shared.into_inner().unwrap().order();
        assert_eq!(order.backward, 0);
        assert!(order.readings > 0);
    }
}
