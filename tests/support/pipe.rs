//! What a workload and its test tell each other.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::{Child, Command};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use super::program::Place;

/// A descriptor that becomes readable when a program has ended.
pub fn watched(program: &Child) -> OwnedFd {
    pidfd_open(Pid::from_child(program), PidfdFlags::empty()).expect("a program that was started")
}

/// A pipe with a name. It is open for reading and for writing here, so that neither side ever
/// waits for the other to open it.
pub struct Pipe {
    /// Where it is.
    pub path: PathBuf,
    file: File,
}

impl Pipe {
    /// A new one.
    pub fn new(place: &Place, name: &str) -> Self {
        let path = place.path().join(name);
        let made = Command::new("mkfifo").arg(&path).status().unwrap();
        assert!(made.success());
        let file = File::options().read(true).write(true).open(&path).unwrap();
        Self { path, file }
    }

    /// Says a line.
    pub fn say(&mut self) {
        self.file.write_all(b"\n").unwrap();
    }

    /// Waits until somebody says a line; fails when the program ends before.
    #[track_caller]
    pub fn hear(&mut self, program: &OwnedFd) -> String {
        let mut ready = [
            PollFd::new(&self.file, PollFlags::IN),
            PollFd::new(program, PollFlags::IN),
        ];
        poll(&mut ready, None).unwrap();
        assert!(!ready[0].revents().is_empty(), "the program ended early");
        let mut line = [0; 4096];
        let length = self.file.read(&mut line).unwrap();
        String::from_utf8_lossy(&line[..length]).trim().to_owned()
    }
}
