//! Why nothing can be compared.

use thiserror::Error;

use crate::phrase;

/// Why nothing can be compared.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ArrangeError {
    /// There is nothing at all.
    #[error("there is nothing to compare")]
    Nothing,
    /// No set has the name of the baseline.
    #[error("no baseline is called {wanted}; there is {}", phrase::list(.present, "and"))]
    NoBaseline {
        /// The name.
        wanted: String,
        /// The names that there are.
        present: Vec<String>,
    },
    /// No label is in both the baseline and another source.
    #[error(
        "{first} and {second} have nothing in common: the one has {of_first}, the other {of_second}"
    )]
    NothingInCommon {
        /// The baseline.
        first: String,
        /// A source that shares nothing with it.
        second: String,
        /// What the baseline has.
        of_first: String,
        /// What the other has.
        of_second: String,
    },
    /// The values are in different units.
    #[error("{first} is in {of_first} and {second} in {of_second}, which cannot be compared")]
    Units {
        /// A set.
        first: String,
        /// Its unit.
        of_first: String,
        /// Another.
        second: String,
        /// Its unit.
        of_second: String,
    },
    /// The selection leaves nothing.
    #[error("nothing in {source_name} has \"{wanted}\" in its name; it has {present}")]
    NothingSelected {
        /// The source.
        source_name: String,
        /// What was asked for.
        wanted: String,
        /// What it has.
        present: String,
    },
}
