//! The two threads of a run, and the calling one, which sleeps until the time is over.

mod receiving;
mod sending;

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use knobstat_sys::clock::{Reading, Stopwatch};
use knobstat_sys::net::affinity::thread_cpu_time;
use knobstat_sys::net::nap;

use super::failure::{RunError, system};
use super::figures::{ClockFigures, End};
use super::link::{Link, Sockets};
use super::options::{Length, Options, Pacing};
use super::placement::Placement;
use super::receiver::Farewell;
use super::wire::Contents;

pub(super) use receiving::Heard;
pub(super) use sending::Sent;

/// What a run goes by.
#[derive(Clone, Copy)]
pub(super) struct Setting<'a> {
    /// What is asked.
    pub options: &'a Options,
    /// Where the threads are.
    pub placement: Placement,
    /// What times it.
    pub stopwatch: &'a Stopwatch,
    /// Where its two ends are.
    pub link: &'a Link,
    /// What it goes over.
    pub sockets: &'a Sockets,
    /// How the pacing clock moves, where it is read at all.
    pub pacing_clock: Option<ClockFigures>,
    /// What is written into datagrams.
    pub contents: Contents,
}

/// A thread's end of the start: it says that it is ready, and waits to be let go.
struct Gate {
    ready: mpsc::Sender<()>,
    go: mpsc::Receiver<()>,
}

impl Gate {
    /// Whether the run begins; it does not when the other thread could not get ready.
    fn pass(self) -> bool {
        let said = self.ready.send(());
        // Let go of: whoever waits for the other thread must hear when that one has failed.
        drop(self.ready);
        said.is_ok() && self.go.recv().is_ok()
    }
}

/// Lets both threads go together, and gathers what they come back with.
///
/// # Errors
/// When one of them cannot get ready, or fails on the way.
pub(super) fn let_go(setting: Setting) -> Result<(Sent, Heard), RunError> {
    let farewell = &Farewell::default();
    let stop = &AtomicBool::new(false);
    let (ready, readiness) = mpsc::channel();
    let (done, finished) = mpsc::channel::<()>();
    thread::scope(|scope| {
        let mut gos = Vec::new();
        let mut gate = || {
            let (go, wait) = mpsc::channel();
            gos.push(go);
            Gate {
                ready: ready.clone(),
                go: wait,
            }
        };
        let receiving = gate();
        let thread = || thread::Builder::new();
        let receiver = move || {
            let heard = receiving::receive(setting, receiving, farewell);
            if heard.is_err() {
                stop.store(true, Ordering::Relaxed);
            }
            heard
        };
        let receiver = thread()
            .spawn_scoped(scope, receiver)
            .map_err(system("the receiver's thread cannot be started"))?;
        let sending = gate();
        let sender = move || {
            let sent = sending::send(setting, sending, stop);
            // Nobody waits for more than is known to have gone: after an error, for nothing.
            farewell.say(match &sent {
                Ok(Some(sent)) => sent.count,
                _ => 0,
            });
            drop(done);
            sent
        };
        // Where this fails, the gates are dropped on the way out and the receiver ends.
        let sender = thread()
            .spawn_scoped(scope, sender)
            .map_err(system("the sender's thread cannot be started"))?;
        drop(ready);
        // Both ready, or one of them has failed and dropped its end.
        if readiness.recv().is_ok() && readiness.recv().is_ok() {
            for go in &gos {
                // A thread that has failed meanwhile says so when it is joined.
                let _ = go.send(());
            }
            sleep_until_over(setting, &finished);
            stop.store(true, Ordering::Relaxed);
        }
        drop(gos);
        let sent = sender.join().map_err(|_| RunError::Defect("sender"));
        let heard = receiver.join().map_err(|_| RunError::Defect("receiver"));
        match (sent??, heard??) {
            (Some(sent), Some(heard)) => Ok((sent, heard)),
            _ => Err(RunError::Defect("other end")),
        }
    })
}

