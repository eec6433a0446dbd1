//! The processes of this machine, as /proc shows them: found by name, by command line or by a
//! mark in their environment, and ended for good.
//!
//! It always looks at the real /proc, never at a laid-out tree, and knows no experiment: the mark
//! is whatever variable the caller names.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::time::{Duration, Instant};

use crate::pidfd::{PidFd, wait_any_ended};

/// A running process.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// Its name, at most 15 bytes, as the kernel keeps it.
    pub name: String,
}

/// What came of ending processes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ended {
    /// Those that were there and are no more.
    pub ended: Vec<Process>,
    /// Those that are still there: somebody else's, or asleep where no signal reaches.
    pub remaining: Vec<Process>,
}

/// What /proc/PID/stat says of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Status {
    name: String,
    state: char,
    parent: u32,
    is_of_the_kernel: bool,
    started: u64,
    /// The bytes of its environment; none while an exec has made its memory and not filled it.
    environment_length: Option<u64>,
}

/// Forks may outrun one pass of looking and killing; this many never do.
const MOST_PASSES: usize = 50;

/// How long the exec of a process may leave it without its whole environment, in looks a
/// millisecond apart.
const LOOKS_AT_AN_EXEC: u32 = 1000;

/// How often an environment is seen to be empty, or of a length that nobody tells, before it is
/// taken to be so.
const LOOKS_AT_THE_UNSURE: u32 = 10;

/// How long a killed process may take to vanish before it is called one that remains.
const LAST_WAIT: Duration = Duration::from_secs(5);

/// Every process, by number. Those that end meanwhile are left out.
pub fn all() -> Vec<Process> {
    statuses()
        .into_iter()
        .map(|(pid, status)| Process {
            pid,
            name: status.name,
        })
        .collect()
}

/// The words of a process's command line; none for one that has ended or is the kernel's.
pub fn command_line(pid: u32) -> Option<Vec<String>> {
    let bytes = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let words: Vec<String> = bytes
        .split(|byte| *byte == 0)
        .map(|word| String::from_utf8_lossy(word).into_owned())
        .collect();
    // Each word ends with a zero, so that the last piece is empty.
    match words.split_last() {
        Some((last, words)) if last.is_empty() && !words.is_empty() => Some(words.to_vec()),
        _ => None,
    }
}

/// When a process was started, in clock ticks since boot: together with its number it names the
/// process for as long as the machine is up. None for one that has ended.
pub fn start_time(pid: u32) -> Option<u64> {
    status(pid)
        .filter(|status| status.state != 'Z')
        .map(|status| status.started)
}

/// Every process whose environment has `variable=value`, and every descendant of one; never the
/// calling process.
pub fn marked(variable: &str, value: &str) -> Vec<Process> {
    let mark = format!("{variable}={value}");
    let statuses = statuses();
    let mut found: BTreeMap<u32, &Status> = BTreeMap::new();
    for (pid, status) in &statuses {
        if status.state != 'Z' && has_mark(*pid, &mark) {
            found.insert(*pid, status);
        }
    }
    loop {
        let before = found.len();
        for (pid, status) in &statuses {
            if status.state != 'Z' && found.contains_key(&status.parent) {
                found.insert(*pid, status);
            }
        }
        if found.len() == before {
            break;
        }
    }
    found.remove(&std::process::id());
    found
        .into_iter()
        .map(|(pid, status)| Process {
            pid,
            name: status.name.clone(),
        })
        .collect()
}

/// Ends every [`marked`] process: asks them all, waits at most `grace`, and kills those that are
/// left and whatever they started meanwhile. Returns when none is left or no more can be done.
pub fn end_marked(variable: &str, value: &str, grace: Duration) -> Ended {
    let mut seen: BTreeMap<u32, Process> = BTreeMap::new();
    for pass in 0..MOST_PASSES {
        let found = marked(variable, value);
        if found.is_empty() {
            break;
        }
        let mut held = Vec::new();
        for process in found {
            // Held first and looked at again, so that a number given to another process between
            // the two looks does no harm.
            let started = start_time(process.pid);
            let Ok(descriptor) = PidFd::open(process.pid) else {
                continue;
            };
            if started.is_some() && start_time(process.pid) == started {
                held.push(descriptor);
                seen.insert(process.pid, process);
            }
        }
        let signalled = held.iter().filter(|process| {
            if pass == 0 {
                process.terminate().is_ok()
            } else {
                process.kill().is_ok()
            }
        });
        if signalled.count() == 0 {
            break;
        }
        let wait = if pass == 0 { grace } else { LAST_WAIT };
        if wait_all_ended(held, wait).is_err() {
            break;
        }
    }
    let remaining = marked(variable, value);
    let ended = seen
        .into_values()
        .filter(|process| !remaining.iter().any(|left| left.pid == process.pid))
        .collect();
    Ended { ended, remaining }
}

