//! Plots in characters.

pub mod dots;
pub mod interval;
