//! The columns of a linear model, coded to sum to zero.

use super::error::AnovaError;
use super::least_squares::{Dependent, Fit, fit};
use super::model::{Model, Term};
use super::observations::Observations;

/// All columns of a model and which of them belong to which term.
#[derive(Debug, Clone)]
pub(super) struct Design {
    pub(super) columns: Vec<Vec<f64>>,
    /// The columns that belong to no term: the mean and the blocks.
    pub(super) leading: usize,
    /// Every term with its first column and its number of columns.
    pub(super) terms: Vec<(Term, usize, usize)>,
}

/// The code of a level of a factor with `count` levels: one column a level but the last, which is
/// minus one in all of them.
pub(super) fn code(level: usize, count: usize) -> Vec<f64> {
    (0..count - 1)
        .map(|column| {
            if level + 1 == count {
                -1.0
            } else {
                f64::from(u8::from(level == column))
            }
        })
        .collect()
}

/// All products of one entry of each list, the last list running fastest.
pub(super) fn products(lists: &[Vec<f64>]) -> Vec<f64> {
    lists.iter().fold(vec![1.0], |products, list| {
        products
            .iter()
            .flat_map(|product| list.iter().map(move |entry| product * entry))
            .collect()
    })
}

impl Design {
    /// The mean, the blocks (numbered from 0 to `count - 1`) and the terms of `model`.
    pub(super) fn new(
        observations: &Observations,
        model: &Model,
        blocks: Option<(&[usize], usize)>,
    ) -> Result<Self, AnovaError> {
        let n = observations.len();
        let mut columns = vec![vec![1.0; n]];
        if let Some((blocks, count)) = blocks {
            columns.extend(transposed(
                count.saturating_sub(1),
                blocks.iter().map(|block| code(*block, count)),
            ));
        }
        let leading = columns.len();
        let mut terms = Vec::with_capacity(model.terms().len());
        for term in model.terms() {
            let counts = term
                .factors()
                .into_iter()
                .map(|factor| {
                    let count = observations.level_count(factor);
                    Ok((factor, count.ok_or(AnovaError::NotInModel { term: *term })?))
                })
                .collect::<Result<Vec<_>, AnovaError>>()?;
            let width = counts.iter().map(|(_, count)| count - 1).product();
            let rows = (0..n).map(|value| {
                let codes: Vec<Vec<f64>> = counts
                    .iter()
                    .map(|(factor, count)| code(observations.level(*factor, value), *count))
                    .collect();
                products(&codes)
            });
            terms.push((*term, columns.len(), width));
            columns.extend(transposed(width, rows));
        }
        Ok(Self {
            columns,
            leading,
            terms,
        })
    }

    /// Fits all columns.
    pub(super) fn fit(&self, values: &[f64]) -> Result<Fit, AnovaError> {
        if self.columns.len() >= values.len() {
            return Err(AnovaError::NoResidual {
                values: values.len(),
                parameters: self.columns.len(),
            });
        }
        fit(&self.columns, values).map_err(|dependent| self.not_estimable(dependent))
    }

    /// By how much the residual sum of squares of the whole fit grows with only those terms that
    /// `keep` wants.
    pub(super) fn growth_with(
        &self,
        whole: &Fit,
        keep: impl Fn(Term) -> bool,
    ) -> Result<f64, AnovaError> {
        let kept = |column: usize| {
            let mut terms = self.terms.iter();
            let term = terms.find(|(_, first, width)| (*first..first + width).contains(&column));
            term.is_none_or(|(term, _, _)| keep(*term))
        };
        // A selection of independent columns is independent.
        whole
            .growth_with(kept)
            .map_err(|dependent| self.not_estimable(dependent))
    }

    /// By how much the residual sum of squares of the whole fit grows without the blocks.
    pub(super) fn growth_without_blocks(&self, whole: &Fit) -> Result<f64, AnovaError> {
        whole
            .growth_with(|column| column == 0 || column >= self.leading)
            .map_err(|dependent| self.not_estimable(dependent))
    }

    fn not_estimable(&self, dependent: Dependent) -> AnovaError {
        let term = self
            .terms
            .iter()
            .rev()
            .find(|(_, first, _)| *first <= dependent.column)
            .or(self.terms.first())
            .map_or(Term::of(&[]), |(term, _, _)| *term);
        AnovaError::NotEstimable { term }
    }
}

fn transposed(width: usize, rows: impl Iterator<Item = Vec<f64>>) -> Vec<Vec<f64>> {
    let mut columns = vec![Vec::new(); width];
    for row in rows {
        for (column, entry) in columns.iter_mut().zip(row) {
            column.push(entry);
        }
    }
    columns
}
