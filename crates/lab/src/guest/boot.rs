//! A guest that runs: started, heard of, and ended with whoever started it.
//!
//! QEMU is started through this program itself, which first asks the kernel to be killed with its
//! parent, so that no guest outlives the experiment that booted it, however that ends.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use knobstat_data::messages::{Header, READY};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::io::Errno;
use thiserror::Error;

use super::qemu::{LONGEST_COMMAND_LINE, Machine, QEMU};

/// The command of this program that starts another and ends it with its own parent: its arguments
/// are the parent's process id, the program and the program's arguments.
pub const BOUND: &str = "bound";

/// The last lines of a console that are kept; and where a kernel panicked, the lines from there on,
/// which say why, before the others.
const LINES_KEPT: usize = 6;
const PANIC: &str = "Kernel panic";
/// The last bytes of a console that are looked at for them.
const BYTES_KEPT: u64 = 8 << 10;

/// How long QEMU is given to end once it has closed its line: on a busy machine that may take.
const A_MOMENT: Duration = Duration::from_secs(20);

/// Why a guest did not come up.
#[derive(Debug, Error)]
pub enum BootError {
    /// QEMU is not installed.
    #[error(
        "{QEMU} is not installed, and a guest needs it; install it (`apt install qemu-system-x86` on Debian), or see `knobstat vm prepare`"
    )]
    NoQemu,
    /// The command line is longer than the kernel reads.
    #[error(
        "the guest's kernel would be given {0} bytes of command line and reads {LONGEST_COMMAND_LINE}; give it less to `append`"
    )]
    CommandLine(usize),
    /// Something of the host failed.
    #[error("the guest cannot be started ({0}); check memory and limits of this machine")]
    Host(#[from] io::Error),
    /// QEMU ended before the guest was there.
    #[error("the guest ended before it answered ({how}){}", heard(.console))]
    Ended {
        /// How QEMU ended, and what it said.
        how: String,
        /// The last lines of its console.
        console: Vec<String>,
    },
    /// The guest was not there in time.
    #[error("the guest did not answer within {after:?}{}", heard(.console))]
    Deadline {
        /// How long it was waited for.
        after: Duration,
        /// The last lines of its console.
        console: Vec<String>,
    },
    /// A signal came meanwhile.
    #[error("a signal came while the guest was booting")]
    Interrupted,
}

fn heard(console: &[String]) -> String {
    match console {
        [] => "; it wrote nothing to its console".to_owned(),
        lines => format!("; the last lines of its console: {}", lines.join(" | ")),
    }
}

/// Where QEMU is, by the search path.
///
/// # Errors
/// When it is not installed.
pub fn find_qemu(path: Option<&std::ffi::OsStr>) -> Result<PathBuf, BootError> {
    path.map(std::env::split_paths)
        .into_iter()
        .flatten()
        .map(|directory| directory.join(QEMU))
        .find(|program| program.is_file())
        .ok_or(BootError::NoQemu)
}

/// A guest that has been started. Dropping it ends it at once.
pub struct Guest {
    process: Child,
    frames: UnixStream,
    console: File,
    messages: File,
}

