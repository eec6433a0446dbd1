//! The values of the metric of the verdicts, one treatment after the other, as `ministat` reads
//! them.
//!
//! Each treatment is a block: a line that begins with `#` and its levels, which ministat skips,
//! then one value a line. Blocks are apart by an empty line, so that awk in paragraph mode
//! (`awk -v RS= 'NR==2'`) picks one of them; the first paragraph is the title.

use super::{Format, Style};
use crate::Report;
use crate::text_width::printable;

pub(super) const FORMAT: Format = Format {
    name: "ministat",
    summary: "the values, a block per treatment, as ministat reads them",
    render,
};

fn render(report: &Report, _: Style) -> String {
    let mut text = format!(
        "# {}: {}, {} is better\n",
        printable(&report.experiment.name),
        printable(&report.experiment.metric_in_words()),
        report.experiment.better
    );
    for treatment in &report.treatments {
        text.push_str(&format!(
            "\n# {}\n",
            printable(&treatment.levels.0.to_string())
        ));
        if let Some(metric) = treatment.metrics.first() {
            for value in &metric.values {
                text.push_str(&format!("{value}\n"));
            }
        }
    }
    text
}
