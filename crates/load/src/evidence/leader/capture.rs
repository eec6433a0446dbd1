//! Reads /proc/PID/schedstat and /proc/PID/sched of a process that has ended and is not reaped.

use std::fs::File;
use std::io::{self, Read, Write};

use knobstat_data::Evidence;

use super::decode::decode;

/// Both files are some hundred bytes and some 2 KiB.
const SIZE: usize = 8 << 10;

/// Buffers for the two files.
pub struct Leader {
    schedstat: Text,
    sched: Text,
}

/// What was read of a file.
struct Text {
    name: &'static str,
    buffer: Box<[u8]>,
    outcome: io::Result<usize>,
}

impl Leader {
    /// Buffers, empty.
    pub fn new() -> Self {
        Self {
            schedstat: Text::of("schedstat"),
            sched: Text::of("sched"),
        }
    }

    /// Reads the files of a process. Allocates nothing.
    pub fn capture(&mut self, pid: u32) {
        self.schedstat.fill(pid);
        self.sched.fill(pid);
    }

    /// What they say.
    pub fn decode(&self) -> Vec<Evidence> {
        decode(self.schedstat.text(), self.sched.text())
    }
}

impl Default for Leader {
    fn default() -> Self {
        Self::new()
    }
}

impl Text {
    fn of(name: &'static str) -> Self {
        Self {
            name,
            buffer: vec![0; SIZE].into_boxed_slice(),
            outcome: Ok(0),
        }
    }

    fn fill(&mut self, pid: u32) {
        self.outcome = read(self.name, pid, &mut self.buffer);
    }

    fn text(&self) -> Result<&str, String> {
        match &self.outcome {
            Ok(length) => std::str::from_utf8(&self.buffer[..*length])
                .map_err(|_| format!("/proc/PID/{} is no text", self.name)),
            Err(error) => Err(format!("/proc/PID/{} cannot be read: {error}", self.name)),
        }
    }
}

fn read(name: &str, pid: u32, buffer: &mut [u8]) -> io::Result<usize> {
    let mut path = [0; 64];
    let mut rest = path.as_mut_slice();
    write!(rest, "/proc/{pid}/{name}")?;
    let unused = rest.len();
    let length = path.len() - unused;
    let path = std::str::from_utf8(&path[..length]).map_err(io::Error::other)?;
    let mut file = File::open(path)?;
    let mut length = 0;
    while length < buffer.len() {
        match file.read(&mut buffer[length..])? {
            0 => break,
            more => length += more,
        }
    }
    Ok(length)
}
