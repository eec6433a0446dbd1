//! The words that every other part of knobstat speaks: levels, treatments, metrics, an
//! [`Experiment`] as its author wrote it, the [`Plan`] drawn from it, the [`Attempt`]s that
//! came of it, and the messages that cross the seam to the machine under test.
//!
//! Pure: nothing here reads a file, a clock or the environment, and nothing here knows a
//! particular knob or workload. What exists is told through a [`Vocabulary`].

pub mod experiment;
pub mod machine;
pub mod messages;
pub mod observation;
pub mod plan;
pub mod record;
pub mod vocabulary;
pub mod words;

pub use experiment::Experiment;
pub use machine::Machine;
pub use observation::{Attempt, Evidence, Outcome, RunResult};
pub use plan::Plan;
pub use record::Record;
pub use vocabulary::Vocabulary;
pub use words::{
    AttemptId, Better, Bytes, Celsius, CpuList, ExperimentId, Level, Metric, Parameters, Priority,
    Ratio, RunId, Treatment, Unit, Value,
};
