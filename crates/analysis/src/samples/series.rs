//! A series of numbers and what is known of it.

use knobstat_data::Better;
use knobstat_data::observation::Limit;

/// Numbers that were measured alike, in the order in which they stand in their file.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// What was measured: a benchmark, a command, a treatment; empty where the file does not say.
    pub label: String,
    /// The quantity: a column's name, a unit of Go's, a metric; empty where the file does not say.
    pub metric: String,
    /// The unit; empty where the file does not say.
    pub unit: String,
    /// Which way is better, where that is known.
    pub better: Option<Better>,
    /// The values; finite.
    pub values: Vec<f64>,
    /// Places of the file that had no value: empty cells, lines that end too early.
    pub passed_over: usize,
    /// The step of the clock that the values were read from, where it is known.
    pub granularity: Option<f64>,
    /// What held the values down, where it was not the thing under test.
    pub limited_by: Option<Limit>,
    /// The factor that changes the clock by which the workload timed itself.
    pub self_timed: Option<String>,
    /// What the reader noticed, in sentences.
    pub notes: Vec<String>,
}

impl Series {
    /// An empty series.
    pub fn new(label: String, metric: String) -> Self {
        Self {
            label,
            metric,
            unit: String::new(),
            better: None,
            values: Vec::new(),
            passed_over: 0,
            granularity: None,
            limited_by: None,
            self_timed: None,
            notes: Vec::new(),
        }
    }
}
