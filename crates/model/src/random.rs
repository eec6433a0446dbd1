//! Random numbers of a run: each run has a stream of its own, so that what one run draws does not
//! change what the next one does.

use knobstat_data::plan::Generator;

/// Keeps the noise apart from the order of the runs, which is drawn by the same generator: an
/// experiment and a machine may well have the same seed.
const SALT: u64 = u64::from_be_bytes(*b"disturbs");

/// The stream of one run.
#[derive(Clone, Debug)]
pub struct Random(Generator);

impl Random {
    /// The stream of a run, by the machine's seed and the run's place in the order of execution.
    pub fn of_run(seed: u64, place: u64) -> Self {
        Self(Generator::of_block(seed ^ SALT, place as usize))
    }

    /// A number from 0 to below 1, in steps of 2^-53.
    pub fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }

    /// A number of the standard normal distribution (Marsaglia's polar method, 1964).
    pub fn normal(&mut self) -> f64 {
        loop {
            let (x, y) = (2.0 * self.uniform() - 1.0, 2.0 * self.uniform() - 1.0);
            let square = x * x + y * y;
            if square > 0.0 && square < 1.0 {
                return x * (-2.0 * square.ln() / square).sqrt();
            }
        }
    }

    /// The time to the next of events that come at random, `mean` apart on average.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.uniform()).ln()
    }

    /// Whether something of this chance happens.
    pub fn happens(&mut self, chance: f64) -> bool {
        self.uniform() < chance
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_those_of_the_distributions() {
        let mut random = Random::of_run(1, 0);
        let count = 200_000;
        let (mut sum, mut squares, mut waits) = (0.0, 0.0, 0.0);
        for _ in 0..count {
            let normal = random.normal();
            sum += normal;
            squares += normal * normal;
            waits += random.exponential(3.0);
        }
        let count = f64::from(count);
        assert!((sum / count).abs() < 0.01);
        assert!((squares / count - 1.0).abs() < 0.015);
        assert!((waits / count - 3.0).abs() < 0.03);
    }

    #[test]
    fn runs_have_streams_of_their_own() {
        let first = |place| Random::of_run(7, place).uniform();
        assert_eq!(first(3), first(3));
        assert_ne!(first(3), first(4));
    }
}
