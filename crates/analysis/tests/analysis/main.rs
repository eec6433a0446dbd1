//! The analysis of whole records, from attempts to findings.

#[path = "../support/mod.rs"]
mod support;

mod degenerate;
mod error_rates;
mod published;
