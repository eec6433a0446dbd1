//! What the scheduler says of the process itself, its leader thread alone: how long it waited
//! for a CPU although it could have run, and how often it was moved.

mod capture;
mod decode;

pub use capture::Leader;
