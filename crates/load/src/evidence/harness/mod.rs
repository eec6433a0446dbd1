//! What the harness itself did while the run was measured: it should have slept.

mod decode;

pub use decode::{Seen, decode};
