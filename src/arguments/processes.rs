//! The commands by which this program starts itself.

use std::ffi::OsString;

use clap::Args;

/// `knobstat agent`
#[derive(Debug, Args)]
pub struct Agent {
    /// Over whatever stream that is: say first that it listens, for one that may carry something
    /// else before, and understand the request to end, for one that has no end.
    #[arg(long)]
    pub stdio: bool,
}

/// `knobstat bound`
#[derive(Debug, Args)]
pub struct Bound {
    /// The process that started this one.
    pub parent: u32,
    /// The program and its arguments.
    #[arg(last = true, required = true)]
    pub command: Vec<OsString>,
}