impl Guest {
    /// Starts a guest and waits until it listens. `program` is this program; `signals` becomes
    /// readable when it shall not be waited for any more.
    ///
    /// # Errors
    /// When it cannot be started, ends, or does not listen before the deadline.
    pub fn boot(
        program: &Path,
        qemu: &Path,
        machine: &Machine,
        deadline: Duration,
        signals: Option<BorrowedFd<'_>>,
    ) -> Result<Self, BootError> {
        let length = machine.command_line().len();
        if length >= LONGEST_COMMAND_LINE {
            return Err(BootError::CommandLine(length));
        }
        let (frames, theirs) = UnixStream::pair()?;
        let console = kept_in_memory("knobstat-console")?;
        let messages = kept_in_memory("knobstat-qemu")?;
        let process = Command::new(program)
            .arg(BOUND)
            .arg(std::process::id().to_string())
            .arg("--")
            .arg(qemu)
            .args(machine.arguments())
            // A signal of the terminal is the front's: it ends the guest in good order.
            .process_group(0)
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::from(console.try_clone()?))
            .stderr(Stdio::from(messages.try_clone()?))
            .spawn()?;
        let mut guest = Self {
            process,
            frames,
            console,
            messages,
        };
        guest.wait_until_it_listens(deadline, signals)?;
        Ok(guest)
    }

    /// The stream to the guest.
    pub fn frames(&mut self) -> &mut UnixStream {
        &mut self.frames
    }

    /// The last lines of the console.
    pub fn console(&self) -> Vec<String> {
        last_lines(&self.console)
    }

    /// How QEMU ended, in words; it is ended where it has not.
    pub fn end(&mut self) -> String {
        let _ = self.process.kill();
        let status = self.process.wait();
        let said = last_lines(&self.messages);
        let how = status.map_or_else(|error| error.to_string(), in_words);
        match said.last() {
            Some(line) => format!("{how}: {line}"),
            None => how,
        }
    }

    fn wait_until_it_listens(
        &mut self,
        deadline: Duration,
        signals: Option<BorrowedFd<'_>>,
    ) -> Result<(), BootError> {
        let begun = Instant::now();
        let mut last = Header::default();
        loop {
            let left = deadline.saturating_sub(begun.elapsed());
            if left.is_zero() {
                return Err(BootError::Deadline {
                    after: deadline,
                    console: self.console(),
                });
            }
            match ready(self.frames.as_fd(), signals, left)? {
                Ready::Nothing => {}
                Ready::Signal => return Err(BootError::Interrupted),
                Ready::Stream => {
                    // What a firmware may have said before is passed over byte by byte.
                    let mut byte = [0];
                    if self.frames.read(&mut byte)? == 0 {
                        return Err(self.ended());
                    }
                    last.rotate_left(1);
                    last[last.len() - 1] = byte[0];
                    if last == READY {
                        return Ok(());
                    }
                }
            }
        }
    }

    fn ended(&mut self) -> BootError {
        // It closes its end before it has ended; a moment later its status is its own.
        let status = wait_a_moment(&mut self.process);
        let said = last_lines(&self.messages);
        let how = status.map_or_else(|| "QEMU closed the line".to_owned(), in_words);
        BootError::Ended {
            how: said
                .last()
                .map_or(how.clone(), |line| format!("{how}: {line}")),
            console: self.console(),
        }
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// What became readable first.
pub(crate) enum Ready {
    Nothing,
    Stream,
    Signal,
}

/// Waits for the stream or a signal, so long at the most.
pub(crate) fn ready(
    stream: BorrowedFd<'_>,
    signals: Option<BorrowedFd<'_>>,
    left: Duration,
) -> io::Result<Ready> {
    let mut descriptors = vec![PollFd::from_borrowed_fd(stream, PollFlags::IN)];
    descriptors.extend(signals.map(|signals| PollFd::from_borrowed_fd(signals, PollFlags::IN)));
    let timeout = Timespec {
        tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: left.subsec_nanos().into(),
    };
    match poll(&mut descriptors, Some(&timeout)) {
        Ok(_) | Err(Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    let is_ready = |at: usize| {
        descriptors
            .get(at)
            .is_some_and(|descriptor| !descriptor.revents().is_empty())
    };
    Ok(match (is_ready(0), is_ready(1)) {
        (_, true) => Ready::Signal,
        (true, false) => Ready::Stream,
        (false, false) => Ready::Nothing,
    })
}

/// A file without a name, so that a guest that writes never waits for anybody who reads.
fn kept_in_memory(name: &str) -> io::Result<File> {
    Ok(memfd_create(name, MemfdFlags::CLOEXEC)?.into())
}

fn wait_a_moment(process: &mut Child) -> Option<ExitStatus> {
    let begun = Instant::now();
    while begun.elapsed() < A_MOMENT {
        if let Ok(Some(status)) = process.try_wait() {
            return Some(status);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    None
}

fn in_words(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match (status.signal(), status.code()) {
        (Some(signal), _) => format!("QEMU was ended by signal {signal}"),
        (None, Some(0)) => "it was turned off".to_owned(),
        (None, code) => format!("QEMU ended with code {}", code.unwrap_or(-1)),
    }
}

/// The last lines of a file that somebody else writes, without control characters.
fn last_lines(file: &File) -> Vec<String> {
    let length = file.metadata().map_or(0, |metadata| metadata.len());
    let start = length.saturating_sub(BYTES_KEPT);
    let mut bytes = vec![0; usize::try_from(length - start).unwrap_or(0)];
    let read = file.read_at(&mut bytes, start).unwrap_or(0);
    let text = String::from_utf8_lossy(&bytes[..read]);
    let mut lines: Vec<String> = text
        .lines()
        .map(|line| {
            let plain: String = line.chars().filter(|letter| !letter.is_control()).collect();
            plain.trim().to_owned()
        })
        .filter(|line| !line.is_empty())
        .collect();
    match lines.iter().rposition(|line| line.contains(PANIC)) {
        Some(panic) => {
            lines.drain(..panic);
            lines.truncate(LINES_KEPT);
        }
        None => {
            lines.drain(..lines.len().saturating_sub(LINES_KEPT));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::guest::{Accelerator, GuestTime, Ports};

    #[test]
    fn the_last_lines_of_a_console_are_kept_without_control_characters() {
        let mut file = kept_in_memory("test").unwrap();
        for line in 0..40 {
            write!(file, "\x1b[2Jline {line}\r\n\r\n").unwrap();
        }
        let lines = last_lines(&file);
        assert_eq!(lines.len(), LINES_KEPT);
        assert_eq!(lines.last().unwrap(), "[2Jline 39");
        writeln!(file, "[    0.5] Kernel panic - not syncing: no root").unwrap();
        for line in 0..20 {
            writeln!(file, "trace {line}").unwrap();
        }
        let lines = last_lines(&file);
        assert_eq!(lines.len(), LINES_KEPT);
        assert!(lines[0].contains("no root"), "{lines:?}");
    }

    #[test]
    fn a_missing_qemu_is_one_sentence_with_its_remedy() {
        let directory = tempfile::tempdir().unwrap();
        let error = find_qemu(Some(directory.path().as_os_str())).unwrap_err();
        assert!(error.to_string().contains("apt install"), "{error}");
        assert!(find_qemu(None).is_err());
    }

    fn machine(append: &str) -> Machine {
        Machine {
            kernel: "/nowhere/bzImage".into(),
            initrd: None,
            append: append.to_owned(),
            cpus: 1,
            memory: 64 << 20,
            time: GuestTime::Virtual,
            accelerator: Accelerator::Tcg,
            acpi_tables: Vec::new(),
            disks: Vec::new(),
            ports: Ports::Frames,
        }
    }

    /// A stand-in for this program: a script that is started with the words of QEMU.
    fn booted(script: &str, deadline: Duration, append: &str) -> Result<Guest, BootError> {
        let directory = tempfile::tempdir().unwrap();
        let program = directory.path().join("program");
        let text = directory.path().join("text");
        std::fs::write(&text, format!("#!/bin/sh\n{script}\n")).unwrap();
        // By another process: what is open for writing here would be so in whatever another test
        // starts at that moment, and cannot be executed (ETXTBSY).
        let mut install = std::process::Command::new("install");
        let installed = install
            .args(["-m", "755"])
            .arg(&text)
            .arg(&program)
            .status();
        assert!(installed.unwrap().success());
        Guest::boot(
            &program,
            Path::new("/nowhere/qemu"),
            &machine(append),
            deadline,
            None,
        )
    }

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn noise_before_the_guest_listens_is_passed_over() {
        let ready: String = READY.iter().map(|byte| format!("\\{byte:03o}")).collect();
        let script = format!("printf 'kks BIOS\\r\\nks{ready}' >&0; exec sleep 60");
        assert!(booted(&script, LONG, "").is_ok());
    }

    #[test]
    fn a_guest_that_ends_tells_how_and_its_last_lines() {
        let script = "echo 'Kernel panic - not syncing'; echo 'no such table' >&2; exit 3";
        let Err(error) = booted(script, LONG, "") else {
            panic!("it did not end");
        };
        let text = error.to_string();
        assert!(matches!(error, BootError::Ended { .. }), "{text}");
        for part in ["code 3", "no such table", "Kernel panic"] {
            assert!(text.contains(part), "{text}");
        }
    }

    #[test]
    fn a_guest_that_hangs_is_ended_at_the_deadline() {
        let result = booted(
            "echo waiting; exec sleep 60",
            Duration::from_millis(300),
            "",
        );
        let Err(BootError::Deadline { console, .. }) = result else {
            panic!("it was waited for");
        };
        // A busy machine may not have got as far as the line.
        assert!(console.is_empty() || console == ["waiting"], "{console:?}");
    }

    #[test]
    fn a_command_line_that_the_kernel_would_cut_is_refused() {
        let result = booted("exit 0", LONG, &"x".repeat(2048));
        assert!(matches!(result, Err(BootError::CommandLine(_))));
    }
}
