//! The signals by which a person or the system asks for an end.

use std::cell::Cell;
use std::os::fd::{AsFd, BorrowedFd};

use knobstat_lab::target::Interrupt;
use knobstat_lab::targets::Watch;
use knobstat_sys::signals::{SIGHUP, SIGINT, SIGTERM, SignalFd, is_ignored};

use crate::trouble::{Exit, Trouble};

/// The signals that were asked for, and the first one that came.
pub struct SignalWatch {
    signals: SignalFd,
    seen: Cell<Option<i32>>,
}

impl SignalWatch {
    /// Watches SIGTERM, and SIGINT and SIGHUP unless they were ignored from the start, as a shell
    /// has it for `knobstat … &` and `nohup` for its command.
    pub fn begin() -> Result<Self, Trouble> {
        let wanted: Vec<i32> = [SIGINT, SIGHUP, SIGTERM]
            .into_iter()
            .filter(|signal| *signal == SIGTERM || !is_ignored(*signal))
            .collect();
        let signals = SignalFd::block(&wanted).map_err(|error| {
            Trouble::new(
                Exit::RunsFailed,
                format!("signals cannot be watched ({error})"),
                "Raise the limit of open files (ulimit -n).",
            )
        })?;
        Ok(Self {
            signals,
            seen: Cell::new(None),
        })
    }
}

impl Interrupt for SignalWatch {
    fn signal(&self) -> Option<i32> {
        if self.seen.get().is_none() {
            self.take();
        }
        self.seen.get()
    }
}

impl Watch for SignalWatch {
    fn descriptor(&self) -> BorrowedFd<'_> {
        self.signals.as_fd()
    }

    fn take(&self) {
        // What cannot be read now is still there the next time that somebody looks.
        if let Ok(Some(signal)) = self.signals.take()
            && self.seen.get().is_none()
        {
            self.seen.set(Some(signal));
        }
    }
}
