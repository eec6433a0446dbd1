//! Every format: of the published experiments, of records that have little to say, and of any
//! values at all.

#[path = "../../../analysis/tests/support/mod.rs"]
mod support;

mod anything;
mod layout;
mod published;
mod schema;

use knobstat_analysis::analyse;
use knobstat_data::Record;
use knobstat_report::formats::find;
use knobstat_report::{Report, Style};

fn report(record: &Record) -> Report {
    Report::of(record, &analyse(record))
}

fn rendered(record: &Record, format: &str, width: usize) -> String {
    let colour = false;
    (find(format).unwrap().render)(&report(record), Style { width, colour })
}
