//! Plain samples compared: files of numbers, and whatever else has no plan that could be analysed.
//!
//! Where an [experiment](crate::analyse) has blocks, samples have nothing but their values. They are
//! taken as independent (Welch's t, which assumes no equal spread), or, where the caller says that
//! equal positions belong together, as pairs. The rules are those of the crate: three verdicts, one
//! family over all comparisons with Holm's correction, intervals at the confidence at which each was
//! tested, nothing finer claimed than the step of the scale, and a sentence for every answer.
//!
//! Rank tests stand beside the verdict and do not make it: they answer another question (which tends
//! to be larger), and where they disagree the reader is told.

mod arrange;
mod compare;
mod estimate;
mod findings;
mod health;
mod no_estimate;
mod origin;
mod outlook;
mod rank;
pub mod read;
mod scale;
mod series;

pub use arrange::{ArrangeError, Arranged, Group, Set, Source, arrange};
pub use compare::{Question, compare};
pub use findings::{Comparison, Findings, GroupFindings, Method, RankTest, SetFindings};
pub use origin::Origin;
pub use series::Series;