fn wait_all_ended(mut processes: Vec<PidFd>, wait: Duration) -> io::Result<()> {
    let deadline = Instant::now() + wait;
    loop {
        let mut left = Vec::with_capacity(processes.len());
        for process in processes {
            if !process.has_ended()? {
                left.push(process);
            }
        }
        processes = left;
        let time = deadline.saturating_duration_since(Instant::now());
        if processes.is_empty() || time.is_zero() || !wait_any_ended(&processes, Some(time))? {
            return Ok(());
        }
    }
}

fn statuses() -> BTreeMap<u32, Status> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return BTreeMap::new();
    };
    entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter_map(|pid| Some((pid, status(pid)?)))
        .collect()
}

fn status(pid: u32) -> Option<Status> {
    let bytes = fs::read(format!("/proc/{pid}/stat")).ok()?;
    parse_status(&String::from_utf8_lossy(&bytes))
}

/// Reads `PID (NAME) STATE PPID …`; the name may hold spaces and parentheses.
fn parse_status(text: &str) -> Option<Status> {
    let (_, rest) = text.split_once('(')?;
    let (name, rest) = rest.rsplit_once(')')?;
    let mut fields = rest.split_whitespace();
    let state = fields.next()?.chars().next()?;
    let parent = fields.next()?.parse().ok()?;
    // The parent is field 4 of proc(5), the flags 9, the start time 22; the environment is
    // from 50 to 51.
    let flags: u64 = fields.nth(4)?.parse().ok()?;
    let started = fields.nth(12)?.parse().ok()?;
    let mut address = |after| -> Option<u64> {
        let address = fields.nth(after)?.parse().ok()?;
        (address > 0).then_some(address)
    };
    let environment = address(27).zip(address(0));
    Some(Status {
        name: name.to_owned(),
        state,
        parent,
        is_of_the_kernel: flags & PF_KTHREAD != 0,
        started,
        environment_length: environment.and_then(|(start, end)| end.checked_sub(start)),
    })
}

/// The flag of the kernel's own threads (linux/sched.h).
const PF_KTHREAD: u64 = 0x0020_0000;

