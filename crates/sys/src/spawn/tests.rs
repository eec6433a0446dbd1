//! Children of the real kernel: each attribute is asked of the child itself.

use std::ffi::OsString;
use std::fs;
use std::io::Read;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::*;
use crate::topology::{self, CpuMask};
use crate::user::is_root;

fn sh(script: &str) -> Program {
    Program {
        executable: PathBuf::from("/bin/sh"),
        arguments: ["sh", "-c", script].map(OsString::from).to_vec(),
        environment: vec![OsString::from("PATH=/usr/bin:/bin")],
    }
}

fn settings() -> Settings<'static> {
    Settings::default()
}

fn run(program: Program, settings: Settings<'_>) -> Result<Exited, SpawnError> {
    let mut prepared = Prepared::new(program, settings).unwrap();
    prepared.start().map(|child| child.wait().unwrap())
}

/// What a script prints under these settings.
fn output<'a>(script: &str, mut settings: Settings<'a>, sink: &'a fs::File) -> String {
    settings.streams[1] = Some(sink.as_fd());
    let exited = run(sh(script), settings).unwrap();
    assert_eq!(exited.status, Status::Code(0), "{script}");
    let mut text = String::new();
    let mut sink = sink.try_clone().unwrap();
    std::io::Seek::rewind(&mut sink).unwrap();
    sink.read_to_string(&mut text).unwrap();
    text
}

fn sink() -> fs::File {
    tempfile::tempfile().unwrap()
}

#[test]
fn ends_are_told_apart() {
    for (script, status) in [
        ("exit 0", Status::Code(0)),
        ("exit 137", Status::Code(137)),
        (
            "kill -9 $$",
            Status::Signal {
                signal: 9,
                core_dumped: false,
            },
        ),
    ] {
        assert_eq!(run(sh(script), settings()).unwrap().status, status);
    }
}

#[test]
fn what_the_child_failed_at_comes_back() {
    let failure = |executable: &Path, settings: Settings<'_>| {
        let program = Program {
            executable: executable.to_owned(),
            ..sh("true")
        };
        let error = run(program, settings).unwrap_err();
        (error.step, error.error.raw_os_error().unwrap())
    };
    let directory = tempfile::tempdir().unwrap();
    let plain = directory.path().join("plain");
    fs::write(&plain, "echo\n").unwrap();
    assert_eq!(
        failure(&directory.path().join("missing"), settings()),
        (Step::Execute, libc::ENOENT)
    );
    assert_eq!(failure(&plain, settings()), (Step::Execute, libc::EACCES));
    let elsewhere = Settings {
        working_directory: Some(directory.path().join("missing")),
        ..settings()
    };
    assert_eq!(
        failure(Path::new("/bin/sh"), elsewhere),
        (Step::WorkingDirectory, libc::ENOENT)
    );
    let nowhere = Settings {
        cpus: Some(CpuMask::of(&[])),
        ..settings()
    };
    assert_eq!(
        failure(Path::new("/bin/sh"), nowhere),
        (Step::Affinity, libc::EINVAL)
    );
    // Nothing of the failed children is left to be waited for.
    let mut prepared = Prepared::new(
        Program {
            executable: plain,
            ..sh("")
        },
        settings(),
    )
    .unwrap();
    assert!(prepared.start().is_err());
    assert!(prepared.start().is_err());
}

#[test]
fn a_zero_byte_is_refused_beforehand() {
    let error = Prepared::new(sh("a\0b"), settings()).unwrap_err();
    assert!(matches!(error, EnvironmentError::ZeroByte(_)));
}

#[test]
fn one_that_is_prepared_can_be_started_again() {
    let mut prepared = Prepared::new(sh("exit 3"), settings()).unwrap();
    for _ in 0..3 {
        let exited = prepared.start().unwrap().wait().unwrap();
        assert_eq!(exited.status, Status::Code(3));
    }
}

