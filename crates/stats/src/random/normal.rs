//! Normal random numbers.

use super::Generator;

impl Generator {
    /// A standard normal number, by Marsaglia's polar method (1964). The second number of each pair
    /// is not kept, so that the sequence depends on nothing but the generator's state.
    pub fn normal(&mut self) -> f64 {
        loop {
            let u = 2.0 * self.uniform() - 1.0;
            let v = 2.0 * self.uniform() - 1.0;
            let square = u * u + v * v;
            if square > 0.0 && square < 1.0 {
                return u * libm::sqrt(-2.0 * libm::log(square) / square);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::Moments;

    #[test]
    fn moments_are_those_of_the_normal_distribution() {
        let mut generator = Generator::from_seed(1);
        let values: Vec<f64> = (0..20_000).map(|_| generator.normal()).collect();
        let moments = Moments::of(&values).unwrap();
        assert!(moments.mean.abs() < 0.03, "{moments:?}");
        assert!((moments.sd.unwrap() - 1.0).abs() < 0.02, "{moments:?}");
        let beyond = values.iter().filter(|value| value.abs() > 1.96).count();
        assert!((900..1100).contains(&beyond), "{beyond}");
    }
}
