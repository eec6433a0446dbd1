//! How often and how long processors slowed down because they were too hot.

mod capture;
mod decode;

pub(super) use capture::Throttling;
