//! `knobstat export`: one experiment written out, nothing lost on the way.

use knobstat_lab::exchange::{csv, to_json};

use super::show;
use crate::arguments::{Export, ExportFormat, Global};
use crate::output;
use crate::trouble::Trouble;

/// Prints the record.
pub fn run(arguments: &Export, global: &Global) -> Result<(), Trouble> {
    let record = show::load(arguments.experiment.as_deref(), global)?;
    let text = match arguments.format {
        ExportFormat::Csv => csv(&record),
        ExportFormat::Json => to_json(&record).map_err(|error| {
            Trouble::disk(
                format!("the record of {} cannot be written ({error})", record.id),
                "The store may be damaged; a copy of it from before may have it whole.",
            )
        })?,
    };
    output::result(&text)
}
