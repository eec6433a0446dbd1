//! Which effects a model has.

use std::fmt;

use super::error::AnovaError;

/// An effect: of one factor, or the interaction of several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Term {
    /// Bit f is set when factor f takes part.
    factors: u32,
}

impl Term {
    /// The effect of these factors together.
    pub fn of(factors: &[usize]) -> Self {
        Self {
            factors: factors
                .iter()
                .fold(0, |set, factor| set | 1 << (factor & 31)),
        }
    }

    /// The factors, in ascending order.
    pub fn factors(self) -> Vec<usize> {
        (0..32)
            .filter(|factor| self.factors >> factor & 1 == 1)
            .collect()
    }

    /// How many factors take part: 1 for a main effect.
    pub fn order(self) -> usize {
        self.factors.count_ones() as usize
    }

    /// Whether all factors of `other` take part in this term too.
    pub fn contains(self, other: Term) -> bool {
        self.factors & other.factors == other.factors
    }
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self
            .factors()
            .iter()
            .map(|factor| format!("factor number {}", factor + 1))
            .collect();
        f.write_str(&names.join(" with "))
    }
}

/// The effects of a model: main effects first, then interactions by rising order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Model {
    terms: Vec<Term>,
}

impl Model {
    /// All main effects and all interactions of up to `order` of so many factors.
    ///
    /// # Errors
    /// When there are more than 16 factors.
    pub fn up_to_order(factors: usize, order: usize) -> Result<Self, AnovaError> {
        if factors > 16 {
            return Err(AnovaError::TooManyFactors { got: factors });
        }
        let mut terms: Vec<Term> = (1_u32..1 << factors)
            .map(|factors| Term { factors })
            .filter(|term| term.order() <= order)
            .collect();
        terms.sort_by_key(|term| (term.order(), term.factors()));
        Ok(Self { terms })
    }

    /// All main effects and interactions.
    ///
    /// # Errors
    /// When there are more than 16 factors.
    pub fn full_factorial(factors: usize) -> Result<Self, AnovaError> {
        Self::up_to_order(factors, factors)
    }

    /// Only those terms that `keep` wants.
    pub fn filtered(&self, keep: impl Fn(Term) -> bool) -> Self {
        Self {
            terms: self
                .terms
                .iter()
                .copied()
                .filter(|term| keep(*term))
                .collect(),
        }
    }

    /// The terms, in order.
    pub fn terms(&self) -> &[Term] {
        &self.terms
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_come_by_order() {
        let model = Model::full_factorial(3).unwrap();
        let factors: Vec<Vec<usize>> = model.terms().iter().map(|term| term.factors()).collect();
        assert_eq!(
            factors,
            [
                vec![0],
                vec![1],
                vec![2],
                vec![0, 1],
                vec![0, 2],
                vec![1, 2],
                vec![0, 1, 2]
            ]
        );
        assert_eq!(Model::up_to_order(3, 2).unwrap().terms().len(), 6);
        assert_eq!(
            Term::of(&[0, 2]).to_string(),
            "factor number 1 with factor number 3"
        );
        assert!(Model::full_factorial(17).is_err());
    }
}