#[test]
fn a_rehearsal_does_not_execute_the_program_and_leaves_nothing() {
    let sink = sink();
    let mut settings = settings();
    settings.streams[1] = Some(sink.as_fd());
    let mut prepared = Prepared::new(sh("echo once"), settings).unwrap();
    prepared.rehearse().unwrap();
    assert_eq!(sink.metadata().unwrap().len(), 0);
    let exited = prepared.start().unwrap().wait().unwrap();
    assert_eq!(exited.status, Status::Code(0));
    assert_eq!(sink.metadata().unwrap().len(), 5);
    // That there is no such program shows only at the start.
    let missing = Program {
        executable: PathBuf::from("/no/such/program"),
        ..sh("")
    };
    let mut prepared = Prepared::new(missing, Settings::default()).unwrap();
    prepared.rehearse().unwrap();
    assert_eq!(prepared.start().unwrap_err().step, Step::Execute);
}

#[test]
fn one_that_is_dropped_is_ended() {
    let child = Prepared::new(sh("exec sleep 1000"), settings())
        .unwrap()
        .start()
        .unwrap();
    let pid = child.pid();
    drop(child);
    assert_eq!(reap(pid).unwrap_err().raw_os_error(), Some(libc::ECHILD));
}

fn signal_line(status: &str, name: &str) -> u64 {
    let line = status.lines().find(|line| line.starts_with(name)).unwrap();
    u64::from_str_radix(line.split_whitespace().nth(1).unwrap(), 16).unwrap()
}

#[test]
fn signals_are_as_they_were_in_the_parent_and_as_by_default_in_the_child() {
    // Blocked here, as an agent has it for its signal descriptor.
    let _signals = crate::signals::SignalFd::block(&[libc::SIGUSR2]).unwrap();
    // Ignored here, as our program has it, and of no matter to any other test.
    crate::signals::ignore(libc::SIGXFSZ).unwrap();
    let own = || fs::read_to_string("/proc/thread-self/status").unwrap();
    let before = signal_line(&own(), "SigBlk");
    let sink = sink();
    let child = output("cat /proc/self/status", settings(), &sink);
    assert_eq!(signal_line(&own(), "SigBlk"), before);
    assert_ne!(before & 1 << (libc::SIGUSR2 - 1), 0);
    assert_eq!(signal_line(&child, "SigBlk"), 0);
    for signal in [libc::SIGPIPE, libc::SIGXFSZ] {
        assert_eq!(signal_line(&child, "SigIgn") & 1 << (signal - 1), 0);
    }
}

#[test]
fn no_descriptor_reaches_the_child() {
    let file = fs::File::open("/dev/null").unwrap();
    // SAFETY: duplicates a descriptor that is open; the copy is not closed on exec.
    let leaky = unsafe { libc::dup(file.as_fd().as_raw_fd()) };
    assert!(leaky > 2);
    let sink = sink();
    let held = output("ls /proc/self/fd", settings(), &sink);
    // SAFETY: closes the copy made above.
    unsafe { libc::close(leaky) };
    // 3 is the directory that ls itself reads.
    assert_eq!(
        held.split_whitespace().collect::<Vec<_>>(),
        ["0", "1", "2", "3"]
    );
}

