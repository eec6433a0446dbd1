//! Values and the levels at which they were observed.

use super::error::AnovaError;
use crate::arithmetic::DoubleDouble;
use crate::degenerate::require;

/// Values, each with one level of every factor.
#[derive(Debug, Clone, PartialEq)]
pub struct Observations {
    /// For every factor, the level of each value.
    levels: Vec<Vec<usize>>,
    /// For every factor, the number of its levels.
    counts: Vec<usize>,
    /// The values less their mean, which no effect depends on and which would cost digits.
    centred: Vec<f64>,
}

impl Observations {
    /// Takes for every factor the level of each value, numbered from 0 without gaps.
    ///
    /// # Errors
    /// When there are no values, one is not finite, a list has another length, a factor has a single
    /// level or a level without values, or there are more than 16 factors.
    pub fn new(levels: Vec<Vec<usize>>, values: &[f64]) -> Result<Self, AnovaError> {
        require(values, 2)?;
        if levels.len() > 16 {
            return Err(AnovaError::TooManyFactors { got: levels.len() });
        }
        let mut counts = Vec::with_capacity(levels.len());
        for (factor, levels) in levels.iter().enumerate() {
            let what = || format!("levels of factor number {}", factor + 1);
            let count = count_groups(levels, values.len(), "a factor", what)?;
            if count < 2 {
                return Err(AnovaError::OneLevel { factor });
            }
            counts.push(count);
        }
        let mean =
            DoubleDouble::sum(values.iter().copied()) / DoubleDouble::from(values.len() as f64);
        let centred = values
            .iter()
            .map(|value| {
                let difference = (DoubleDouble::from(*value) - mean).to_f64();
                crate::degenerate::finite(difference, "the distance from the mean")
            })
            .collect::<Result<_, _>>()?;
        Ok(Self {
            levels,
            counts,
            centred,
        })
    }

    /// The number of values.
    pub fn len(&self) -> usize {
        self.centred.len()
    }

    /// Whether there are none; there always are some.
    pub fn is_empty(&self) -> bool {
        self.centred.is_empty()
    }

    /// The number of factors.
    pub fn factors(&self) -> usize {
        self.levels.len()
    }

    pub(super) fn level(&self, factor: usize, value: usize) -> usize {
        self.levels[factor][value]
    }

    pub(super) fn level_count(&self, factor: usize) -> Option<usize> {
        self.counts.get(factor).copied()
    }

    pub(super) fn centred(&self) -> &[f64] {
        &self.centred
    }
}

/// The number of groups (levels or blocks), after checking that each has a value.
pub(super) fn count_groups(
    groups: &[usize],
    values: usize,
    list: &'static str,
    what: impl Fn() -> String,
) -> Result<usize, AnovaError> {
    if groups.len() != values {
        return Err(AnovaError::Length {
            what: list,
            got: groups.len(),
            wanted: values,
        });
    }
    // A gap may make the largest number huge: look for the first number that is missing instead
    // of making a table.
    let mut seen: Vec<usize> = groups.to_vec();
    seen.sort_unstable();
    seen.dedup();
    match seen
        .iter()
        .enumerate()
        .find(|(index, group)| index != *group)
    {
        Some((missing, _)) => Err(AnovaError::Unobserved {
            what: what(),
            level: missing,
        }),
        None => Ok(seen.len()),
    }
}
