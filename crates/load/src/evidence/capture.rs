//! A file that is read on both sides of the timed window, into buffers made beforehand.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use super::Moment;

/// A file of the kernel's counters, kept open.
#[derive(Debug)]
pub(super) struct Counters {
    path: PathBuf,
    source: Source,
    before: Bytes,
    after: Bytes,
}

#[derive(Debug)]
enum Source {
    /// Open all the time.
    Kept(File),
    /// Opened for every capture, because there are too many to be kept.
    Reopened,
    /// Cannot be read on this machine.
    Missing(String),
}

/// What was read, or why nothing was.
#[derive(Debug)]
struct Bytes {
    buffer: Box<[u8]>,
    outcome: Result<usize, Trouble>,
}

#[derive(Clone, Copy, Debug)]
enum Trouble {
    NotCaptured,
    System(Option<i32>, io::ErrorKind),
    TooLong,
}

/// Room beyond twice what a file has at first.
const SPARE: usize = 512;

impl Counters {
    /// Opens a file, and makes buffers of twice what it has now.
    pub(super) fn kept(path: impl Into<PathBuf>) -> Self {
        Self::new(path.into(), Source::Kept)
    }

    /// The same for one of many: only its path is kept.
    pub(super) fn reopened(path: impl Into<PathBuf>) -> Self {
        Self::new(path.into(), |_| Source::Reopened)
    }

    fn new(path: PathBuf, keep: impl FnOnce(File) -> Source) -> Self {
        let opened = File::open(&path).and_then(|file| Ok((length(&file)?, file)));
        let (size, source) = match opened {
            Ok((length, file)) => (length * 2 + SPARE, keep(file)),
            Err(error) => {
                let reason = format!("{} cannot be read: {error}", path.display());
                (0, Source::Missing(reason))
            }
        };
        Self {
            path,
            source,
            before: Bytes::of(size),
            after: Bytes::of(size),
        }
    }

    /// Reads the file. Allocates nothing.
    pub(super) fn capture(&mut self, moment: Moment) {
        let bytes = match moment {
            Moment::Before => &mut self.before,
            Moment::After => &mut self.after,
        };
        match &self.source {
            Source::Kept(file) => bytes.fill(file),
            Source::Reopened => match File::open(&self.path) {
                Ok(file) => bytes.fill(&file),
                Err(error) => bytes.outcome = Err(Trouble::from(error)),
            },
            Source::Missing(_) => {}
        }
    }

    /// Both texts, or why there are none.
    pub(super) fn texts(&self) -> Result<(&str, &str), String> {
        if let Source::Missing(reason) = &self.source {
            return Err(reason.clone());
        }
        let text = |bytes: &Bytes| match bytes.outcome {
            Ok(length) => Ok(length),
            Err(trouble) => Err(format!(
                "{} could not be read: {trouble}",
                self.path.display()
            )),
        };
        let before = &self.before.buffer[..text(&self.before)?];
        let after = &self.after.buffer[..text(&self.after)?];
        match (std::str::from_utf8(before), std::str::from_utf8(after)) {
            (Ok(before), Ok(after)) => Ok((before, after)),
            _ => Err(format!("{} is no text", self.path.display())),
        }
    }
}

/// The number of bytes that a file of the kernel has; its size says nothing.
fn length(file: &File) -> io::Result<usize> {
    let mut buffer = [0; 4096];
    let mut length = 0;
    loop {
        match file.read_at(&mut buffer, length as u64)? {
            0 => return Ok(length),
            more => length += more,
        }
    }
}

impl Bytes {
    fn of(size: usize) -> Self {
        Self {
            buffer: vec![0; size].into_boxed_slice(),
            outcome: Err(Trouble::NotCaptured),
        }
    }

    fn fill(&mut self, file: &File) {
        let mut length = 0;
        self.outcome = loop {
            if length == self.buffer.len() {
                break Err(Trouble::TooLong);
            }
            match file.read_at(&mut self.buffer[length..], length as u64) {
                Ok(0) => break Ok(length),
                Ok(more) => length += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => break Err(Trouble::from(error)),
            }
        };
    }
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        Self::System(error.raw_os_error(), error.kind())
    }
}

impl std::fmt::Display for Trouble {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotCaptured => f.write_str("the run ended before it was"),
            Self::System(Some(number), _) => {
                write!(f, "{}", io::Error::from_raw_os_error(*number))
            }
            Self::System(None, kind) => write!(f, "{kind}"),
            Self::TooLong => f.write_str("it has grown to more than twice its length"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn both_sides_of_a_run_are_kept() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(b"one").unwrap();
        for mut counters in [Counters::kept(file.path()), Counters::reopened(file.path())] {
            file.as_file().set_len(0).unwrap();
            file.as_file().write_all_at(b"one", 0).unwrap();
            counters.capture(Moment::Before);
            file.as_file().write_all_at(b"three", 0).unwrap();
            counters.capture(Moment::After);
            assert_eq!(counters.texts(), Ok(("one", "three")));
        }
    }

    #[test]
    fn what_is_not_there_or_not_read_or_too_long_says_so() {
        let mut missing = Counters::kept("/proc/no-such-file");
        missing.capture(Moment::Before);
        assert!(missing.texts().unwrap_err().contains("/proc/no-such-file"));
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(b"x").unwrap();
        let mut counters = Counters::kept(file.path());
        counters.capture(Moment::Before);
        assert!(counters.texts().unwrap_err().contains("ended before"));
        file.write_all(&[b'x'; SPARE + 9]).unwrap();
        counters.capture(Moment::After);
        assert!(counters.texts().unwrap_err().contains("twice"));
    }
}
