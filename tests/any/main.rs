//! End to end through the program, as any user: one module a promise.

#[path = "../support/mod.rs"]
mod support;

mod bad_input;
mod bounds;
mod check;
mod coarse_clock;
mod commands;
mod compare;
mod documentation;
mod durable;
mod ends;
mod evidence;
mod examples;
mod experiment;
mod failure_modes;
mod forced;
mod freebsd;
mod guarded;
mod put_back;
mod reboots;
mod silence;
mod simulated;
mod stdio;
mod stopping;
mod surveys;
mod udp;
mod vm_prepare;
mod vm_target;
