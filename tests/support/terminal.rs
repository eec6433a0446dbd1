//! A terminal without a screen: what a program writes to it can be read.

use std::fs::File;
use std::process::Stdio;

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

/// A pseudo-terminal.
pub struct Terminal {
    screen: File,
    keyboard: File,
}

impl Terminal {
    /// A new one, which is nobody's controlling terminal.
    pub fn new() -> Self {
        let screen = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)
            .expect("a pseudo-terminal");
        grantpt(&screen).expect("a pseudo-terminal of our own");
        unlockpt(&screen).expect("a pseudo-terminal that can be opened");
        let name = ptsname(&screen, Vec::new()).expect("the terminal's name");
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let keyboard = rustix::fs::open(&name, flags, Mode::empty()).expect("the terminal itself");
        Self {
            screen: File::from(screen),
            keyboard: File::from(keyboard),
        }
    }

    /// The terminal as a stream of a program.
    pub fn stream(&self) -> Stdio {
        Stdio::from(self.keyboard.try_clone().expect("a further descriptor"))
    }

    /// The side of the screen. Reading it ends, with an error, once no program has the terminal.
    pub fn into_screen(self) -> File {
        self.screen
    }
}
