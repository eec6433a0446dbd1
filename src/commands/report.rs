//! `knobstat report`: one experiment's findings, in one of many formats.

use knobstat_report::Report as Findings;

use super::{run, show};
use crate::arguments::{Global, Report, ReportFormat};
use crate::output;
use crate::trouble::Trouble;

/// Prints the report.
pub fn run(arguments: &Report, global: &Global) -> Result<(), Trouble> {
    let record = show::load(arguments.experiment.as_deref(), global)?;
    let mut findings = Findings::of(&record, &knobstat_analysis::analyse(&record));
    if arguments.evidence {
        findings = findings.with_evidence(&record);
    }
    let format = match arguments.format {
        _ if arguments.json => "json",
        ReportFormat::Text => "text",
        ReportFormat::Markdown => "markdown",
        ReportFormat::Csv => "csv",
        ReportFormat::Json => "json",
        ReportFormat::Ministat => "ministat",
    };
    output::result(&run::render(&findings, format)?)
}
