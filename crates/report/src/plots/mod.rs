//! Plots in characters.

pub mod dots;
pub mod histogram;
pub mod interval;
