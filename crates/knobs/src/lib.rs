//! The catalogue of a machine's settings: what they are, whether they can be had here, and how
//! they are turned, read back and put back in every ending.
//!
//! [`Knobs`] is what the agent uses; [`states`] and [`vocabulary`] are for people and for the
//! reader of experiment files; [`guardian::main`] is the process that puts a machine back when
//! everything else has ended. Nothing here knows a workload, a plan or a store.
#![cfg(target_os = "linux")]

mod apply;
mod availability;
mod boot;
mod boot_change;
pub mod boot_entry;
mod catalogue;
mod checksum;
mod control_group;
mod documentation;
mod files;
pub mod guardian;
mod journal;
mod knob;
mod leftovers;
mod named;
mod opening;
mod owners;
mod patience;
mod pattern;
mod refusal;
mod restore;
mod session;
mod special;
mod state_directory;
mod states;
mod system;
mod taint;
mod taking;
mod untold;
mod value;

#[cfg(test)]
mod fake;
#[cfg(test)]
mod tests;

pub use apply::ApplyError;
pub use availability::Unavailable;
pub use boot_change::{BootChange, boot_change};
pub use catalogue::EffectCheck;
pub use documentation::{About, abouts, documentation, markdown};
pub use journal::JournalError;
pub use knob::Refused;
pub use leftovers::{BeginError, heard, plan_put_back, put_back};
pub use owners::{OWNERS, Owner, running as running_owners};
pub use session::{Applied, Knobs, Options, SpawnSettings};
pub use special::latency::microseconds;
pub use state_directory::{StateDirectory, StateDirectoryError};
pub use states::{effect_check, needs_boot, state_of, states, vocabulary};
pub use system::System;
pub use taking::Holder;
