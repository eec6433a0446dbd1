//! The smallest words: one idea a file.

mod cpus;
mod identity;
mod level;
mod metric;
mod parameters;
mod priority;
mod quantity;
mod treatment;

pub use cpus::{CpuList, CpuListError};
pub use identity::{AttemptId, ExperimentId, RequestId, RunId, sha256};
pub use level::Level;
pub use metric::{Better, Metric, Unit};
pub use parameters::{Parameters, Value};
pub use priority::{Priority, PriorityError};
pub use quantity::{BitRate, Bytes, Celsius, Ratio, UnixTime};
pub use treatment::{Setting, Treatment};
