//! Factorial analysis of variance, with blocks and error strata.
//!
//! Factors, levels and blocks are numbers from 0 here; what they mean is the caller's business.
//! Effects are coded to sum to zero, so that an effect is a difference of means over the levels of
//! the other factors, each level counting alike however often it was observed.

mod contrast;
mod design;
mod error;
mod factorial;
mod least_squares;
mod mixed;
mod model;
mod observations;
mod one_way;
mod split_plot;

pub use contrast::{Effect, Step};
pub use error::AnovaError;
pub use factorial::{Anova, Residual, SumsOfSquares, TermTest, anova};
pub use mixed::{RandomBlocks, random_blocks};
pub use model::{Model, Term};
pub use observations::Observations;
pub use one_way::{OneWay, one_way, one_way_of_decimals};
pub use split_plot::{SplitPlot, Stratum, split_plot};
