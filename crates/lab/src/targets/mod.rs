//! The machines that experiments can run on, one file each.

mod local;

pub use local::{Agent, LocalTarget, Watch};
