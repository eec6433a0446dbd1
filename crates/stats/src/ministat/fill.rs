//! Runs of one character.

use std::io::{self, Write};

/// Writes `byte` `count` times.
pub(super) fn fill(output: &mut impl Write, byte: u8, mut count: usize) -> io::Result<()> {
    let run = [byte; 128];
    while count > 0 {
        let length = count.min(run.len());
        output.write_all(&run[..length])?;
        count -= length;
    }
    Ok(())
}
