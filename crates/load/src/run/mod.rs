//! One run, from the wait before it to what it yielded.
//!
//! `bracket` is the order of things and nothing else; `Executor` does them on the machine.

mod bracket;
mod environment;
mod executor;
mod hands;
mod hindrances;
mod identity;
mod process;
mod seat;
mod settle;
mod streams;
mod surroundings;
mod survivors;
mod timed;

#[cfg(test)]
mod tests;

pub use executor::{Executor, ExecutorError, SpawnSettings, StepError};
pub use hindrances::hindrances;
pub use process::STEP_LIMIT_AFTER_INTERRUPT;
pub use settle::COOLING_LIMIT;
pub use streams::LARGEST_OUTPUT;

/// The variable that marks every process of an experiment.
pub const MARK: &str = "KNOBSTAT_EXPERIMENT";
