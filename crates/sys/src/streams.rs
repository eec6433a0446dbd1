//! The standard streams as a private channel: a process that is spoken to over them takes them
//! away, so that nothing it starts can read or write there.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsFd;

/// Takes standard input and output as files that no child inherits. Standard input is `/dev/null`
/// from then on, and standard output is where standard error goes.
///
/// # Errors
/// When a descriptor cannot be duplicated or `/dev/null` cannot be opened.
pub fn take_standard_streams() -> io::Result<(File, File)> {
    let input = io::stdin().as_fd().try_clone_to_owned()?;
    let output = io::stdout().as_fd().try_clone_to_owned()?;
    let null = OpenOptions::new().read(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&null)?;
    rustix::stdio::dup2_stdout(io::stderr())?;
    Ok((input.into(), output.into()))
}
