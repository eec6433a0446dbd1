//! The machines that experiments can run on, one file each.

mod local;
mod model;

pub use local::{Agent, LocalTarget, Watch};
pub use model::ModelTarget;
