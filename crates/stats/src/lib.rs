//! Numbers in, verdicts out: knobstat's statistics, and ministat's arithmetic.
//!
//! Everything here is a pure function of its arguments: no file, clock, environment or global
//! state, and no knowledge of experiments, treatments or units. An input that a formula cannot
//! digest (no spread, too few values, a mean near zero under a ratio) gives a [`Degenerate`] or
//! `None`, never NaN, an infinity or a panic.
//!
//! | module | question |
//! |---|---|
//! | [`summary`] | what do these values look like? |
//! | [`tests`] | do two sets of values differ, and by how much? |
//! | [`comparisons`] | and if I ask many times? |
//! | [`anova`] | and with several factors, blocks, or boots? |
//! | [`sequential`] | and if I look after every block? |
//! | [`planning`] | how many blocks does that take? |
//! | [`verdict`] | so is it different, equivalent, or undecided? |
//! | [`health`] | can this series be trusted? |
//! | [`ministat`] | what would ministat have printed? |

pub mod anova;
pub mod arithmetic;
pub mod comparisons;
mod confidence;
mod degenerate;
pub mod distributions;
pub mod health;
mod interval;
pub mod ministat;
pub mod planning;
pub mod random;
pub mod sequential;
pub mod summary;
pub mod tests;
pub mod verdict;

pub use confidence::Confidence;
pub use degenerate::Degenerate;
pub use interval::Interval;
