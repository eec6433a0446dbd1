//! The comparison of plain samples, rendered: text for a terminal, JSON for programs.

mod json;
mod text;

pub use json::{SCHEMA, json};
pub use text::text;
