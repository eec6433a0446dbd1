//! Below the seam: the process that serves requests on the machine under test, and the doctor.
//!
//! It holds no data: what was measured goes over the seam at once. It knows knobs and workloads
//! by the catalogue and the registry alone, and nothing of plans, stores or reports.

#![cfg(target_os = "linux")]

mod conversation;
mod describe;
pub mod doctor;
mod effects;
mod reboot;
mod serve;
mod session;
mod watched;

pub use knobstat_knobs::{BootChange, Unavailable, boot_change};
pub use serve::serve;
