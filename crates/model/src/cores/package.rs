//! The package: which frequency it grants, given how many cores are awake.

/// Grants a higher frequency only after it has been possible for a while, and withdraws one that
/// is not possible any more soon after. Times in nanoseconds, frequencies in gigahertz.
#[derive(Clone, Debug)]
pub(super) struct Package {
    /// The frequency while one core is awake, while two are, and so on.
    frequencies: Vec<f64>,
    grant: f64,
    withdraw: f64,
    granted: f64,
    pending: Option<Pending>,
    /// The integral of the frequency over time, up to `since`.
    integral: f64,
    since: f64,
}

#[derive(Clone, Copy, Debug)]
struct Pending {
    due: f64,
    frequency: f64,
}

impl Package {
    /// A package all of whose cores are awake.
    pub(super) fn new(frequencies: Vec<f64>, grant: f64, withdraw: f64) -> Self {
        let granted = frequencies.last().copied().unwrap_or(1.0);
        Self {
            frequencies,
            grant,
            withdraw,
            granted,
            pending: None,
            integral: 0.0,
            since: 0.0,
        }
    }

    /// The frequency in force.
    pub(super) fn frequency(&self) -> f64 {
        self.granted
    }

    /// When the frequency changes next, should nothing happen until then.
    pub(super) fn due(&self) -> f64 {
        self.pending.map_or(f64::INFINITY, |pending| pending.due)
    }

    /// So many cores (at least one) are awake from now on.
    pub(super) fn awake(&mut self, now: f64, cores: usize) {
        let possible = self.frequencies[cores.clamp(1, self.frequencies.len()) - 1];
        self.pending = if possible == self.granted {
            None
        } else if possible < self.granted {
            let due = match self.pending {
                Some(pending) if pending.frequency < self.granted => pending.due,
                _ => now + self.withdraw,
            };
            Some(Pending {
                due,
                frequency: possible,
            })
        } else {
            Some(Pending {
                due: now + self.grant,
                frequency: possible,
            })
        };
    }

    /// The change that is due happens.
    pub(super) fn change(&mut self, now: f64) {
        if let Some(pending) = self.pending.take() {
            self.count(now);
            self.granted = pending.frequency;
        }
    }

    /// The mean frequency from the beginning to now.
    pub(super) fn mean(&mut self, now: f64) -> f64 {
        self.count(now);
        if now > 0.0 {
            self.integral / now
        } else {
            self.granted
        }
    }

    fn count(&mut self, now: f64) {
        self.integral += (now - self.since) * self.granted;
        self.since = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package() -> Package {
        Package::new(vec![3.6, 3.4, 3.2], 100.0, 10.0)
    }

    #[test]
    fn a_higher_frequency_comes_only_when_it_was_possible_all_the_while() {
        let mut package = package();
        package.awake(0.0, 1);
        assert_eq!(package.due(), 100.0);
        package.awake(50.0, 3);
        assert_eq!(package.due(), f64::INFINITY);
        package.awake(60.0, 2);
        package.awake(70.0, 1);
        assert_eq!(package.due(), 170.0);
        package.change(170.0);
        assert_eq!(package.frequency(), 3.6);
    }

    #[test]
    fn a_second_core_that_wakes_does_not_put_the_withdrawal_off() {
        let mut package = package();
        package.awake(0.0, 1);
        package.change(100.0);
        package.awake(200.0, 2);
        package.awake(205.0, 3);
        assert_eq!(package.due(), 210.0);
        package.change(210.0);
        assert_eq!(package.frequency(), 3.2);
        let mean = (100.0 * 3.2 + 110.0 * 3.6 + 90.0 * 3.2) / 300.0;
        assert!((package.mean(300.0) - mean).abs() < 1e-12);
    }
}
