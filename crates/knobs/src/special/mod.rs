//! The mechanisms by which knobs are read and turned: files as the catalogue describes them, and
//! code where data does not reach.

pub mod address_randomization;
pub mod commanded;
pub mod cpus_online;
pub mod idle_states;
pub mod kernel_fact;
pub mod latency;
pub mod sysctl;
pub mod written;
