//! Records as files: complete JSON out and in, and CSV out for every other program.
//!
//! Pure: texts and records, no store and no file.

mod check;
mod csv;
mod json;

pub use check::{RecordError, check};
pub use csv::csv;
pub use json::{ImportError, SCHEMA, from_json, to_json};
