//! At which frequency each CPU ran while it was not idle: APERF against MPERF.

mod capture;
mod decode;

pub(super) use capture::Frequency;