#[test]
fn streams_may_be_given_in_any_order() {
    let input = sink();
    std::io::Write::write_all(&mut input.try_clone().unwrap(), b"hello").unwrap();
    std::io::Seek::rewind(&mut input.try_clone().unwrap()).unwrap();
    let sink = sink();
    // Standard error of the child is our standard output, which is a number below 3.
    let stdout = std::io::stdout();
    let streams: [Option<BorrowedFd<'_>>; 3] = [Some(input.as_fd()), None, Some(stdout.as_fd())];
    let text = output(
        "cat; readlink /proc/self/fd/2",
        Settings {
            streams,
            ..settings()
        },
        &sink,
    );
    let ours = fs::read_link("/proc/self/fd/1").unwrap();
    assert_eq!(text, format!("hello{}\n", ours.display()));
}

#[test]
fn attributes_are_set_in_the_child_alone() {
    // A container may refuse it.
    let in_order = may_disable_address_randomization().is_ok();
    let cpu = *topology::affinity().unwrap().last().unwrap();
    let before = topology::affinity().unwrap();
    let directory = tempfile::tempdir().unwrap();
    let sink = sink();
    let text = output(
        "cat /proc/self/personality; grep Cpus_allowed_list /proc/self/status; nice; pwd; \
         ulimit -n; set -- $(cat /proc/$$/stat); test $5 = $$ && echo leads",
        Settings {
            working_directory: Some(directory.path().to_owned()),
            own_group: true,
            cpus: Some(CpuMask::of(&[cpu])),
            scheduling: Some(Scheduling::Nice(7)),
            limits: vec![Limit {
                resource: libc::RLIMIT_NOFILE,
                soft: 77,
                hard: 77,
            }],
            no_address_randomization: in_order,
            ..settings()
        },
        &sink,
    );
    let personality = if in_order { "00040000" } else { "00000000" };
    let expected = format!(
        "{personality}\nCpus_allowed_list:\t{cpu}\n7\n{}\n77\nleads\n",
        directory.path().display()
    );
    assert_eq!(text, expected);
    assert_eq!(topology::affinity().unwrap(), before);
}

/// A change of identity marks this whole process as not to be dumped, for a moment. The program
/// has one thread; tests have several, and those that change it take turns.
pub(crate) fn changing_identity() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

const NOBODY: u32 = 65_534;

fn nobody() -> Credentials {
    Credentials {
        uid: NOBODY,
        gid: NOBODY,
        groups: vec![NOBODY, 12_345],
    }
}

#[test]
fn another_user_is_another_user_for_good() {
    if !is_root() {
        println!("only root can become somebody else");
        return;
    }
    let _turn = changing_identity();
    let before = is_dumpable();
    let sink = sink();
    let text = output(
        "grep -E '^(Uid|Gid|Groups)' /proc/self/status",
        Settings {
            credentials: Some(nobody()),
            ..settings()
        },
        &sink,
    );
    let words: Vec<&str> = text.split_whitespace().collect();
    let id = "65534";
    assert_eq!(
        words,
        [
            "Uid:", id, id, id, id, "Gid:", id, id, id, id, "Groups:", "12345", id
        ]
    );
    assert_eq!(is_dumpable(), before);
}

/// Whether the files of our own that only a dumpable process owns are ours.
fn is_dumpable() -> bool {
    use std::os::unix::fs::MetadataExt;
    // SAFETY: reads a flag of this process.
    let flag = unsafe { libc::prctl(libc::PR_GET_DUMPABLE, 0, 0, 0, 0) };
    fs::metadata("/proc/self/environ").unwrap().uid() == 0 && flag == 1
}

#[test]
fn a_directory_of_another_user_is_not_entered() {
    if !is_root() {
        println!("only root can become somebody else");
        return;
    }
    let _turn = changing_identity();
    let directory = tempfile::tempdir().unwrap();
    let private = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    fs::set_permissions(directory.path(), private).unwrap();
    let settings = Settings {
        working_directory: Some(directory.path().to_owned()),
        credentials: Some(nobody()),
        ..settings()
    };
    let error = run(sh("true"), settings).unwrap_err();
    assert_eq!(error.step, Step::WorkingDirectory);
    assert_eq!(error.error.raw_os_error(), Some(libc::EACCES));
}

/// The signal is the thread's that started the child, so a thread that ends stands for a harness
/// that is killed.
#[test]
fn a_child_ends_with_the_harness() {
    let _turn = changing_identity();
    let credentials = [None, is_root().then(nobody)];
    for credentials in credentials {
        let child = std::thread::spawn(move || {
            let settings = Settings {
                parent_death_signal: Some(libc::SIGKILL),
                credentials,
                ..settings()
            };
            Prepared::new(sh("exec sleep 1000"), settings)
                .unwrap()
                .start()
                .unwrap()
        })
        .join()
        .unwrap();
        let killed = Status::Signal {
            signal: libc::SIGKILL,
            core_dumped: false,
        };
        assert_eq!(child.wait().unwrap().status, killed);
    }
}

#[test]
fn usage_is_the_childs_own_and_its_childrens() {
    let script = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done";
    let exited = run(sh(&format!("({script})")), settings()).unwrap();
    assert_eq!(exited.status, Status::Code(0));
    assert!(!exited.usage.cpu().is_zero());
    assert!(exited.usage.minor_faults > 0);
    assert!(exited.usage.peak_resident > 0);
}

#[test]
fn its_end_is_readable_from_its_descriptor() {
    let mut prepared = Prepared::new(sh("exit 0"), settings()).unwrap();
    let child = prepared.start().unwrap();
    let ready = crate::poll::wait(&[child.as_fd()], None).unwrap();
    assert!(ready.has(0));
    // Not reaped yet: its files are still there.
    assert!(Path::new(&format!("/proc/{}/schedstat", child.pid())).exists());
    child.wait().unwrap();
}
