//! Many comparisons at once: adjusted p-values and simultaneous intervals.

mod adjust;

pub use adjust::{benjamini_hochberg, bonferroni, holm};
