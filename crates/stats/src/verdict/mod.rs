//! Three verdicts, never two: different, equivalent, undecided.
//!
//! The default analysis of a family of comparisons: for each comparison the differences within
//! blocks, tested by the paired t test, adjusted by Holm's method over the family; equivalence by two
//! one-sided tests within a margin that the user gave, adjusted likewise.

mod family;
mod outlook;

pub use family::{Judged, Question, Reason, TestUsed, Verdict, judge};
pub use outlook::more_blocks;
