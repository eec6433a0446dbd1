//! Tests of one difference: between two sets of values, or of differences within blocks.

pub mod bootstrap;
pub mod effect_size;
pub mod equivalence;
pub mod hodges_lehmann;
pub mod mann_whitney;
mod pair_selection;
pub mod paired;
mod rank_distribution;
pub(crate) mod ranks;
pub mod ratio;
pub mod signed_rank;
pub mod student;
pub(crate) mod t_statistic;
pub mod welch;
