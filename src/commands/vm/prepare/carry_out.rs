//! Carries stages out: programs run with what they say in a log, and a signal ends them and us
//! with what is done kept.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use knobstat_lab::kernels::lacking;
use knobstat_lab::target::Interrupt;
use knobstat_lab::targets::Watch;
use knobstat_sys::free_room::free_room;
use knobstat_sys::pidfd::PidFd;
use knobstat_sys::poll;
use knobstat_sys::signals::{SIGTERM, signal_group};
use knobstat_sys::unnamed_file::unnamed_file;

use super::action::{Action, Found, Word};
use super::course::Course;
use super::plan::{Places, Stage};
use crate::trouble::{Exit, Trouble};
use crate::watch::SignalWatch;

/// How often the log is looked at.
const LOOK: Duration = Duration::from_millis(500);

/// How long a program that was asked to end is waited for.
const GRACE: Duration = Duration::from_secs(10);

/// How many of the last lines of a log are shown when a program fails.
const LINES_SHOWN: usize = 12;

/// How carrying out ended, where nothing went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// All is done.
    Done,
    /// A signal asked for an end.
    BySignal(i32),
}

/// The exit code of a program that a signal ended.
pub fn exit_of(signal: i32) -> u8 {
    u8::try_from(128 + signal).unwrap_or(u8::MAX)
}

/// Refuses to begin where the room will not do.
///
/// # Errors
/// When it will not, or it cannot be told.
pub fn see_to_room(places: &Places, needs: u64) -> Result<(), Trouble> {
    let cache = places.cache();
    let free = free_room(cache).map_err(|error| not_done("looked at", cache, &error))?;
    if free >= needs {
        return Ok(());
    }
    let mib = |bytes: u64| bytes.div_ceil(1 << 20);
    Err(Trouble::disk(
        format!(
            "{} MiB are free in {}, and {} MiB are needed there while it lasts",
            mib(free),
            cache.display(),
            mib(needs)
        ),
        "Make room, or set XDG_CACHE_HOME to a directory on a larger disk.",
    ))
}

/// Carries stages out, one after another.
pub struct Executor<'w> {
    watch: &'w SignalWatch,
    /// The directory of the cache's work, and the lock on it. Programs inherit the lock as their
    /// standard input, so that what outlives us still keeps others away.
    held: Option<(PathBuf, File)>,
}

impl<'w> Executor<'w> {
    /// An executor that ends when the watch sees a signal.
    pub fn new(watch: &'w SignalWatch) -> Self {
        Self { watch, held: None }
    }

    /// Holds a cache's work, which is one program's at a time.
    ///
    /// # Errors
    /// When another holds it, or the cache cannot be written.
    pub fn hold(&mut self, places: &Places) -> Result<(), Trouble> {
        let work = places.work();
        make_directory(&work)?;
        let path = places.lock();
        let lock = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(|error| not_done("opened", &path, &error))?;
        match lock.try_lock() {
            Ok(()) => {
                self.held = Some((work, lock));
                Ok(())
            }
            Err(TryLockError::WouldBlock) => Err(Trouble::request(
                format!(
                    "another `knobstat vm prepare` is at work in {}",
                    places.cache().display()
                ),
                "Wait until it has ended, then start this one once more.",
            )),
            Err(TryLockError::Error(error)) => Err(not_done("locked", &path, &error)),
        }
    }

    /// Carries these out.
    ///
    /// # Errors
    /// When something fails; what is done by then is kept.
    pub fn carry_out(&mut self, stages: &[Stage]) -> Result<Ended, Trouble> {
        for stage in stages {
            if let Ended::BySignal(signal) = self.stage(stage)? {
                return Ok(Ended::BySignal(signal));
            }
        }
        Ok(Ended::Done)
    }

