//! The engine, the targets and the store: an experiment is carried out here, run by run, and
//! every finished run is durable before the next begins.
//!
//! Nothing here knows a knob, a workload or a statistic by name.

pub mod acpi_tables;
pub mod engine;
pub mod exchange;
pub mod guest;
pub mod kernels;
pub mod store;
pub mod target;
pub mod targets;
