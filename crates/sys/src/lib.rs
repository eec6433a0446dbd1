//! System calls, rooted files, clocks and spawning: the only unsafe code of knobstat.
//!
//! Each module wraps one idea of the kernel's interface as small and as typed as it can be. It
//! knows nothing of experiments, knobs or workloads.

#[cfg(target_os = "linux")]
pub mod clock;
#[cfg(target_os = "linux")]
pub mod durable;
#[cfg(target_os = "linux")]
pub mod free_room;
pub mod kernel_module;
#[cfg(target_os = "linux")]
pub mod lock;
#[cfg(target_os = "linux")]
pub mod machine;
#[cfg(target_os = "linux")]
pub mod mount;
#[cfg(target_os = "linux")]
pub mod net;
#[cfg(target_os = "linux")]
pub mod parent;
#[cfg(target_os = "linux")]
pub mod perf;
#[cfg(target_os = "linux")]
pub mod pidfd;
#[cfg(target_os = "linux")]
pub mod poll;
#[cfg(target_os = "linux")]
pub mod power;
#[cfg(target_os = "linux")]
pub mod priority;
#[cfg(target_os = "linux")]
pub mod processes;
#[cfg(target_os = "linux")]
pub mod root;
#[cfg(target_os = "linux")]
pub mod serial;
#[cfg(target_os = "linux")]
pub mod session;
#[cfg(target_os = "linux")]
pub mod signals;
#[cfg(target_os = "linux")]
pub mod spawn;
#[cfg(target_os = "linux")]
pub mod streams;
#[cfg(target_os = "linux")]
pub mod terminal;
#[cfg(target_os = "linux")]
pub mod tick;
#[cfg(target_os = "linux")]
pub mod timer_slack;
#[cfg(target_os = "linux")]
pub mod topology;
#[cfg(target_os = "linux")]
pub mod unnamed_file;
#[cfg(target_os = "linux")]
pub mod user;
