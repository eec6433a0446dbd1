//! The timed window: capture, start, sleep, stop the watch, reap, capture.

use std::os::fd::BorrowedFd;
use std::time::Duration;

use knobstat_data::observation::Times;
use knobstat_sys::clock::Stopwatch;
use knobstat_sys::resident::Resident;
use knobstat_sys::spawn::{Exited, Prepared, Status, Usage};
use knobstat_sys::topology::current_cpu;

use super::process::{Woken, end_group, sleep_until_end};
use crate::evidence::clocks::Sighting;
use crate::evidence::control_group::Group;
use crate::evidence::harness::{Own, Seen};
use crate::evidence::leader::Leader;
use crate::evidence::{Moment, Samplers};

/// What came of the timed window.
#[derive(Clone, Debug)]
pub(super) struct Timed {
    pub(super) how: HowTimed,
    /// Absent where no process was started or reaped.
    pub(super) measured: Option<Measured>,
    /// What was left running, in sentences.
    pub(super) notes: Vec<String>,
}

/// How the timed window ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum HowTimed {
    /// The process ended by itself.
    Ended(Status),
    /// It was ended at its timeout.
    TimedOut(Duration),
    /// It was ended because of an interruption.
    Interrupted,
    /// It could not be started, or could not be waited for.
    NotStarted(String),
}

/// The readings of the timed window.
#[derive(Clone, Debug)]
pub(super) struct Measured {
    pub(super) times: Times,
    pub(super) usage: Usage,
    pub(super) harness: Seen,
    /// The kernel's clocks at both ends.
    pub(super) sightings: [Sighting; 2],
    /// How long it took to take the evidence on both sides, and to reap the process.
    pub(super) taking_evidence: Duration,
    /// The largest resident set of the harness around the start, in bytes: the process's own peak
    /// is never below it.
    pub(super) inherited_peak: u64,
}

impl Timed {
    /// Nothing was measured.
    pub(super) fn without_measurement(how: HowTimed) -> Self {
        Self {
            how,
            measured: None,
            notes: Vec::new(),
        }
    }

    pub(super) fn is_interrupted(&self) -> bool {
        self.how == HowTimed::Interrupted
    }
}

/// What watches the window: all of it made beforehand.
pub(super) struct Watch<'a> {
    pub(super) stopwatch: &'a Stopwatch,
    pub(super) samplers: &'a mut Samplers,
    pub(super) leader: &'a mut Leader,
    pub(super) resident: &'a Resident,
    pub(super) group: Option<&'a mut Group>,
}

/// Times one process. Between the two readings of the stopwatch the harness starts the process
/// and sleeps in one system call; it allocates nothing there and takes no lock.
pub(super) fn time(
    watch: Watch<'_>,
    prepared: &mut Prepared<'_>,
    interrupts: &[BorrowedFd<'_>],
    timeout: Option<Duration>,
) -> Timed {
    let Watch {
        stopwatch,
        samplers,
        leader,
        resident,
        mut group,
    } = watch;
    let taking = stopwatch.read();
    samplers.capture(Moment::Before);
    resident.set_peak_back();
    // Taking the evidence has filled the caches with something else.
    // What fails now fails again at the start, which tells.
    let _ = prepared.rehearse();
    samplers.rehearsed();
    if let Some(group) = &mut group {
        group.capture_before();
    }
    let cpu = current_cpu();
    let before = Own::now();
    let first = Sighting::now(stopwatch);

    let start = stopwatch.read();
    let child = match prepared.start() {
        Ok(child) => child,
        Err(error) => return Timed::without_measurement(HowTimed::NotStarted(error.to_string())),
    };
    let woken = sleep_until_end(&child, interrupts, timeout);
    let ended = match woken {
        Ok(Woken::Ended) => true,
        _ => end_group(&child),
    };
    let end = stopwatch.read();

    let second = Sighting::now(stopwatch);
    let clocks = second.clocks.since(first.clocks);
    let after = Own::now();
    if !ended {
        child.abandon();
        let reason = "it could not be ended, and is left to itself".to_owned();
        return Timed::without_measurement(HowTimed::NotStarted(reason));
    }
    // What the scheduler says of a process is gone once it is reaped. Reaping comes after the
    // timed window: how long it takes depends on what was read of the process before.
    leader.capture(child.pid());
    let inherited_peak = resident.peak().unwrap_or(after.usage.peak_resident);
    let exited = child.wait();
    samplers.capture(Moment::After);
    if let Some(group) = &mut group {
        group.capture_after();
    }
    let taken = stopwatch.read();

    let Exited { status, usage } = match exited {
        Ok(exited) => exited,
        Err(error) => {
            let reason = format!("it could not be waited for: {error}");
            return Timed::without_measurement(HowTimed::NotStarted(reason));
        }
    };
    let how = match (woken, timeout) {
        (Ok(Woken::Ended), _) => HowTimed::Ended(status),
        (Ok(Woken::TimedOut), Some(timeout)) => HowTimed::TimedOut(timeout),
        (Ok(Woken::Interrupted | Woken::TimedOut), _) => HowTimed::Interrupted,
        (Err(error), _) => HowTimed::NotStarted(format!("it could not be watched: {error}")),
    };
    Timed {
        how,
        measured: Some(Measured {
            times: Times {
                stopwatch: stopwatch.name().to_owned(),
                wall: stopwatch.between(start, end),
                monotonic: clocks.monotonic,
                monotonic_raw: clocks.monotonic_raw,
                boottime: clocks.boottime,
                cpu: usage.cpu(),
            },
            usage,
            harness: Seen { before, after, cpu },
            sightings: [first, second],
            taking_evidence: stopwatch.between(taking, first.after)
                + stopwatch.between(second.before, taken),
            inherited_peak,
        }),
        notes: Vec::new(),
    }
}
