//! The machines that experiments can run on, one file each.

mod local;
mod model;
mod vm;

pub use local::{Agent, LocalTarget, Reboots, Watch};
pub use model::ModelTarget;
pub use vm::{Parts, VmError, VmOnPaper, VmTarget};
