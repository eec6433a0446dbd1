//! Which datagrams arrived, in what order, and how often: accounting by 64-bit numbers.
//!
//! A datagram is *reordered* when one with a higher number arrived before it (RFC 4737, 3.3),
//! *duplicated* when its own number did, and *lost* when it was sent and never arrived. What
//! arrived is remembered in a window of the latest numbers, so that memory does not grow with the
//! count; a number that comes back from before the window can be told to be neither a duplicate
//! nor new, and is counted apart.

use std::ops::Range;

/// How many of the latest numbers are remembered. Eight kilobytes: they stay in the first cache.
const WINDOW: u64 = 1 << 16;

/// A number this far beyond what was expected was not sent by this run's sender.
const FARTHEST_JUMP: u64 = 1 << 32;

/// The accounting of one flow.
///
/// Numbers that arrive in step cost a comparison and an addition: that they were seen is written
/// down for all of them at once, when one comes out of step.
pub(super) struct Order {
    /// Of the numbers that came before those in step.
    seen: Window,
    first: u64,
    /// Where the numbers begin that arrived in step and are not in the window yet.
    in_step: u64,
    /// One more than the highest number that arrived.
    next: u64,
    /// Different numbers that arrived, those in step since apart.
    unique: u64,
    reordered: u64,
    duplicated: u64,
    too_late: u64,
    foreign: u64,
}

/// What the accounting came to, over the datagrams that were sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tally {
    /// Different datagrams that arrived.
    pub unique: u64,
    /// Datagrams that were sent and did not arrive.
    pub lost: u64,
    /// Datagrams that arrived after one that was sent later.
    pub reordered: u64,
    /// Arrivals of a datagram that had arrived before.
    pub duplicated: u64,
    /// Arrivals from before the window, which may be new or duplicates; their datagrams count
    /// as lost.
    pub too_late: u64,
    /// Arrivals whose number was not sent.
    pub foreign: u64,
}

impl Order {
    /// Accounting for a flow whose first number is `first`.
    pub(super) fn starting_at(first: u64) -> Self {
        Self {
            seen: Window::new(),
            first,
            in_step: first,
            next: first,
            unique: 0,
            reordered: 0,
            duplicated: 0,
            too_late: 0,
            foreign: 0,
        }
    }

    /// Takes one arrival into account.
    #[inline]
    pub(super) fn arrived(&mut self, number: u64) {
        if number == self.next && number < u64::MAX {
            self.next += 1;
        } else {
            self.arrived_out_of_step(number);
        }
    }

    #[cold]
    fn arrived_out_of_step(&mut self, number: u64) {
        self.write_down();
        if number > self.next {
            let jump = number - self.next;
            if jump > FARTHEST_JUMP || number == u64::MAX {
                self.foreign += 1;
                return;
            }
            // What lies between has not arrived.
            self.seen.set(self.next..number, false);
            self.in_step = number;
            self.next = number + 1;
        } else if number < self.first {
            self.foreign += 1;
        } else if self.next - number > WINDOW {
            self.too_late += 1;
        } else if self.seen.has(number) {
            self.duplicated += 1;
        } else {
            self.reordered += 1;
            self.unique += 1;
            self.seen.set(number..number + 1, true);
        }
    }

    /// Puts into the window what arrived in step.
    fn write_down(&mut self) {
        self.seen.set(self.in_step..self.next, true);
        self.unique += self.next - self.in_step;
        self.in_step = self.next;
    }

    /// What it came to, `sent` datagrams having been sent.
    pub(super) fn tally(&self, sent: u64) -> Tally {
        let all = self.unique + (self.next - self.in_step);
        // A number beyond those sent would make more arrive than were sent: it cannot be ours.
        let sent_beyond = self.next.saturating_sub(self.first.saturating_add(sent));
        let unique = all.min(sent);
        Tally {
            unique,
            lost: sent - unique,
            reordered: self.reordered,
            duplicated: self.duplicated,
            too_late: self.too_late,
            foreign: self.foreign + sent_beyond.min(all - unique),
        }
    }
}

/// One bit for each of the latest numbers: whether it arrived.
struct Window(Box<[u64]>);

impl Window {
    fn new() -> Self {
        Self(vec![0; (WINDOW / 64) as usize].into_boxed_slice())
    }

    /// Says of consecutive numbers whether they arrived; of more than there is room for, the
    /// latest are remembered.
    fn set(&mut self, numbers: Range<u64>, arrived: bool) {
        let mut number = numbers.start.max(numbers.end.saturating_sub(WINDOW));
        while number < numbers.end {
            let (word, bit) = place(number);
            let count = (64 - bit).min(numbers.end - number);
            let bits = (u64::MAX >> (64 - count)) << bit;
            if arrived {
                self.0[word] |= bits;
            } else {
                self.0[word] &= !bits;
            }
            number += count;
        }
    }

    fn has(&self, number: u64) -> bool {
        let (word, bit) = place(number);
        (self.0[word] >> bit) & 1 == 1
    }
}

