//! The commands about what the store keeps.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// `knobstat list`
#[derive(Debug, Args)]
pub struct List {
    /// Print as JSON.
    #[arg(long)]
    pub json: bool,
}

/// `knobstat show`
#[derive(Debug, Args)]
pub struct Show {
    /// The experiment: its id, the beginning of it, or its name; by default the one begun last.
    pub experiment: Option<String>,
    /// Print as JSON.
    #[arg(long)]
    pub json: bool,
}

/// `knobstat report`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  knobstat report
  knobstat report 3f2a
  knobstat report 3f2a --evidence
  knobstat report 3f2a --format markdown >report.md")]
pub struct Report {
    /// The experiment: its id, the beginning of it, or its name; by default the one begun last.
    pub experiment: Option<String>,
    /// The format.
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    pub format: ReportFormat,
    /// Short for `--format json`.
    #[arg(long, conflicts_with = "format")]
    pub json: bool,
    /// Also show what was seen besides the metrics, side by side by treatment (text and JSON).
    #[arg(long)]
    pub evidence: bool,
}

/// The formats of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// For a terminal.
    Text,
    /// For a page.
    Markdown,
    /// One row an attempt and metric.
    Csv,
    /// For programs: knobstat.report/1.
    Json,
    /// Columns that ministat reads.
    Ministat,
}

/// `knobstat export`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  knobstat export 3f2a >experiment.json
  knobstat export 3f2a --format csv >attempts.csv")]
pub struct Export {
    /// The experiment: its id, the beginning of it, or its name; by default the one begun last.
    pub experiment: Option<String>,
    /// The format.
    #[arg(long, value_enum, default_value_t = ExportFormat::Json)]
    pub format: ExportFormat,
}

/// The formats of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// Everything; `knobstat import` reads it.
    Json,
    /// Every attempt, metric and piece of evidence, one row each.
    Csv,
}

/// `knobstat import`
#[derive(Debug, Args)]
pub struct Import {
    /// The exported file, or `-` for standard input.
    pub file: PathBuf,
}
