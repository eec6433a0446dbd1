//! Where a process's streams come from and go to, and reading back what it wrote.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::FileExt;
use std::path::Path;

use knobstat_data::{Evidence, Unit};
use knobstat_sys::unnamed_file::unnamed_file;
use knobstat_sys::user::{User, with_file_rights};

use crate::evidence::evidence;
use crate::launch::{Output, Stream};

/// Output beyond this is not read, and no metric is taken from its beginning.
pub const LARGEST_OUTPUT: u64 = 64 << 20;

/// The open streams of one process.
#[derive(Debug)]
pub(super) struct Streams {
    input: Option<File>,
    stdout: Option<File>,
    /// `None`: the same as standard output.
    stderr: Option<File>,
    sinks: [Sink; 2],
}

/// What a stream is, for the record and for reading it back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sink {
    Null,
    File,
    Memory,
    Inherited,
}

impl Streams {
    /// Opens what a process needs, with the rights of its user, from its directory.
    ///
    /// # Errors
    /// In words: which file cannot be opened, and why.
    pub(super) fn open(
        input: &Stream,
        output: &Output,
        directory: &Path,
        user: Option<&User>,
    ) -> Result<Self, String> {
        let memory = || unnamed_file().map_err(|error| format!("no file in memory: {error}"));
        let input = match input {
            Stream::Null => Some(null()?),
            Stream::File(path) => Some(open(
                &directory.join(path),
                OpenOptions::new().read(true),
                user,
            )?),
            Stream::Inherit => None,
        };
        let mut writing = OpenOptions::new();
        // Readable too, so that metrics can be read back from what was opened; appending, so
        // that standard error and standard output do not write over each other.
        writing.read(true).append(true).create(true);
        let write_anew = |path: &str| {
            let file = open(&directory.join(path), &writing, user)?;
            // Pipes and terminals have no length.
            let regular = file.metadata().is_ok_and(|file| file.is_file());
            if regular {
                let cut = file.set_len(0);
                cut.map_err(|error| format!("{path} cannot be emptied: {error}"))?;
            }
            Ok::<_, String>(file)
        };
        let (stdout, stderr, sinks) = match output {
            Output::Stream(Stream::Null) => {
                // Standard error is kept, for telling why a command failed.
                (Some(null()?), Some(memory()?), [Sink::Null, Sink::Memory])
            }
            Output::Stream(Stream::Inherit) => (None, None, [Sink::Inherited; 2]),
            Output::Stream(Stream::File(path)) | Output::ReadFile(path) => {
                (Some(write_anew(path)?), None, [Sink::File; 2])
            }
            Output::Captured => (Some(memory()?), Some(memory()?), [Sink::Memory; 2]),
        };
        Ok(Self {
            input,
            stdout,
            stderr,
            sinks,
        })
    }

    /// The three descriptors for the process.
    pub(super) fn descriptors(&self) -> [Option<BorrowedFd<'_>>; 3] {
        let stderr = self.stderr.as_ref().or(self.stdout.as_ref());
        [self.input.as_ref(), self.stdout.as_ref(), stderr].map(|file| file.map(AsFd::as_fd))
    }

    /// What was written to standard output, or why that cannot be read.
    pub(super) fn stdout(&self) -> Result<Vec<u8>, String> {
        match (self.sinks[0], &self.stdout) {
            (Sink::File | Sink::Memory, Some(file)) => read(file, LARGEST_OUTPUT),
            (sink, _) => Err(sink.unread().to_owned()),
        }
    }

    /// What was written to standard error apart from standard output, or why that cannot be read.
    pub(super) fn stderr(&self) -> Result<Vec<u8>, String> {
        match (self.sinks[1], &self.stderr) {
            (Sink::Memory, Some(file)) => read(file, LARGEST_OUTPUT),
            // It is within standard output.
            (Sink::File, None) => Ok(Vec::new()),
            (sink, _) => Err(sink.unread().to_owned()),
        }
    }

    /// The last line of what the process complained of, for a sentence on its failure.
    pub(super) fn last_words(&self) -> Option<String> {
        let file = self.stderr.as_ref().or(match self.sinks[0] {
            Sink::File => self.stdout.as_ref(),
            _ => None,
        })?;
        let length = file.metadata().ok().filter(|file| file.is_file())?.len();
        let start = length.saturating_sub(LONGEST_LAST_WORDS);
        let mut buffer = vec![0; usize::try_from(length - start).ok()?];
        file.read_exact_at(&mut buffer, start).ok()?;
        let text = String::from_utf8_lossy(&buffer);
        let line = text.lines().rev().find(|line| !line.trim().is_empty())?;
        Some(line.trim().to_owned())
    }

