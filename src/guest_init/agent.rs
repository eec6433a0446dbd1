//! The agent of a guest: the same as anywhere, over the second serial line.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use knobstat_sys::serial;

use super::SEARCH_PATH;

/// The line that carries frames; the first one is the console.
const LINE: &str = "/dev/ttyS1";

/// Serves requests over the line until they end.
pub fn serve() -> Result<(), String> {
    let line = serial::open(Path::new(LINE)).map_err(|error| {
        format!("{LINE} cannot be opened ({error}): the kernel needs a driver for two serial ports")
    })?;
    let path = fs::read_to_string(SEARCH_PATH).unwrap_or_default();
    let output = line
        .try_clone()
        .map_err(|error| format!("{LINE} cannot be opened twice ({error})"))?;
    // A process of its own: the first one has the orphans of all the others for its children.
    let ended = Command::new("/proc/self/exe")
        .args(["agent", "--stdio"])
        .env_clear()
        .env("PATH", path)
        .env("HOME", "/root")
        .stdin(Stdio::from(line))
        .stdout(Stdio::from(output))
        .status()
        .map_err(|error| format!("the agent cannot be started ({error})"))?;
    if ended.success() {
        Ok(())
    } else {
        Err(format!("the agent ended badly ({ended})"))
    }
}
