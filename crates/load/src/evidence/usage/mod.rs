//! What the process and its waited-for descendants used, as its end told.

mod decode;

pub use decode::decode;
