//! What the harness's other processes did while the run was measured: they should have slept.

mod capture;
mod decode;

pub use capture::Companions;
