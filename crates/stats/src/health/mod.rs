//! Whether a series of values can be trusted: plain findings, one question a file.
//!
//! All functions take the values in the order in which they were measured.

mod autocorrelation;
mod bimodality;
mod change_point;
mod few_values;
mod granularity;
mod outliers;
mod trend;
mod warm_up;

pub use autocorrelation::{LjungBox, autocorrelation, autocorrelation_of_decimals, ljung_box};
pub use bimodality::{TwoModes, bimodality};
pub use change_point::{ChangePoint, change_point};
pub use few_values::{Enough, enough_values};
pub use granularity::{Coarseness, Granularity, granularity};
pub use outliers::outliers;
pub use trend::{Trend, trend};
pub use warm_up::{WarmUp, warm_up};
