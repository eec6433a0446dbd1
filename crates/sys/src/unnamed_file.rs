//! A file in memory without a name: for what a process writes and nobody has to drain.

use std::fs::File;
use std::io;

use rustix::fs::MemfdFlags;

/// An empty file in memory. It is gone with its last descriptor; closed on exec.
///
/// # Errors
/// As memfd_create(2) says.
pub fn unnamed_file() -> io::Result<File> {
    Ok(rustix::fs::memfd_create("knobstat", MemfdFlags::CLOEXEC)?.into())
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Seek, Write};

    use super::*;

    #[test]
    fn what_is_written_can_be_read() {
        let mut file = unnamed_file().unwrap();
        file.write_all(b"text").unwrap();
        file.rewind().unwrap();
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        assert_eq!(text, "text");
    }
}
