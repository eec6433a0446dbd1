//! ministat's arithmetic, options, reading and output, as a function of its arguments and its
//! inputs.
//!
//! A drop-in for the program `ministat`: the same arguments give the same bytes. It knows two
//! [`Profile`]s of that program. It must not know where inputs come from (the caller opens them,
//! see [`Sources`]) nor where output goes (see [`Report::write_to`]), and none of the rest of this
//! crate uses its arithmetic: what ministat prints is reproduced here, not recommended.
//!
//! Where ministat itself would crash, or draw values where they do not belong, this module
//! returns a [`Failure`] of one line instead.

mod arithmetic;
mod bars;
mod column;
mod comparison;
mod dataset;
mod failure;
mod fast_decimal;
mod fill;
mod format;
mod getopt;
mod hexadecimal;
mod integer;
mod number;
mod options;
mod order;
mod plot;
mod profile;
mod quantiles;
mod reader;
mod report;
mod scale;
mod sources;
mod usage;

use std::ffi::OsString;

pub use failure::Failure;
pub use options::Terminal;
pub use plot::PlotFailure;
pub use profile::Profile;
pub use report::Report;
pub use sources::{Input, Sources};
pub use usage::Complaint;

use dataset::{DataSet, Detail};
use options::Options;
use plot::Plot;

/// What `ministat` takes from its process besides arguments and files.
#[derive(Debug, Clone, Copy, Default)]
pub struct Environment {
    /// The terminal that standard output is; `None` when it is something else.
    pub terminal: Option<Terminal>,
    /// Whether `POSIXLY_CORRECT` is set: options then end at the first operand.
    pub posixly_correct: bool,
}

/// Runs ministat: `arguments` without the program's name, inputs through `sources`.
///
/// Every input is read before the report exists, so nothing is printed when one is bad.
///
/// # Errors
/// A [`Failure`] carries the bytes for standard error and the exit code.
pub fn run<S: Sources>(
    arguments: &[OsString],
    environment: &Environment,
    sources: &mut S,
) -> Result<Report, Failure> {
    let options = Options::parse(arguments, environment)?;
    let detail = if options.needs_exact_statistics() {
        Detail::Exact
    } else {
        Detail::AsPrinted
    };
    let mut sets = Vec::with_capacity(options.inputs.len());
    sources::read_each(&options, sources, |name, values| {
        let mut set = DataSet::new(name, values, options.profile, detail);
        let memory = match detail {
            Detail::AsPrinted => set.take_memory(),
            Detail::Exact => Vec::new(),
        };
        sets.push(set);
        memory
    })?;
    let plot = if options.plot {
        Some(Plot::new(&sets, options.width, options.separate_bars)?)
    } else {
        None
    };
    Ok(Report::new(&options, &sets, plot))
}
