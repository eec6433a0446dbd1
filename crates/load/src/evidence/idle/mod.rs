//! How often and how long each CPU was in each of its idle states, as the kernel asked for it.

mod capture;
mod decode;

pub(super) use capture::Idle;