    fn stage(&mut self, stage: &Stage) -> Result<Ended, Trouble> {
        let log = Log::open(
            self.held
                .as_ref()
                .map(|(work, _)| work.join(format!("{}.log", stage.log))),
        )?;
        let mut course = Course::begin(&stage.title, stage.length, log.lines());
        for action in &stage.actions {
            if let Some(signal) = self.watch.signal() {
                return Ok(Ended::BySignal(signal));
            }
            let ended = self.action(action, &log, &mut course)?;
            if ended != Ended::Done {
                return Ok(ended);
            }
        }
        Ok(Ended::Done)
    }

    fn action(&self, action: &Action, log: &Log, course: &mut Course) -> Result<Ended, Trouble> {
        match action {
            Action::MakeDirectory(path) => make_directory(path)?,
            Action::Remove(path) => match fs::remove_dir_all(path) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(not_done("removed", path, &error));
                }
                _ => {}
            },
            Action::Write { path, text } => {
                fs::write(path, text).map_err(|error| not_done("written", path, &error))?;
            }
            Action::Append { from, to } => append(from, to)?,
            Action::Move { from, to } => {
                let from = PathBuf::from(word(from)?);
                move_to(&from, to).map_err(|error| not_done("moved", &from, &error))?;
            }
            Action::Check {
                recipe,
                asked,
                finished,
            } => {
                let read = |path: &Path| {
                    fs::read_to_string(path).map_err(|error| not_done("read", path, &error))
                };
                let (asked, finished) = (read(asked)?, read(finished)?);
                let lacking = lacking(&asked, &finished);
                if !lacking.is_empty() {
                    return Err(Trouble::request(
                        format!(
                            "Debian's kernel source does not give {recipe} what it needs: {} cannot be set",
                            lacking.join(", ")
                        ),
                        "Prepare it on Debian 12, whose kernel source is known to do.",
                    ));
                }
            }
            Action::Run { program, arguments } => {
                let arguments = arguments.iter().map(word).collect::<Result<Vec<_>, _>>()?;
                return self.program(program, &arguments, None, log, course);
            }
            Action::Download {
                of,
                beginning,
                into,
            } => {
                let package = newest(of, beginning)?;
                let arguments = ["download".into(), package.into()];
                return self.program("apt-get", &arguments, Some(into), log, course);
            }
        }
        Ok(Ended::Done)
    }

    fn program(
        &self,
        program: &str,
        arguments: &[OsString],
        directory: Option<&Path>,
        log: &Log,
        course: &mut Course,
    ) -> Result<Ended, Trouble> {
        let told = || {
            let words: Vec<_> = arguments
                .iter()
                .map(|word| word.to_string_lossy())
                .collect();
            format!("`{program} {}`", words.join(" "))
        };
        let cannot_start = |error: &io::Error| {
            Trouble::new(
                Exit::Missing,
                format!("{} cannot be started ({error})", told()),
                "`knobstat vm prepare` as root installs what is missing.",
            )
        };
        let mut command = Command::new(program);
        command
            .args(arguments)
            .stdin(
                self.standard_input()
                    .map_err(|error| cannot_start(&error))?,
            )
            .stdout(log.writer().map_err(|error| cannot_start(&error))?)
            .stderr(log.writer().map_err(|error| cannot_start(&error))?)
            // What it says is read, and nobody is asked anything.
            .env("LC_ALL", "C")
            .env("DEBIAN_FRONTEND", "noninteractive")
            .env_remove("MAKEFLAGS")
            .process_group(0);
        if let Some(directory) = directory {
            command.current_dir(directory);
        }
        let mut child = command.spawn().map_err(|error| cannot_start(&error))?;
        let status = match self.attend(&mut child, log, course) {
            Ok(Attended::Status(status)) => status,
            Ok(Attended::Signal(signal)) => return Ok(Ended::BySignal(signal)),
            Err(error) => return Err(cannot_start(&error)),
        };
        if status.success() {
            return Ok(Ended::Done);
        }
        course.end();
        Err(failure(&told(), status, log))
    }

    /// Waits for a program, and ends it and all that it started when a signal comes.
    fn attend(&self, child: &mut Child, log: &Log, course: &mut Course) -> io::Result<Attended> {
        let held = PidFd::open(child.id())?;
        loop {
            let ready = poll::wait(&[held.as_fd(), self.watch.descriptor()], Some(LOOK))?;
            if ready.has(0) {
                return child.wait().map(Attended::Status);
            }
            if let Some(signal) = self.watch.signal() {
                signal_group(child.id(), SIGTERM)?;
                if !held.wait_ended(Some(GRACE))? {
                    signal_group(child.id(), SIGKILL)?;
                }
                child.wait()?;
                return Ok(Attended::Signal(signal));
            }
            course.seen(log.lines());
        }
    }

    fn standard_input(&self) -> io::Result<Stdio> {
        match &self.held {
            Some((_, lock)) => Ok(lock.try_clone()?.into()),
            None => Ok(Stdio::null()),
        }
    }
}

