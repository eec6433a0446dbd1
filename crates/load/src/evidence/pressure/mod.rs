//! How long tasks of the machine waited for CPU, memory or input and output.

mod capture;
mod decode;

pub(super) use capture::Pressure;
