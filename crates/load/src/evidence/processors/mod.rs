//! What the CPUs did meanwhile, and what a hypervisor took from them.

mod capture;
mod decode;

pub(super) use capture::Processors;