const SIGKILL: i32 = 9;

enum Attended {
    Status(std::process::ExitStatus),
    Signal(i32),
}

/// What the programs of a stage say.
struct Log {
    file: File,
    path: Option<PathBuf>,
}

impl Log {
    /// A file that is added to, or one without a name.
    fn open(path: Option<PathBuf>) -> Result<Self, Trouble> {
        let file = match &path {
            Some(path) => OpenOptions::new()
                .read(true)
                .append(true)
                .create(true)
                .open(path)
                .map_err(|error| not_done("opened", path, &error))?,
            None => unnamed_file().map_err(|error| not_done("made", Path::new("a log"), &error))?,
        };
        Ok(Self { file, path })
    }

    fn writer(&self) -> io::Result<Stdio> {
        Ok(self.file.try_clone()?.into())
    }

    /// All that was said; what cannot be read was not said.
    fn text(&self) -> String {
        let mut bytes = Vec::new();
        let mut chunk = vec![0; 1 << 16];
        while let Ok(read) = self.file.read_at(&mut chunk, bytes.len() as u64)
            && read > 0
        {
            bytes.extend_from_slice(&chunk[..read]);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn lines(&self) -> u64 {
        self.text().lines().count() as u64
    }
}

/// What a program said last, and the sentence for its failure.
fn failure(told: &str, status: std::process::ExitStatus, log: &Log) -> Trouble {
    let text = log.text();
    let lines: Vec<&str> = text.lines().collect();
    let shown = &lines[lines.len().saturating_sub(LINES_SHOWN)..];
    let said: String = shown.iter().map(|line| format!("\n    {line}")).collect();
    if shown
        .iter()
        .any(|line| line.contains("No space left on device"))
    {
        return Trouble::disk(
            format!("{told} found the disk full"),
            "Make room, then start `knobstat vm prepare` once more: it goes on from there.",
        );
    }
    let remedy = match &log.path {
        Some(path) => format!(
            "All of it is in {}; when the cause is gone, `knobstat vm prepare` goes on from there.",
            path.display()
        ),
        None => "When the cause is gone, start `knobstat vm prepare` once more.".to_owned(),
    };
    Trouble::new(
        Exit::RunsFailed,
        format!("{told} failed ({status}), and said last:{said}"),
        remedy,
    )
}

/// The package with a version in its name that one without stands for.
fn newest(of: &str, beginning: &str) -> Result<String, Trouble> {
    let output = Command::new("apt-cache")
        .args(["depends", of])
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .output()
        .map_err(|error| not_done("asked", Path::new("apt-cache"), &error))?;
    dependency(&String::from_utf8_lossy(&output.stdout), beginning)
        .map(str::to_owned)
        .ok_or_else(|| {
            Trouble::request(
                format!("apt knows no package of Debian's that {of} stands for"),
                "As root: apt-get update; the packages are those of Debian for amd64.",
            )
        })
}

/// The package that `apt-cache depends` tells, with this beginning.
fn dependency<'a>(told: &'a str, beginning: &str) -> Option<&'a str> {
    told.lines()
        .filter_map(|line| line.trim().strip_prefix("Depends: "))
        .find(|package| package.starts_with(beginning))
}

