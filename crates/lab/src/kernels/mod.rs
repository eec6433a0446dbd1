//! Kernels for guests: where they are kept, which there are, and what those that can be made are
//! made of.
//!
//! A kernel of the name NAME is a file `bzImage-NAME` in a directory of the cache, with its
//! configuration beside it as `config-NAME` and its modules, where it has any, below
//! `modules-NAME`. Nothing here knows what a guest does with a kernel, or asks the network.

mod cache;
mod error;
mod kernel;
mod recipe;

pub use cache::{Cache, DEBIAN};
pub use error::KernelError;
pub use kernel::Kernel;
pub use recipe::{Recipe, TICK_RATES, lacking};
