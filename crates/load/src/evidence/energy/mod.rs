//! The energy that packages and their parts used, where the processor counts it.

mod capture;
mod decode;

pub(super) use capture::Energy;
