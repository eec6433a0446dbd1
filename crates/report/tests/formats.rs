//! Every format of the published experiments and of records that have little to say.

#[path = "../../analysis/tests/support/mod.rs"]
mod support;

use knobstat_analysis::analyse;
use knobstat_data::Record;
use knobstat_report::formats::find;
use knobstat_report::{Report, Style};

fn rendered(record: &Record, format: &str, width: usize) -> String {
    let style = Style {
        width,
        colour: false,
    };
    (find(format).unwrap().render)(&Report::of(record, &analyse(record)), style)
}

#[test]
fn show() {
    println!(
        "{}",
        rendered(&support::clock_sources(&support::HZ_250), "text", 80)
    );
    println!(
        "{}",
        rendered(&support::clock_sources(&support::HZ_1000), "text", 100)
    );
    println!("{}", rendered(&support::turbo_boost(), "text", 80));
    println!("{}", rendered(&support::turbo_boost(), "markdown", 80));
}
