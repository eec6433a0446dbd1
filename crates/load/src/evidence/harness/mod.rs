//! What the harness itself did while the run was measured: it should have slept.

mod decode;

pub use decode::{Own, Seen, decode};
pub(in crate::evidence) use decode::{SWITCHES, VOLUNTARY_SWITCHES};
