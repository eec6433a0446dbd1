//! The busy loop of one thread: where two readings lie apart, something else had the CPU.

use super::super::survey::Distribution;
use super::figures::Lost;
use super::windows::Windows;
use crate::histogram::Histogram;

/// The clock of a loop, and what the kernel knows of its thread.
pub(super) trait Watched {
    /// Nanoseconds since the beginning.
    fn now(&mut self) -> u64;
    /// How often another thread took the CPU from this one so far.
    fn preemptions(&mut self) -> u64;
}

/// What one thread has seen.
#[derive(Clone, Debug)]
pub(super) struct Looked {
    /// Lengths of the interruptions, in nanoseconds.
    pub lengths: Histogram,
    /// Those during which another thread ran.
    pub other_threads: Lost,
    /// The rest.
    pub interrupts: Lost,
    /// Readings of the clock.
    pub readings: u64,
    /// The shortest time between two readings.
    pub turn: u64,
    /// How long it was looked.
    pub looked: u64,
    /// How long was spent asking after interruptions.
    pub asking: u64,
    /// What was lost, window by window.
    pub windows: Windows,
}

impl Looked {
    /// Nothing yet. Counting into it allocates nothing.
    pub(super) fn new(window: u64) -> Self {
        Self {
            lengths: Histogram::new(Distribution::PRECISION),
            other_threads: Lost::default(),
            interrupts: Lost::default(),
            readings: 0,
            turn: u64::MAX,
            looked: 0,
            asking: 0,
            windows: Windows::new(window),
        }
    }
}

/// What is looked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// How long.
    pub duration: u64,
    /// From which length on a time between two readings is an interruption.
    pub threshold: u64,
}

/// Asking the kernel takes less than this; where it took more it was itself interrupted.
const LONGEST_QUESTION: u64 = 5_000;

/// Looks for so long, and counts into `seen`.
pub(super) fn look(watched: &mut impl Watched, bounds: Bounds, seen: &mut Looked) {
    let mut preemptions = watched.preemptions();
    let start = watched.now();
    let mut last = start;
    while last - start < bounds.duration {
        let now = watched.now();
        let apart = now.saturating_sub(last);
        seen.readings += 1;
        if apart < bounds.threshold {
            // A clock that steps shows no time at all between two of its steps.
            if apart > 0 {
                seen.turn = seen.turn.min(apart);
            }
            last = last.max(now);
            continue;
        }
        let preempted = watched.preemptions();
        let lost = if preempted == preemptions {
            &mut seen.interrupts
        } else {
            &mut seen.other_threads
        };
        lost.add(apart);
        seen.lengths.record(apart);
        seen.windows.lose(last - start, now - start);
        preemptions = preempted;
        // Where the question was interrupted, the next reading finds that.
        last = now;
        let answered = watched.now();
        if answered.saturating_sub(now) < LONGEST_QUESTION {
            seen.asking += answered.saturating_sub(now);
            last = last.max(answered);
        }
    }
    seen.looked = last - start;
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TURN: u64 = 25;
    const QUESTION: u64 = 300;
    const BOUNDS: Bounds = Bounds {
        duration: 1_000_000,
        threshold: 250,
    };

    /// A CPU that is taken away at given moments for given times, by threads or by interrupts.
    struct Cpu {
        time: u64,
        /// Moment, length, whether a thread.
        coming: Vec<(u64, u64, bool)>,
        preemptions: u64,
    }

    impl Cpu {
        fn new(coming: &[(u64, u64, bool)]) -> Self {
            let mut coming = coming.to_vec();
            coming.sort_unstable();
            coming.reverse();
            Self {
                time: 500,
                coming,
                preemptions: 40,
            }
        }

        fn pass(&mut self, time: u64) {
            self.time += time;
            while let Some(&(moment, length, thread)) = self.coming.last()
                && moment <= self.time
            {
                self.coming.pop();
                self.time += length;
                self.preemptions += u64::from(thread);
            }
        }
    }

    impl Watched for Cpu {
        fn now(&mut self) -> u64 {
            self.pass(TURN);
            self.time
        }

        fn preemptions(&mut self) -> u64 {
            let before = self.preemptions;
            self.pass(QUESTION);
            before
        }
    }

    fn looked(coming: &[(u64, u64, bool)]) -> Looked {
        let mut seen = Looked::new(100_000);
        look(&mut Cpu::new(coming), BOUNDS, &mut seen);
        seen
    }

    #[test]
    fn an_undisturbed_loop_has_no_noise() {
        let seen = looked(&[]);
        assert_eq!((seen.interrupts.count, seen.other_threads.count), (0, 0));
        assert_eq!(seen.turn, TURN);
        assert_eq!(seen.readings, BOUNDS.duration / TURN);
        assert_eq!((seen.asking, seen.windows.worst()), (0, 0.0));
    }

    #[test]
    fn threads_and_interrupts_are_told_apart() {
        let seen = looked(&[
            (10_000, 2_000, false),
            (310_000, 30_000, true),
            (700_000, 4_000, false),
        ]);
        assert_eq!((seen.interrupts.count, seen.other_threads.count), (2, 1));
        assert_eq!(seen.interrupts.nanoseconds, 6_000 + 2 * TURN);
        assert_eq!(seen.other_threads.longest_nanoseconds, 30_000 + TURN);
        assert_eq!(seen.lengths.total(), 3);
        assert_eq!(seen.asking, 3 * (QUESTION + TURN));
        assert!((seen.windows.worst() - 0.30025).abs() < 1e-9);
    }

    #[test]
    fn what_interrupts_the_question_is_found_too() {
        // The question after the first one lasts from 10,000 + 2,000 on.
        let seen = looked(&[(10_000, 2_000, false), (12_100, 50_000, true)]);
        assert_eq!(seen.lengths.total(), 2);
        assert_eq!((seen.interrupts.count, seen.other_threads.count), (1, 1));
        assert!(seen.other_threads.nanoseconds >= 50_000);
    }

    #[test]
    fn a_clock_that_goes_back_loses_nothing() {
        struct Back(u64);
        impl Watched for Back {
            fn now(&mut self) -> u64 {
                self.0 += 1;
                1_000 + 100 * self.0 - if self.0.is_multiple_of(7) { 600 } else { 0 }
            }
            fn preemptions(&mut self) -> u64 {
                0
            }
        }
        let mut seen = Looked::new(1000);
        let bounds = Bounds {
            duration: 100_000,
            threshold: 1_000,
        };
        look(&mut Back(0), bounds, &mut seen);
        assert_eq!(seen.lengths.total(), 0);
    }

    proptest! {
        #[test]
        fn nothing_longer_than_the_threshold_escapes(
            coming in proptest::collection::vec((1_000u64..900_000, 250u64..20_000, any::<bool>()), 0..20),
        ) {
            let seen = looked(&coming);
            let cpu = Cpu::new(&coming);
            let lost: u64 = coming.iter().map(|(_, length, _)| length).sum();
            let found = seen.interrupts.nanoseconds + seen.other_threads.nanoseconds;
            // Those that come during a question and are short are its time; some come too late.
            if lost < 50_000 {
                prop_assert!(found + seen.asking >= lost, "{found} + {} of {lost}", seen.asking);
                let slack = (TURN + QUESTION) * (1 + 2 * seen.readings.min(coming.len() as u64));
                prop_assert!(found <= lost + slack, "{found} of {lost}");
            }
            prop_assert!(cpu.coming.len() >= seen.lengths.total() as usize);
            prop_assert!(seen.looked >= BOUNDS.duration);
            prop_assert!(found + seen.asking <= seen.looked);
        }
    }
}
