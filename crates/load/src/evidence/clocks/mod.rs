//! The kernel's clocks against the stopwatch: one that stood still, was set, or goes at another
//! rate shows as a disagreement.

mod capture;
mod decode;

pub use capture::{Sighting, Steps};
pub use decode::{Against, decode};
