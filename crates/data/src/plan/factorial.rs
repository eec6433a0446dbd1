//! The full factorial: every combination of the levels, as written.

use crate::experiment::Factor;
use crate::words::{Setting, Treatment};

/// Every treatment of these factors, in the order as written, the last factor fastest.
///
/// The length of the result is the product of the numbers of levels.
pub fn full_factorial(factors: &[Factor]) -> Vec<Treatment> {
    let mut treatments = vec![Treatment::default()];
    for factor in factors {
        treatments = treatments
            .iter()
            .flat_map(|shorter| {
                factor.levels.iter().map(|level| {
                    let mut longer = Treatment {
                        settings: Vec::with_capacity(shorter.settings.len() + 1),
                    };
                    longer.settings.extend_from_slice(&shorter.settings);
                    longer
                        .settings
                        .push(Setting::new(factor.name.clone(), level.clone()));
                    longer
                })
            })
            .collect();
    }
    treatments
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::FactorKind;
    use crate::words::Level;

    #[test]
    fn the_last_factor_is_the_fastest() {
        let factor = |name: &str, levels: &[&str]| Factor {
            name: name.to_owned(),
            levels: levels.iter().map(|level| Level::text(*level)).collect(),
            kind: FactorKind::Placeholder,
        };
        let texts: Vec<String> =
            full_factorial(&[factor("a", &["1", "2"]), factor("b", &["x", "y", "z"])])
                .iter()
                .map(ToString::to_string)
                .collect();
        assert_eq!(
            texts,
            [
                "a=1 b=x", "a=1 b=y", "a=1 b=z", "a=2 b=x", "a=2 b=y", "a=2 b=z"
            ]
        );
    }
}