/// Whether a process's environment has the mark.
///
/// It reads short while an exec replaces the memory that it is in, and as empty while it is filled.
/// So that there is no mark is believed only of an environment that was read whole, and of one
/// that stays empty or without a length.
fn has_mark(pid: u32, mark: &str) -> bool {
    let mut looks = 0;
    for _ in 0..LOOKS_AT_AN_EXEC {
        // Not ours to look at, or gone.
        let Ok(environment) = fs::read(format!("/proc/{pid}/environ")) else {
            return false;
        };
        let mut variables = environment.split(|byte| *byte == 0);
        if variables.any(|variable| variable == mark.as_bytes()) {
            return true;
        }
        let Some(status) = status(pid) else {
            return false;
        };
        if status.state == 'Z' || status.is_of_the_kernel {
            return false;
        }
        if let Some(needed) = looks_needed(environment.len(), status.environment_length) {
            looks += 1;
            if looks >= needed {
                return false;
            }
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    false
}

/// How often so many bytes of an environment have to be seen, with the length that the kernel
/// tells, before they are believed to be all; none where they are not.
fn looks_needed(read: usize, told: Option<u64>) -> Option<u32> {
    match told {
        Some(length) if length != read as u64 => None,
        Some(1..) => Some(1),
        // In the midst of an exec there is neither.
        None if read == 0 => None,
        // Nothing, or as much as can be had of a kernel that tells no length (gVisor).
        _ => Some(LOOKS_AT_THE_UNSURE),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader};
    use std::process::{Child, Command, Stdio};

    const VARIABLE: &str = "KNOBSTAT_SYS_TEST";

    /// A shell that has said one line, so that it is known to have come as far as that.
    fn shell(script: &str, mark: &str) -> Child {
        let mut child = Command::new("sh")
            .args(["-c", script])
            .env(VARIABLE, mark)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap())
            .read_line(&mut line)
            .unwrap();
        assert_eq!(line, "ready\n");
        child
    }

    #[test]
    fn marked_processes_and_their_descendants_are_ended() {
        let mark = format!("tree-{}", std::process::id());
        // The inner one has dropped the mark and is found as a descendant.
        let mut child = shell(
            &format!("env -u {VARIABLE} sleep 1000 & echo ready; wait"),
            &mark,
        );
        assert!(marked(VARIABLE, &mark).iter().any(|p| p.pid == child.id()));
        let ended = end_marked(VARIABLE, &mark, Duration::from_secs(10));
        assert_eq!(ended.remaining, []);
        assert!(ended.ended.iter().any(|p| p.pid == child.id()));
        child.wait().unwrap();
    }

    #[test]
    fn one_that_will_not_end_is_killed() {
        let mark = format!("deaf-{}", std::process::id());
        let mut child = shell(
            "trap '' TERM; echo ready; while :; do sleep 1000; done",
            &mark,
        );
        let ended = end_marked(VARIABLE, &mark, Duration::ZERO);
        assert_eq!(ended.remaining, []);
        let status = child.wait().unwrap();
        assert_eq!(
            std::os::unix::process::ExitStatusExt::signal(&status),
            Some(9)
        );
    }

    #[test]
    fn one_that_is_always_in_an_exec_is_seen_and_ended() {
        let mark = format!("exec-{}", std::process::id());
        let directory = tempfile::tempdir().unwrap();
        let script = directory.path().join("again");
        fs::write(&script, "exec sh \"$0\"\n").unwrap();
        let mut child = Command::new("sh")
            .arg(&script)
            .env(VARIABLE, &mark)
            .spawn()
            .unwrap();
        for look in 0..2000 {
            let found = marked(VARIABLE, &mark);
            assert!(
                found.iter().any(|process| process.pid == child.id()),
                "it was not seen by look {look}"
            );
        }
        let ended = end_marked(VARIABLE, &mark, Duration::from_secs(10));
        assert_eq!(ended.remaining, []);
        child.wait().unwrap();
    }

    #[test]
    fn what_was_read_is_all_where_the_length_says_so_and_else_where_it_stays() {
        assert_eq!(looks_needed(37, Some(37)), Some(1));
        assert_eq!(looks_needed(20, Some(37)), None);
        assert_eq!(looks_needed(37, Some(0)), None);
        assert_eq!(looks_needed(0, None), None);
        for unsure in [looks_needed(0, Some(0)), looks_needed(37, None)] {
            assert_eq!(unsure, Some(LOOKS_AT_THE_UNSURE));
        }
    }

    #[test]
    fn others_are_left_alone() {
        let mark = format!("other-{}", std::process::id());
        let mut child = shell("echo ready; sleep 1000", &mark);
        let nobody = end_marked(VARIABLE, &format!("{mark}x"), Duration::ZERO);
        assert_eq!(nobody, Ended::default());
        assert!(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
        end_marked(VARIABLE, &mark, Duration::ZERO);
    }

    #[test]
    fn a_name_may_hold_anything() {
        let text = "12 (a) b (c)) S 7 12 12 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 4321 9 9";
        let to_the_end = |start, end| format!("{text} {}{start} {end} 0", "1 ".repeat(25));
        let status = |environment_length| {
            Some(Status {
                name: "a) b (c)".to_owned(),
                state: 'S',
                parent: 7,
                is_of_the_kernel: false,
                started: 4321,
                environment_length,
            })
        };
        assert_eq!(parse_status(text), status(None));
        assert_eq!(parse_status(&to_the_end(40, 77)), status(Some(37)));
        assert_eq!(parse_status(&to_the_end(40, 40)), status(Some(0)));
        assert_eq!(parse_status(&to_the_end(0, 0)), status(None));
        let of_the_kernel = parse_status(&text.replace("4194560", "2129984")).unwrap();
        assert!(of_the_kernel.is_of_the_kernel);
        assert_eq!(parse_status("12 (a"), None);
    }

    #[test]
    fn we_are_among_all_and_have_a_command_line() {
        let pid = std::process::id();
        assert!(all().iter().any(|process| process.pid == pid));
        assert!(!command_line(pid).unwrap().is_empty());
        assert_eq!(start_time(pid), start_time(pid));
        assert!(start_time(pid).is_some());
    }
}
