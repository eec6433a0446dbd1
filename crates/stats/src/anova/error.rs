//! Why an analysis of variance cannot be made.

use thiserror::Error;

use super::model::Term;
use crate::degenerate::Degenerate;

/// A request that the data cannot answer.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum AnovaError {
    /// The values themselves are unfit.
    #[error(transparent)]
    Values(#[from] Degenerate),
    /// A list of levels or blocks does not have one entry for each value.
    #[error("{what} has {got} entries for {wanted} values; give one for each")]
    Length {
        /// Which list.
        what: &'static str,
        /// Its length.
        got: usize,
        /// The number of values.
        wanted: usize,
    },
    /// A factor has a single level.
    #[error("factor number {} has only one level, so it has no effect; leave it out", factor + 1)]
    OneLevel {
        /// The factor, from 0.
        factor: usize,
    },
    /// A level or block number was skipped.
    #[error("{what}: number {level} was never observed; number the observed ones from 0")]
    Unobserved {
        /// Levels of which factor, or blocks.
        what: String,
        /// The number without any value.
        level: usize,
    },
    /// More factors than a term can name.
    #[error("{got} factors are too many; at most 16 can be analysed together")]
    TooManyFactors {
        /// How many were given.
        got: usize,
    },
    /// The observed cells do not determine a term.
    #[error(
        "the observed combinations do not determine the effect of {term}; leave out its \
         interactions, or observe the missing combinations"
    )]
    NotEstimable {
        /// The first term that cannot be told from those before it.
        term: Term,
    },
    /// As many parameters as values.
    #[error(
        "{values} values leave nothing to estimate the error from beside {parameters} parameters; \
         repeat runs or leave out interactions"
    )]
    NoResidual {
        /// The number of values.
        values: usize,
        /// The number of parameters.
        parameters: usize,
    },
    /// The model fits perfectly.
    #[error(
        "the values follow the model without any error, so that no test can be made; \
         measure more finely"
    )]
    NoError,
    /// The effect asked for is not part of the model.
    #[error("the effect of {term} is not part of the model; add it")]
    NotInModel {
        /// The term asked for.
        term: Term,
    },
    /// A level that does not exist, or a comparison of a level with itself.
    #[error("levels {level} and {against} of factor number {} cannot be compared", factor + 1)]
    NoSuchComparison {
        /// The factor, from 0.
        factor: usize,
        /// The level.
        level: usize,
        /// The level to compare it with.
        against: usize,
    },
    /// A factor that should be constant within a boot is not.
    #[error("factor number {} changes within boot {boot}, so it is not one of whole boots", factor + 1)]
    ChangesWithinBoot {
        /// The factor, from 0.
        factor: usize,
        /// The boot, from 0.
        boot: usize,
    },
    /// A boot lacks combinations that others have.
    #[error(
        "boot {boot} does not hold every combination equally often, as the analysis by boots \
         needs; repeat its missing runs or leave the boot out"
    )]
    Unbalanced {
        /// The first such boot, from 0.
        boot: usize,
    },
}
