//! Findings as one value, rendered in many formats.
//!
//! [`Report::of`] gathers what a reader may want to see from a record and its analysis; every
//! format in [`formats`] renders that value and nothing else. Pure: no file, no clock, no
//! terminal. The width and whether colour is wanted are arguments.
//!
//! [`samples`] does the same for plain samples, which have no record.
//!
//! A further format is a file in `formats/` and a line in its registry.

mod figures;
pub mod formats;
mod gather;
mod ministat;
pub mod plots;
mod report;
pub mod samples;
mod text_width;

pub use formats::{FORMATS, Format, Style};
pub use report::{
    AttemptRow, CaveatPart, ChoicePart, ComparisonPart, EffectPart, Ends, EvidencePart,
    ExperimentPart, FactorPart, Levels, MetricPart, OmissionPart, RecommendationPart, Report,
    RunsPart, TreatmentPart,
};
