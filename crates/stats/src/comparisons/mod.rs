//! Many comparisons at once: adjusted p-values and simultaneous intervals.
//!
//! Holm's adjustment is the default, since it asks nothing of the dependence between the
//! comparisons; Dunnett's and Tukey's tests have intervals that hold at once and agree with their
//! p-values, for means with one common error.

mod adjust;
mod dunnett;
mod group_means;
mod simultaneous;
mod tukey;

pub use adjust::{benjamini_hochberg, bonferroni, holm};
pub use dunnett::dunnett;
pub use group_means::{GroupMeans, SimultaneousComparison};
pub use simultaneous::{bonferroni_confidence, holm_confidences, holm_rejects};
pub use tukey::tukey;
