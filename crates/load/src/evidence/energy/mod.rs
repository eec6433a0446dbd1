//! The energy that packages and their parts used, where the processor counts it, and what a battery
//! gave.

mod battery;
mod capture;
mod decode;

pub(crate) use capture::Energy;
