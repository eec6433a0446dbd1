//! Tests of one difference: between two sets of values, or of differences within blocks.

pub mod equivalence;
pub mod paired;
pub(crate) mod ranks;
mod t_statistic;
pub mod welch;
