//! Reading an experiment file: one module for each of its tables.

pub(super) mod analysis;
pub(super) mod design;
pub(super) mod factors;
pub(super) mod fixed;
pub(super) mod knobs;
mod metrics;
pub(super) mod names;
mod parameters;
mod partial;
mod section;
pub(super) mod target;
mod virtual_machine;
pub(super) mod workload;

pub(super) use section::{Entry, Reader, Section, members as section_members};