/// Lets the sender go, the receiver being elsewhere; does something `every` so often meanwhile, which
/// may end it.
///
/// # Errors
/// When it cannot get ready, or fails on the way.
pub(super) fn send_alone(
    setting: Setting,
    every: Option<Duration>,
    mut meanwhile: impl FnMut() -> ControlFlow<()>,
) -> Result<Sent, RunError> {
    let stop = &AtomicBool::new(false);
    let (ready, readiness) = mpsc::channel();
    let (go, wait) = mpsc::channel();
    let (done, finished) = mpsc::channel::<()>();
    thread::scope(|scope| {
        let gate = Gate { ready, go: wait };
        let sender = move || {
            let sent = sending::send(setting, gate, stop);
            drop(done);
            sent
        };
        let sender = thread::Builder::new()
            .spawn_scoped(scope, sender)
            .map_err(system("the sender's thread cannot be started"))?;
        if readiness.recv().is_ok() {
            // A sender that has failed meanwhile says so when it is joined.
            let _ = go.send(());
            let end = setting.time_limit().map(|limit| Instant::now() + limit);
            loop {
                let left = end.map(|end| end.saturating_duration_since(Instant::now()));
                if left == Some(Duration::ZERO) {
                    break;
                }
                let next = [left, every].into_iter().flatten().min();
                let ended = match next {
                    None => finished.recv().map_err(|_| RecvTimeoutError::Disconnected),
                    Some(next) => finished.recv_timeout(next),
                };
                match ended {
                    Err(RecvTimeoutError::Timeout) if meanwhile().is_continue() => {}
                    Err(RecvTimeoutError::Timeout) => break,
                    Ok(()) | Err(RecvTimeoutError::Disconnected) => break,
                }
            }
            stop.store(true, Ordering::Relaxed);
        }
        drop(go);
        let sent = sender.join().map_err(|_| RunError::Defect("sender"))??;
        sent.ok_or(RunError::Defect("sender"))
    })
}

/// Sleeps until the time is over, or the sender is done by itself.
fn sleep_until_over(setting: Setting, finished: &mpsc::Receiver<()>) {
    // Nothing is ever sent: the sender drops its end when it is done.
    match setting.time_limit() {
        None => {
            let _ = finished.recv();
        }
        Some(limit) => match finished.recv_timeout(limit) {
            Ok(()) | Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
        },
    }
}

impl Setting<'_> {
    /// When a sender is stopped that is not done by itself; absent where it ends with its count.
    fn time_limit(&self) -> Option<Duration> {
        let Length::Duration(duration) = self.options.length else {
            return None;
        };
        Some(match self.options.pacing {
            // A schedule that is kept ends with its count; on a clock that moves in steps a
            // little later than the duration.
            Pacing::Schedule { .. } => {
                let step = self.pacing_clock.and_then(|clock| clock.step_nanoseconds);
                duration + GRACE + Duration::from_nanos(2 * step.unwrap_or(0))
            }
            Pacing::Unpaced | Pacing::Iperf2(_) => duration,
        })
    }
}

/// What a schedule that is kept may need beyond its duration.
const GRACE: Duration = Duration::from_millis(10);

fn end(cpu: u32, stopwatch: &Stopwatch, (wall, cpu_time): (Reading, Duration)) -> End {
    End {
        cpu: Some(cpu),
        cpu_nanoseconds: thread_cpu_time().saturating_sub(cpu_time).as_nanos() as f64,
        wall_nanoseconds: stopwatch.between(wall, stopwatch.read()).as_nanos() as f64,
    }
}

/// The median length of a few naps of this thread.
pub(super) fn median_nap(asked: Duration) -> Duration {
    let mut naps = [Duration::ZERO; 9];
    nap::measure(asked, &mut naps);
    naps.sort_unstable();
    naps[naps.len() / 2]
}
