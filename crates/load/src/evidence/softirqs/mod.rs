//! Deferred work of interrupts on each CPU: timers, scheduling, RCU, the network.

mod capture;
mod decode;

pub(super) use capture::SoftInterrupts;
