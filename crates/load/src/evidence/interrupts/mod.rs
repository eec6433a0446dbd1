//! Interrupts on each CPU: the timer's, those that wake another CPU, and all of them.

mod capture;
mod decode;

pub(super) use capture::Interrupts;
