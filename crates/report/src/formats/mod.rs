//! The formats that a report can be had in: one file each, and a line in [`FORMATS`].

mod csv;
mod json;
mod markdown;
mod ministat;
mod text;

use crate::Report;

/// What a format may use of the place that it is printed to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// The columns that a line may take, for the formats that people read.
    pub width: usize,
    /// Whether colour is wanted.
    pub colour: bool,
}

impl Default for Style {
    /// Eighty columns, no colour.
    fn default() -> Self {
        Self {
            width: 80,
            colour: false,
        }
    }
}

/// A format.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// The word by which it is asked for.
    pub name: &'static str,
    /// One line on what it is for.
    pub summary: &'static str,
    /// Renders a report; the text ends with a newline.
    pub render: fn(&Report, Style) -> String,
}

/// Every format, the default one first.
pub const FORMATS: [Format; 5] = [
    text::FORMAT,
    markdown::FORMAT,
    json::FORMAT,
    csv::FORMAT,
    ministat::FORMAT,
];

/// The format of this name.
pub fn find(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name)
}
