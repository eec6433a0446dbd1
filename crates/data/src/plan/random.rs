//! The generator behind the random order.
//!
//! The order of the runs is part of the format: the same seed must give the same order in every
//! later version, or an interrupted experiment could not be continued by a newer program. So the
//! generator is our own, small, and pinned by known answers.
//!
//! SplitMix64 (Steele, Lea and Flood 2014) turns seeds into states; xoshiro256** 1.0 (Blackman
//! and Vigna 2018) gives the numbers; numbers below a bound come from Lemire's multiplication
//! (2019), without bias.

/// SplitMix64: every seed, similar ones included, leads to an unrelated stream.
#[derive(Clone, Debug)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// The stream of a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }
}

/// xoshiro256** 1.0.
#[derive(Clone, Debug)]
pub struct Generator([u64; 4]);

impl Generator {
    /// A generator of this state, which must not be all zeros.
    fn from_state(state: [u64; 4]) -> Self {
        Self(state)
    }

    /// The generator of one block: it depends on the seed and on the block's index alone, so
    /// that any block can be drawn without those before it.
    ///
    /// The first number of the seed's SplitMix64 stream, exclusive-or the index, seeds a second
    /// SplitMix64, whose first four numbers are the state. (Four numbers in a row of SplitMix64
    /// are never all zero: it gives each value once in its period.)
    pub fn of_block(seed: u64, block: usize) -> Self {
        let of_seed = SplitMix64::new(seed).next_u64();
        let mut stream = SplitMix64::new(of_seed ^ block as u64);
        Self::from_state(std::array::from_fn(|_| stream.next_u64()))
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        let state = &mut self.0;
        let result = state[1].wrapping_mul(5).rotate_left(7).wrapping_mul(9);
        let shifted = state[1] << 17;
        state[2] ^= state[0];
        state[3] ^= state[1];
        state[1] ^= state[2];
        state[0] ^= state[3];
        state[2] ^= shifted;
        state[3] = state[3].rotate_left(45);
        result
    }

    /// A number below `bound`, each equally likely; 0 where `bound` is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        if bound == 0 {
            return 0;
        }
        // The high half of a product of 128 bits is the answer. The low half tells whether it
        // fell into the part that would make some answers likelier than others.
        let unfair = bound.wrapping_neg() % bound;
        loop {
            let product = u128::from(self.next_u64()) * u128::from(bound);
            if product as u64 >= unfair {
                return (product >> 64) as u64;
            }
        }
    }

    /// Shuffles in place (Fisher and Yates, from the last place to the second): every order is
    /// equally likely.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = self.below(last as u64 + 1) as usize;
            items.swap(last, other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first numbers of the published SplitMix64 for the seed 1234567.
    #[test]
    fn splitmix_gives_its_published_numbers() {
        let mut stream = SplitMix64::new(1_234_567);
        for expected in [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
            4_593_380_528_125_082_431,
            16_408_922_859_458_223_821,
        ] {
            assert_eq!(stream.next_u64(), expected);
        }
    }

    /// The first numbers of the published xoshiro256** for the state 1, 2, 3, 4.
    #[test]
    fn xoshiro_gives_its_published_numbers() {
        let mut generator = Generator::from_state([1, 2, 3, 4]);
        for expected in [
            11_520,
            0,
            1_509_978_240,
            1_215_971_899_390_074_240,
            1_216_172_134_540_287_360,
            607_988_272_756_665_600,
            16_172_922_978_634_559_625,
            8_476_171_486_693_032_832,
            10_595_114_339_597_558_777,
            2_904_607_092_377_533_576,
        ] {
            assert_eq!(generator.next_u64(), expected);
        }
    }

    #[test]
    fn numbers_below_a_bound_are_spread_evenly() {
        let mut generator = Generator::of_block(1, 0);
        let mut counts = [0_u32; 6];
        for _ in 0..60_000 {
            counts[generator.below(6) as usize] += 1;
        }
        // Five degrees of freedom: 20.5 is the 0.1 % point of chi squared.
        let chi_squared: f64 = counts
            .iter()
            .map(|&count| (f64::from(count) - 10_000.0).powi(2) / 10_000.0)
            .sum();
        assert!(chi_squared < 20.5, "{counts:?}");
        assert_eq!(generator.below(1), 0);
        assert_eq!(generator.below(0), 0);
    }

    #[test]
    fn every_order_of_three_is_equally_likely() {
        let mut counts = std::collections::BTreeMap::new();
        for block in 0..60_000 {
            let mut items = [0, 1, 2];
            Generator::of_block(7, block).shuffle(&mut items);
            *counts.entry(items).or_insert(0_u32) += 1;
        }
        assert_eq!(counts.len(), 6);
        let chi_squared: f64 = counts
            .values()
            .map(|&count| (f64::from(count) - 10_000.0).powi(2) / 10_000.0)
            .sum();
        assert!(chi_squared < 20.5, "{counts:?}");
    }

    /// Pins the order for ever: a change here breaks the continuing of experiments.
    #[test]
    fn the_order_of_a_seed_is_known() {
        let mut items: Vec<usize> = (0..12).collect();
        Generator::of_block(2007, 0).shuffle(&mut items);
        assert_eq!(items, [3, 1, 7, 4, 0, 9, 11, 2, 6, 5, 10, 8]);
        let mut items: Vec<usize> = (0..12).collect();
        Generator::of_block(2007, 1).shuffle(&mut items);
        assert_eq!(items, [1, 9, 2, 10, 7, 11, 4, 5, 3, 6, 8, 0]);
    }
}
