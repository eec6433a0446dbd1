//! Loading kernel modules from files, without the tools that look for them by name.

use std::fs::File;
use std::io;
use std::path::Path;

use rustix::io::Errno;

/// Loads the module in a file, which is not compressed. One that is there already is no error.
///
/// # Errors
/// When the file cannot be opened, or as finit_module(2) says.
pub fn load(path: &Path) -> io::Result<()> {
    let file = File::open(path)?;
    match rustix::system::finit_module(&file, c"", 0) {
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_module_is_refused() {
        assert!(load(Path::new("/dev/null")).is_err());
        assert!(load(Path::new("/nowhere/module.ko")).is_err());
    }
}
