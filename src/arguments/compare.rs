//! Comparing files of numbers, or experiments.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use knobstat_data::Ratio;

/// `knobstat compare`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  knobstat compare before.txt after.txt
  knobstat compare before.txt after.txt --better lower --margin 1% --fail-on regression
  knobstat compare -C time old.csv new.csv --json
  knobstat compare 3f2a after.json")]
pub struct Compare {
    /// Files of numbers (`-`: standard input), exports of knobstat, or experiments of the store by
    /// id or name. The first is the baseline.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// The column: a number from 1, a name of a header, a unit of Go's, a metric. Several times for
    /// several.
    #[arg(short = 'C', long = "column", value_name = "COLUMN")]
    pub columns: Vec<String>,
    /// The characters that separate columns.
    #[arg(short, long = "delimiters", value_name = "CHARACTERS")]
    pub delimiters: Option<String>,
    /// What the files are, where their content does not tell.
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub format: Option<CompareFormat>,
    /// Only benchmarks, commands or treatments with this text in their name.
    #[arg(long, value_name = "TEXT")]
    pub select: Option<String>,
    /// Which is the baseline, by its name or by a part of it that no other has.
    #[arg(long, value_name = "NAME")]
    pub baseline: Option<String>,
    /// Values at equal positions belong together.
    #[arg(long)]
    pub paired: bool,
    /// Differences smaller than this share of the baseline's mean do not matter.
    #[arg(long, value_name = "PERCENT", value_parser = share, allow_hyphen_values = true)]
    pub margin: Option<Ratio>,
    /// How sure all verdicts together must be.
    #[arg(long, value_name = "PERCENT", default_value = "95%", value_parser = share, allow_hyphen_values = true)]
    pub confidence: Ratio,
    /// Which way is better, where the files do not say or to say otherwise.
    #[arg(long, value_enum, value_name = "DIRECTION")]
    pub better: Option<Direction>,
    /// End with exit code 6 where this is found: a difference for the worse, or any.
    #[arg(long, value_enum, value_name = "FINDING")]
    pub fail_on: Option<FailOn>,
    /// Print as JSON: knobstat.compare/1.
    #[arg(long)]
    pub json: bool,
}

/// What a file of numbers may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CompareFormat {
    /// A number a line, or columns between blanks.
    Columns,
    /// Comma-separated values under a header.
    Csv,
    /// hyperfine's JSON, versions 1 and 2.
    Hyperfine,
    /// Go's benchmarks.
    Go,
    /// An export of knobstat.
    Record,
}

/// Which way is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Direction {
    /// More is better: a throughput.
    Higher,
    /// Less is better: a time.
    Lower,
}

/// What `--fail-on` may look for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// A difference for the worse.
    Regression,
    /// A difference either way.
    Difference,
}

/// A share in percent, with its sign or without: `1%`, `95`.
fn share(text: &str) -> Result<Ratio, String> {
    let digits = text.trim().trim_end_matches('%').trim_end();
    match digits.parse::<f64>() {
        Ok(percent) if percent > 0.0 && percent < 100.0 => Ok(Ratio::from_percent(percent)),
        _ => Err("write it in percent, above 0 and below 100, as in 1%".to_owned()),
    }
}
