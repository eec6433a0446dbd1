//! Random moments and choices that a seed repeats.

use std::time::{Duration, Instant};

/// A small generator (splitmix64): the tests' own, so that a seed means the same for ever.
pub struct Random(u64);

impl Random {
    /// A generator from the seed in KNOBSTAT_SEED, else from this one; says which it is.
    pub fn seeded(usual: u64) -> Self {
        let seed = std::env::var("KNOBSTAT_SEED")
            .ok()
            .and_then(|seed| seed.parse().ok())
            .unwrap_or(usual);
        println!("seed {seed} (KNOBSTAT_SEED)");
        Self(seed)
    }

    /// A number below a bound.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }

    /// Lets a random time pass, awake: moments that no clock tick groups together.
    pub fn pass(&mut self, at_most: Duration) {
        let time = Duration::from_nanos(self.below(at_most.as_nanos() as u64));
        let begun = Instant::now();
        while begun.elapsed() < time {
            std::hint::spin_loop();
        }
    }
}