    /// Where each stream went, and how much went there.
    pub(super) fn evidence(&self) -> Vec<Evidence> {
        let length = |file: Option<&File>| match file.map(File::metadata) {
            Some(Ok(file)) => Ok(file.len() as f64),
            Some(Err(error)) => Err(error.to_string()),
            None => Err("it went where standard output went".to_owned()),
        };
        let places = ["stdout", "stderr"];
        let files = [self.stdout.as_ref(), self.stderr.as_ref()];
        std::iter::zip(places, files)
            .zip(self.sinks)
            .map(|((place, file), sink)| {
                let value = match sink {
                    Sink::Null | Sink::Inherited => Err(sink.unread().to_owned()),
                    Sink::File | Sink::Memory => length(file),
                };
                let key = format!("output.{}", sink.word());
                evidence(key, place, Unit::BYTES, value)
            })
            .collect()
    }
}

/// A last line longer than this is cut at its beginning.
const LONGEST_LAST_WORDS: u64 = 300;

impl Sink {
    fn word(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::File => "file",
            Self::Memory => "memory",
            Self::Inherited => "inherited",
        }
    }

    fn unread(self) -> &'static str {
        match self {
            Self::Null => "it went to /dev/null",
            Self::Inherited => "it went to the harness's own stream",
            Self::File | Self::Memory => "it was not kept",
        }
    }
}

fn null() -> Result<File, String> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .open("/dev/null")
        .map_err(|error| format!("/dev/null cannot be opened: {error}"))
}

fn open(path: &Path, options: &OpenOptions, user: Option<&User>) -> Result<File, String> {
    let opened = match user {
        Some(user) => with_file_rights(&user.credentials, || options.open(path)).flatten(),
        None => options.open(path),
    };
    opened.map_err(|error| format!("{} cannot be opened: {error}", path.display()))
}

/// The whole of a file from its beginning, wherever its offset is.
fn read(file: &File, largest: u64) -> Result<Vec<u8>, String> {
    let trouble = |error: io::Error| format!("the output cannot be read: {error}");
    let length = file.metadata().map_err(trouble)?.len();
    if length > largest {
        return Err(format!(
            "the output is {length} bytes long, and more than {largest} are not read"
        ));
    }
    let mut bytes = vec![0; usize::try_from(length).unwrap_or(usize::MAX)];
    file.read_exact_at(&mut bytes, 0).map_err(trouble)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn streams(output: &Output, directory: &Path) -> Streams {
        Streams::open(&Stream::Null, output, directory, None).unwrap()
    }

    #[test]
    fn a_file_is_written_anew_and_read_back() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("log");
        std::fs::write(&path, "of an earlier run\n").unwrap();
        let opened = streams(&Output::ReadFile("log".to_owned()), directory.path());
        let [_, stdout, stderr] = opened.descriptors();
        assert!(stdout.is_some() && stderr.is_some());
        opened
            .stdout
            .as_ref()
            .unwrap()
            .write_all(b"rate 3\nbad\n\n")
            .unwrap();
        assert_eq!(opened.stdout(), Ok(b"rate 3\nbad\n\n".to_vec()));
        assert_eq!(opened.stderr(), Ok(Vec::new()));
        assert_eq!(opened.last_words().as_deref(), Some("bad"));
    }

    #[test]
    fn what_went_nowhere_says_where_it_went() {
        let directory = tempfile::tempdir().unwrap();
        let opened = streams(&Output::Stream(Stream::Null), directory.path());
        assert!(opened.stdout().unwrap_err().contains("/dev/null"));
        assert_eq!(opened.last_words(), None);
        let kinds: Vec<_> = opened.evidence().into_iter().map(|one| one.key).collect();
        assert_eq!(kinds, ["output.null", "output.memory"]);
    }

    #[test]
    fn a_file_that_cannot_be_opened_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let input = Stream::File("missing".to_owned());
        let output = Output::Stream(Stream::Null);
        let error = Streams::open(&input, &output, directory.path(), None).unwrap_err();
        assert!(error.contains("missing"), "{error}");
    }

    #[test]
    fn output_beyond_the_limit_is_an_honest_error() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(11).unwrap();
        assert!(read(&file, 10).unwrap_err().contains("11 bytes"));
        assert_eq!(read(&file, 11), Ok(vec![0; 11]));
    }
}
