//! Waiting for what was written to show. The kernel carries some writes out a moment later, in a
//! worker thread: the limits of a frequency policy (`cpufreq_notifier_max` of
//! drivers/cpufreq/cpufreq.c, since Linux 5.3), and the boost of some drivers, which moves the same
//! limits. What is read at once is then what was there before, and what comes a moment later
//! would look like somebody else's value.

use std::time::Duration;

use crate::files::Files;

/// The first pause of a wait; each further one is twice as long.
const FIRST: Duration = Duration::from_millis(1);

/// How long one wait lasts at most.
const ONE_WAIT: Duration = Duration::from_millis(255);

/// How long what was not written is looked at for a change. A worker thread that is not kept from
/// running is done in a fraction of it.
const REST: Duration = Duration::from_millis(10);

/// What is left of the time for waiting, so that many files without effect do not add up.
pub struct Patience<'a> {
    files: &'a dyn Files,
    left: Duration,
}

impl<'a> Patience<'a> {
    /// Enough for some files that never show what was written.
    pub fn new(files: &'a dyn Files) -> Self {
        Self {
            files,
            left: ONE_WAIT * 8,
        }
    }

    /// Looks again and again until something is so, and not for ever. Tells whether it is.
    pub fn until(&mut self, is_so: impl Fn() -> bool) -> bool {
        let mut waited = Duration::ZERO;
        let mut next = FIRST;
        while !is_so() {
            if waited >= ONE_WAIT || !self.pause(next) {
                return false;
            }
            waited += next;
            next *= 2;
        }
        true
    }

    /// Looks at something until it is the same twice in a row, and not for ever.
    pub fn at_rest<T: PartialEq>(&mut self, look: impl Fn() -> T) -> T {
        let mut seen = look();
        while self.pause(REST) {
            let now = look();
            if now == seen {
                break;
            }
            seen = now;
        }
        seen
    }

    /// Lets a change that was cut short take effect, if it still will.
    pub fn let_pass(&mut self) {
        self.pause(REST * 2);
    }

    /// Lets a time pass; not when there is no patience left.
    fn pause(&mut self, time: Duration) -> bool {
        let Some(left) = self.left.checked_sub(time) else {
            return false;
        };
        self.left = left;
        self.files.pause(time);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::FakeMachine;

    const LATE: &str = "/sys/late";

    fn late_by(milliseconds: u64) -> FakeMachine {
        let machine = FakeMachine::new(&[(LATE, "0\n")]);
        machine.delay(LATE, Duration::from_millis(milliseconds));
        machine.write(LATE, b"1\n").unwrap();
        machine
    }

    #[test]
    fn what_comes_late_is_waited_for_and_what_never_comes_is_not_for_ever() {
        for (milliseconds, comes) in [(0, true), (1, true), (200, true), (1000, false)] {
            let machine = late_by(milliseconds);
            let shows = Patience::new(&machine).until(|| machine.value(LATE) == "1");
            assert_eq!(shows, comes, "{milliseconds} ms");
        }
    }

    #[test]
    fn waits_in_vain_do_not_add_up() {
        let machine = late_by(60_000);
        let mut patience = Patience::new(&machine);
        for _ in 0..1000 {
            assert!(!patience.until(|| machine.value(LATE) == "1"));
        }
        assert!(machine.passed() < Duration::from_secs(5));
    }

    #[test]
    fn what_changes_is_looked_at_until_it_rests() {
        let machine = late_by(5);
        let seen = Patience::new(&machine).at_rest(|| machine.value(LATE));
        assert_eq!(seen, "1");
    }
}
