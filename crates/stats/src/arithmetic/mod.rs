//! Arithmetic with twice the digits of a double, for sums that must not lose any.

mod double_double;

pub use double_double::{DoubleDouble, ParseDecimalError};
