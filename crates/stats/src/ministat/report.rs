//! The report, ready to be written.

use std::io::{self, Write};

use super::comparison::{self, Difference};
use super::dataset::{DataSet, PRINTED_DIGITS};
use super::format::general;
use super::options::Options;
use super::plot::{self, Plot};
use super::quantiles::Confidence;

/// Significant digits of a printed comparison: C's default.
const COMPARED_DIGITS: usize = 6;

/// Columns of a printed statistic.
const PRINTED_WIDTH: usize = 13;

/// Everything that goes to standard output.
#[derive(Debug, Clone)]
pub struct Report {
    names: Vec<u8>,
    plot: Option<Plot>,
    table: String,
}

impl Report {
    /// The report on `sets`, at least one, of which the first is the reference.
    pub(super) fn new(options: &Options, sets: &[DataSet], plot: Option<Plot>) -> Self {
        let mut names = Vec::new();
        let mut table = String::new();
        if !options.quiet {
            for (index, set) in sets.iter().enumerate() {
                names.extend([plot::SYMBOLS[index + 1], b' ']);
                names.extend(&set.name);
                names.push(b'\n');
            }
            table +=
                "    N           Min           Max        Median           Avg        Stddev\n";
        }
        let sign_of_nan = options.profile.prints_sign_of_nan();
        for (index, set) in sets.iter().enumerate() {
            table += &row(char::from(plot::SYMBOLS[index + 1]), set, sign_of_nan);
            if index > 0 && options.compare {
                let difference =
                    comparison::compare(set, &sets[0], options.confidence, options.profile);
                table += &verdict(difference, options.confidence, sign_of_nan);
            }
        }
        Self { names, plot, table }
    }

    /// Writes the report. The plot of a large set is as tall as the set has values in one column,
    /// so it is drawn as it is written.
    ///
    /// # Errors
    /// Those of `output`.
    pub fn write_to(&self, output: &mut impl Write) -> io::Result<()> {
        output.write_all(&self.names)?;
        if let Some(plot) = &self.plot {
            plot.write_to(output)?;
        }
        output.write_all(self.table.as_bytes())
    }
}

fn row(symbol: char, set: &DataSet, sign_of_nan: bool) -> String {
    let mut row = format!("{symbol} {:>3}", set.count);
    for statistic in [
        set.minimum,
        set.maximum,
        set.median,
        set.average,
        set.standard_deviation(),
    ] {
        let number = general(statistic, PRINTED_DIGITS, sign_of_nan);
        row += &format!(" {number:>PRINTED_WIDTH$}");
    }
    row.push('\n');
    row
}

fn verdict(difference: Option<Difference>, confidence: Confidence, sign_of_nan: bool) -> String {
    let percent = confidence.percent();
    let Some(found) = difference else {
        return format!("No difference proven at {percent:.1}% confidence\n");
    };
    let print = |value| general(value, COMPARED_DIGITS, sign_of_nan);
    format!(
        "Difference at {percent:.1}% confidence\n\
         \t{} +/- {}\n\
         \t{}% +/- {}%\n\
         \t(Student's t, pooled s = {})\n",
        print(found.difference),
        print(found.half_width),
        print(found.percent),
        print(found.percent_half_width),
        print(found.pooled),
    )
}