/// The word of a number, and its bit.
fn place(number: u64) -> (usize, u64) {
    let place = number % WINDOW;
    ((place / 64) as usize, place % 64)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    fn tally(first: u64, sent: u64, arrivals: impl IntoIterator<Item = u64>) -> Tally {
        let mut order = Order::starting_at(first);
        arrivals
            .into_iter()
            .for_each(|number| order.arrived(number));
        order.tally(sent)
    }

    const CLEAN: Tally = Tally {
        unique: 0,
        lost: 0,
        reordered: 0,
        duplicated: 0,
        too_late: 0,
        foreign: 0,
    };

    #[test]
    fn numbers_run_on_where_shorter_ones_would_wrap() {
        for first in [0, (1 << 31) - 10, (1 << 32) - 10, (1 << 63) - 10] {
            assert_eq!(
                tally(first, 20, first..first + 20),
                Tally {
                    unique: 20,
                    ..CLEAN
                },
                "from {first}"
            );
        }
    }

    #[test]
    fn what_arrives_after_a_later_one_is_reordered_and_not_lost() {
        assert_eq!(
            tally(0, 5, [0, 2, 1, 4, 3]),
            Tally {
                unique: 5,
                reordered: 2,
                ..CLEAN
            }
        );
    }

    #[test]
    fn duplicates_never_make_up_for_losses() {
        assert_eq!(
            tally(0, 4, [0, 0, 0, 3, 3]),
            Tally {
                unique: 2,
                lost: 2,
                duplicated: 3,
                ..CLEAN
            }
        );
    }

    #[test]
    fn nothing_arriving_is_all_lost() {
        assert_eq!(tally(7, 3, []), Tally { lost: 3, ..CLEAN });
        assert_eq!(tally(0, 0, []), CLEAN);
    }

    #[test]
    fn a_number_from_before_the_window_is_counted_apart() {
        let late = tally(0, WINDOW + 2, [1, WINDOW + 1, 0, 2]);
        assert_eq!((late.too_late, late.reordered), (1, 1));
        assert_eq!(late.unique + late.lost, WINDOW + 2);
    }

    #[test]
    fn numbers_that_were_not_sent_are_foreign() {
        let strange = tally(100, 2, [100, 5, u64::MAX, 101]);
        assert_eq!((strange.unique, strange.foreign), (2, 2));
        assert_eq!(tally(0, 2, [0, 1, 2]).foreign, 1);
    }

    proptest! {
        /// Against a set that remembers everything.
        #[test]
        fn the_window_counts_as_a_set_would(
            first in prop_oneof![Just(0u64), Just((1u64 << 32) - 10), any::<u32>().prop_map(u64::from)],
            offsets in prop::collection::vec(0u64..500, 0..400),
        ) {
            let (mut set, mut highest) = (HashSet::new(), None);
            let (mut reordered, mut duplicated) = (0, 0);
            for &offset in &offsets {
                if !set.insert(offset) {
                    duplicated += 1;
                } else if highest > Some(offset) {
                    reordered += 1;
                }
                highest = highest.max(Some(offset));
            }
            let tally = tally(first, 500, offsets.iter().map(|offset| first + offset));
            prop_assert_eq!(
                tally,
                Tally {
                    unique: set.len() as u64,
                    lost: 500 - set.len() as u64,
                    reordered,
                    duplicated,
                    too_late: 0,
                    foreign: 0,
                }
            );
        }

        /// In runs, as datagrams come, that reach beyond the window in both directions.
        #[test]
        fn runs_of_any_length_are_counted_as_a_set_would(
            first in prop_oneof![Just(0u64), Just((1u64 << 32) - 10), any::<u32>().prop_map(u64::from)],
            runs in prop::collection::vec((0u64..4 * WINDOW, 1u64..300), 0..20),
            long in prop::collection::vec((0u64..WINDOW, 1u64..3 * WINDOW), 0..3),
        ) {
            let sent = 5 * WINDOW;
            let (mut set, mut next) = (HashSet::new(), 0);
            let (mut reordered, mut duplicated, mut too_late) = (0, 0, 0);
            let runs = runs.iter().zip(long.iter().chain(std::iter::repeat(&(0, 0))));
            let offsets: Vec<u64> = runs
                .flat_map(|(&(start, length), &(from, count))| {
                    (start..start + length).chain(from..from + count)
                })
                .collect();
            for &offset in &offsets {
                if offset < next && next - offset > WINDOW {
                    too_late += 1;
                } else if !set.insert(offset) {
                    duplicated += 1;
                } else if offset < next {
                    reordered += 1;
                }
                next = next.max(offset + 1);
            }
            let tally = tally(first, sent, offsets.iter().map(|offset| first + offset));
            prop_assert_eq!(
                tally,
                Tally {
                    unique: set.len() as u64,
                    lost: sent - set.len() as u64,
                    reordered,
                    duplicated,
                    too_late,
                    foreign: 0,
                }
            );
        }

        #[test]
        fn no_arrivals_make_the_accounts_impossible(
            first in any::<u64>(),
            sent in 0u64..1_000_000,
            arrivals in prop::collection::vec(any::<u64>(), 0..50),
            near in prop::collection::vec(0u64..200_000, 0..50),
        ) {
            let near = near.into_iter().map(|offset| first.wrapping_add(offset));
            let all: Vec<u64> = arrivals.into_iter().chain(near).collect();
            let count = all.len() as u64;
            let tally = tally(first, sent, all);
            prop_assert_eq!(tally.unique + tally.lost, sent);
            prop_assert!(tally.unique + tally.duplicated + tally.too_late + tally.foreign <= count);
        }
    }
}
