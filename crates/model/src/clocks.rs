//! A clock that is read: it moves in steps, each reading takes time, and it may run too fast.

use crate::machine::{Clock, Step};

/// A clock during one run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reading {
    /// How far it moves at once, in its own nanoseconds.
    step: f64,
    /// What it showed, had it no steps, when the run began.
    offset: f64,
    /// Its nanoseconds in one nanosecond.
    speed: f64,
    /// What a reading takes, in nanoseconds.
    cost: f64,
}

impl Reading {
    /// A clock at a tick rate, `phase` (0 to below 1) of its step after it last moved.
    pub fn of(clock: &Clock, hz: u32, phase: f64) -> Self {
        let step = match clock.step.value {
            Step::Tick(_) => tick(hz),
            Step::Of(step) => step.0,
        };
        Self {
            step,
            offset: phase * step,
            speed: 1.0 + clock.drift.as_ref().map_or(0.0, |drift| drift.value.0),
            cost: clock.cost(),
        }
    }

    /// The clock that the kernel keeps at every tick: as this one, but it moves by a tick and
    /// costs a look at memory.
    pub fn coarse(self, hz: u32) -> Self {
        let step = tick(hz);
        Self {
            step,
            offset: self.offset / self.step * step,
            cost: COARSE_COST,
            ..self
        }
    }

    /// What a reading takes, in nanoseconds.
    pub fn cost(&self) -> f64 {
        self.cost
    }

    /// How far it moves at once, in nanoseconds.
    pub fn step(&self) -> f64 {
        self.step
    }

    /// What it shows at a moment of the run, in nanoseconds.
    pub fn shows(&self, moment: f64) -> f64 {
        ((moment * self.speed + self.offset) / self.step).floor() * self.step
    }

    /// The same in whole microseconds, as gettimeofday(2) gives it.
    pub fn shows_microseconds(&self, moment: f64) -> i64 {
        (self.shows(moment) / 1e3).floor() as i64
    }

    /// The first moment at which it shows `wanted` nanoseconds or more.
    pub fn moment_of(&self, wanted: f64) -> f64 {
        ((wanted / self.step).ceil() * self.step - self.offset) / self.speed
    }
}

/// A look at a variable of the kernel's page that is mapped into every process.
const COARSE_COST: f64 = 10.0;

fn tick(hz: u32) -> f64 {
    1e9 / f64::from(hz)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(step: f64, offset: f64, speed: f64) -> Reading {
        Reading {
            step,
            offset,
            speed,
            cost: 0.0,
        }
    }

    #[test]
    fn it_stands_still_between_steps() {
        let clock = reading(4e6, 1e6, 1.0);
        assert_eq!(clock.shows(0.0), 0.0);
        assert_eq!(clock.shows(2_999_999.0), 0.0);
        assert_eq!(clock.shows(3e6), 4e6);
        assert_eq!(clock.shows_microseconds(3e6), 4000);
    }

    #[test]
    fn the_moment_of_a_reading_is_the_first() {
        for clock in [reading(4e6, 1e6, 1.0), reading(70.0, 3.0, 1.1)] {
            let moment = clock.moment_of(5e6);
            assert!(clock.shows(moment + 1e-3) >= 5e6);
            assert!(clock.shows(moment - 1e-3) < 5e6);
        }
    }
}
