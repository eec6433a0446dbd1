//! The analysis of whole records, from attempts to findings.

#[path = "../support/mod.rs"]
mod support;

mod caveats;
mod clocks;
mod degenerate;
mod error_rates;
mod evidence;
mod published;
mod samples;
mod simultaneous;
