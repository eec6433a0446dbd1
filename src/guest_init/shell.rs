//! A shell at the guest's console, for a look.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use knobstat_sys::spawn::{Lookup, find_program};

use super::SEARCH_PATH;
use crate::commands::vm::shell::BUSYBOX;

/// Where its many programs get their names.
const PROGRAMS: &str = "/bin";

/// What a person reads first.
const GREETING: &str = "knobstat: a guest for a look; nothing in it is kept. `exit` turns it off.";

/// Opens it, and comes back when it ends.
pub fn open() -> Result<(), String> {
    let path = fs::read_to_string(SEARCH_PATH).unwrap_or_default();
    let found = find_program(BUSYBOX.as_ref(), Some(path.as_ref()), Path::new("/"));
    let Lookup::Found(busybox) = found else {
        return Err(format!("the guest was not given {BUSYBOX}"));
    };
    let not_opened = |error: io::Error| format!("no shell can be opened ({error})");
    fs::create_dir_all(PROGRAMS).map_err(not_opened)?;
    Command::new(&busybox)
        .args(["--install", "-s", PROGRAMS])
        .status()
        .map_err(not_opened)?;
    // That the name is taken means that somebody packed a program of that name.
    let _ = symlink("/init", format!("{PROGRAMS}/knobstat"));
    println!("{GREETING}");
    // A session of its own at the console, so that Ctrl-C reaches what runs and not the shell.
    Command::new(&busybox)
        .arg("setsid")
        .arg(&busybox)
        .arg("cttyhack")
        .arg(&busybox)
        .arg("sh")
        .env("PATH", path)
        .env("HOME", "/root")
        .env("PS1", "guest# ")
        .current_dir("/root")
        .status()
        .map_err(not_opened)?;
    Ok(())
}