fn word(word: &Word) -> Result<OsString, Trouble> {
    match word {
        Word::Text(text) => Ok(text.into()),
        Word::Path(path) => Ok(path.clone().into()),
        Word::Found(found) => find(found).map(OsString::from),
    }
}

fn find(found: &Found) -> Result<PathBuf, Trouble> {
    let directory = &found.directory;
    let entries = fs::read_dir(directory)
        .and_then(|entries| entries.collect::<io::Result<Vec<_>>>())
        .map_err(|error| not_done("read", directory, &error))?;
    let mut fitting = entries
        .into_iter()
        .filter(|entry| {
            entry
                .file_name()
                .to_str()
                .is_some_and(|name| found.fits(name))
        })
        .map(|entry| entry.path());
    match (fitting.next(), fitting.next()) {
        (Some(only), None) => Ok(only),
        (first, _) => Err(Trouble::request(
            format!(
                "{found} is {}, and one file is expected",
                first.map_or("nothing", |_| "several files")
            ),
            "Debian's packages are laid out otherwise than in Debian 12; prepare there.",
        )),
    }
}

fn make_directory(path: &Path) -> Result<(), Trouble> {
    DirBuilder::new()
        .recursive(true)
        .create(path)
        .map_err(|error| not_done("made", path, &error))
}

fn append(from: &Path, to: &Path) -> Result<(), Trouble> {
    let text = fs::read(from).map_err(|error| not_done("read", from, &error))?;
    OpenOptions::new()
        .append(true)
        .open(to)
        .and_then(|mut file| file.write_all(&text))
        .map_err(|error| not_done("written", to, &error))
}

/// A file is on the disk before it has its name, so that no power cut leaves half of one.
fn move_to(from: &Path, to: &Path) -> io::Result<()> {
    if from.is_file() {
        File::open(from)?.sync_all()?;
    }
    fs::rename(from, to)
}

fn not_done(what: &str, path: &Path, error: &io::Error) -> Trouble {
    let path = path.display();
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Trouble::disk(
            format!("{path} cannot be {what}, because the disk is full"),
            "Make room, then start `knobstat vm prepare` once more: it goes on from there.",
        ),
        _ => Trouble::disk(
            format!("{path} cannot be {what} ({error})"),
            "Make it possible, or set XDG_CACHE_HOME to another directory.",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_package_that_another_stands_for_is_read() {
        let told =
            "linux-image-cloud-amd64\n  Depends: linux-image-6.1.0-57-cloud-amd64\n  Suggests: x\n";
        assert_eq!(
            dependency(told, "linux-image-"),
            Some("linux-image-6.1.0-57-cloud-amd64")
        );
        assert_eq!(dependency(told, "linux-source-"), None);
        assert_eq!(dependency("", "linux-image-"), None);
    }

    #[test]
    fn exactly_one_file_is_found() {
        let place = tempfile::tempdir().unwrap();
        let found = Found::between(place.path(), "vmlinuz-", "");
        assert!(find(&found).unwrap_err().to_string().contains("is nothing"));
        fs::write(place.path().join("vmlinuz-1"), "").unwrap();
        assert_eq!(find(&found).unwrap(), place.path().join("vmlinuz-1"));
        fs::write(place.path().join("vmlinuz-2"), "").unwrap();
        let error = find(&found).unwrap_err().to_string();
        assert!(error.contains("is several files"), "{error}");
    }

    #[test]
    fn a_full_disk_is_told_as_one() {
        let full = io::Error::from(ErrorKind::StorageFull);
        let trouble = not_done("written", Path::new("/cache/config-hz250"), &full);
        assert_eq!(trouble.exit, Exit::Disk);
        assert!(trouble.cause.contains("the disk is full"), "{trouble}");
    }
}
