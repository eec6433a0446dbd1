//! Random numbers from a seed, the same on every machine.

mod generator;
mod normal;

pub use generator::Generator;
