//! Programs that a test makes.

use std::path::Path;
use std::process::Command;

/// Makes a copy that anybody may execute.
///
/// By another process: what is open for writing here would be so in whatever another test starts at
/// that moment, until it executes, and nothing can be executed that somebody may write (ETXTBSY).
#[track_caller]
pub fn install(from: &Path, to: &Path) {
    let mut install = Command::new("install");
    let installed = install.args(["-m", "755"]).arg(from).arg(to).status();
    assert!(installed.expect("install(1)").success());
}
