//! A run: two sockets, two pinned threads, and what they found out.
//!
//! Everything that allocates, calibrates or may fail for want of a right happens before the
//! threads are let go. The calling thread then sleeps until the time is over.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use knobstat_sys::clock::{Reading, Stopwatch};
use knobstat_sys::net::affinity::{obtainable_cpus, thread_cpu_time};
use knobstat_sys::net::counters::{NamespaceCounters, interface_received};
use knobstat_sys::net::{self, PacingClock, nap};
use knobstat_sys::topology::set_affinity;
use thiserror::Error;

use super::figures::{
    ClockFigures, End, Figures, Kernel, OrderFigures, Pacer, PacerKind, Packets, Waiting,
};
use super::nap_policy::{Facts, NapPolicy};
use super::options::{Length, Options, Pacing, ReceiverMethod};
use super::outlet::{OutletError, SocketOutlet};
use super::pacer::iperf2_2007::{microseconds_per_packet, packets_per_wait};
use super::pacer::schedule::count_within;
use super::placement::{Placement, PlacementError};
use super::receiver::{BLOCK_LIMIT, Farewell, NAP, Received, Receiver};
use super::route;
use super::sender::{self, Quota, Readings};

/// The receive buffer that a receiver should have: the kernel doubles what is asked for.
pub(super) const RECEIVE_BUFFER: usize = 4 << 20;

/// Why a run could not be done.
#[derive(Debug, Error)]
pub(super) enum RunError {
    /// A CPU that cannot be had.
    #[error(transparent)]
    Placement(#[from] PlacementError),
    /// A system call around the run failed.
    #[error("{what}: {source}")]
    System {
        what: &'static str,
        source: io::Error,
    },
    /// The sender failed.
    #[error(transparent)]
    Outlet(#[from] OutletError),
    /// The time was over before the first datagram.
    #[error("nothing was sent within the duration: make it longer")]
    NothingSent,
    /// A thread ended in a way that it should not.
    #[error("the {0}'s thread ended unexpectedly; this is a defect of knobstat")]
    Defect(&'static str),
}

fn system(what: &'static str) -> impl Fn(io::Error) -> RunError {
    move |source| RunError::System { what, source }
}

/// Does a run whose receiver asks for a buffer of so many bytes.
///
/// # Errors
/// When it cannot be begun, or fails on the way.
pub(super) fn run(options: &Options, receive_buffer: usize) -> Result<Figures, RunError> {
    let allowed = obtainable_cpus().map_err(system("the CPUs of this process cannot be told"))?;
    let placement = Placement::choose(options.sender_cpu, options.receiver_cpu, &allowed)?;
    let stopwatch = Stopwatch::calibrated();
    let sockets = Sockets::open(options, receive_buffer)?;
    let route = route::find(options, &sockets.sender)
        .map_err(system("the route between the two sockets cannot be told"))?;
    let pacing_clock = reads_the_clock(options).then(|| clock_figures(options.pacing_clock));
    let before = Counters::read(&sockets);
    let (sent, received) = let_go(options, placement, &stopwatch, &sockets, pacing_clock)?;
    let kernel = Counters::read(&sockets).since(&before, sent.refusals);
    if sent.count == 0 {
        return Err(RunError::NothingSent);
    }
    let tally = received
        .seen
        .order
        .as_ref()
        .map(|order| order.tally(sent.count));
    Ok(Figures {
        packet_size_bytes: options.packet_size as u64,
        packets: Packets {
            sent: sent.count,
            received: received.seen.datagrams,
            received_bytes: received.seen.bytes,
            lost: tally.map_or(
                sent.count.saturating_sub(received.seen.datagrams),
                |tally| tally.lost,
            ),
            order: tally.map(|tally| OrderFigures {
                reordered: tally.reordered,
                duplicated: tally.duplicated,
                too_late: tally.too_late,
                foreign: tally.foreign,
            }),
        },
        stopwatch: stopwatch.name().to_owned(),
        stopwatch_caveat: stopwatch.caveat(),
        stopwatch_granularity_nanoseconds: stopwatch.granularity().as_nanos() as f64,
        sending_seconds: stopwatch.between(sent.began, sent.ended).as_secs_f64(),
        receiving_seconds: received.seen.last.map(|last| {
            stopwatch
                .between(sent.began, last.max(sent.ended))
                .as_secs_f64()
        }),
        sender: sent.end,
        receiver: received.end,
        waiting: Waiting {
            nap_nanoseconds: received.nap.map(|nap| nap.as_nanos() as f64),
            naps: received.seen.naps,
            spinning: received.seen.spinning,
            asked_buffer_bytes: receive_buffer as u64,
            granted_buffer_bytes: sockets.granted_buffer as u64,
        },
        route,
        kernel,
        pacer: sent.pacer,
        pacing_clock,
    })
}

/// Both ends of a flow on the loopback interface, each deaf to everybody else.
struct Sockets {
    sender: UdpSocket,
    receiver: UdpSocket,
    granted_buffer: usize,
}

impl Sockets {
    fn open(options: &Options, receive_buffer: usize) -> Result<Self, RunError> {
        let bind =
            |what| UdpSocket::bind(SocketAddr::new(options.address, 0)).map_err(system(what));
        let receiver = bind("the receiver's socket cannot be bound")?;
        let sender = bind("the sender's socket cannot be bound")?;
        // Before the route is looked up, which a change of it would void.
        net::set_differentiated_services(&sender, options.dscp)
            .map_err(system("the DSCP cannot be set"))?;
        let meet = |one: &UdpSocket, other: &UdpSocket| one.connect(other.local_addr()?);
        meet(&sender, &receiver)
            .and_then(|()| meet(&receiver, &sender))
            .map_err(system("the two sockets cannot be connected"))?;
        let granted_buffer = net::request_receive_buffer(&receiver, receive_buffer)
            .map_err(system("the receive buffer cannot be set"))?;
        if options.receiver_method == ReceiverMethod::Blocking {
            receiver
                .set_read_timeout(Some(BLOCK_LIMIT))
                .map_err(system("the receiver's time limit cannot be set"))?;
        }
        Ok(Self {
            sender,
            receiver,
            granted_buffer,
        })
    }
}

/// The kernel's counters at one moment, as far as they can be read.
struct Counters {
    socket_drops: Option<u32>,
    namespace: Option<NamespaceCounters>,
    interface: Option<u64>,
}

impl Counters {
    fn read(sockets: &Sockets) -> Self {
        Self {
            socket_drops: net::memory(&sockets.receiver)
                .ok()
                .map(|memory| memory.drops),
            namespace: NamespaceCounters::read().ok(),
            interface: interface_received("lo").ok(),
        }
    }

    fn since(&self, earlier: &Self, refusals: u64) -> Kernel {
        let namespace = self
            .namespace
            .zip(earlier.namespace)
            .map(|(now, then)| now.since(&then));
        Kernel {
            socket_drops: self
                .socket_drops
                .zip(earlier.socket_drops)
                .map(|(now, then)| u64::from(now.wrapping_sub(then))),
            receive_buffer_errors: namespace.map(|counts| counts.receive_buffer_errors),
            send_buffer_errors: namespace.map(|counts| counts.send_buffer_errors),
            reassembly_failures: namespace.map(|counts| counts.reassembly_failures),
            interface_packets: self
                .interface
                .zip(earlier.interface)
                .map(|(now, then)| now.saturating_sub(then)),
            refusals,
        }
    }
}

fn reads_the_clock(options: &Options) -> bool {
    options.pacing != Pacing::Unpaced || options.clock_reads_per_packet > 0
}

fn clock_figures(clock: PacingClock) -> ClockFigures {
    let step = clock.measure_step();
    ClockFigures {
        step_nanoseconds: step.map(|step| step.smallest),
        regular: step.is_some_and(|step| step.is_regular()),
    }
}

/// What the sender came back with.
struct Sent {
    count: u64,
    began: Reading,
    ended: Reading,
    end: End,
    refusals: u64,
    pacer: Option<Pacer>,
}

/// What the receiver came back with.
struct Heard {
    seen: Received,
    end: End,
    nap: Option<Duration>,
}

/// A thread's end of the start: it says that it is ready, and waits to be let go.
struct Gate {
    ready: mpsc::Sender<()>,
    go: mpsc::Receiver<()>,
}

impl Gate {
    /// Whether the run begins; it does not when the other thread could not get ready.
    fn pass(self) -> bool {
        self.ready.send(()).is_ok() && self.go.recv().is_ok()
    }
}

fn let_go(
    options: &Options,
    placement: Placement,
    stopwatch: &Stopwatch,
    sockets: &Sockets,
    clock: Option<ClockFigures>,
) -> Result<(Sent, Heard), RunError> {
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
        let receiver = scope.spawn(move || {
            let heard = receive(options, placement, stopwatch, sockets, receiving, farewell);
            if heard.is_err() {
                stop.store(true, Ordering::Relaxed);
            }
            heard
        });
        let sending = gate();
        let sender = scope.spawn(move || {
            let sent = send(options, placement, stopwatch, sockets, clock, sending, stop);
            // Nobody waits for more than is known to have gone: after an error, for nothing.
            farewell.say(match &sent {
                Ok(Some(sent)) => sent.count,
                _ => 0,
            });
            drop(done);
            sent
        });
        drop(ready);
        // Both ready, or one of them has failed and dropped its end.
        if readiness.recv().is_ok() && readiness.recv().is_ok() {
            for go in &gos {
                // A thread that has failed meanwhile says so when it is joined.
                let _ = go.send(());
            }
            sleep_until_over(options, clock, &finished);
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

/// Sleeps for the duration, or until the sender is done by itself.
fn sleep_until_over(options: &Options, clock: Option<ClockFigures>, finished: &mpsc::Receiver<()>) {
    match options.length {
        Length::Count(_) => {
            // Nothing is ever sent: the sender drops its end when it is done.
            let _ = finished.recv();
        }
        Length::Duration(duration) => {
            // A schedule that is kept ends with its count; on a clock that moves in steps a
            // little later than the duration.
            let step = clock.and_then(|clock| clock.step_nanoseconds).unwrap_or(0);
            let grace = match options.pacing {
                Pacing::Schedule(_) => GRACE + Duration::from_nanos(2 * step),
                Pacing::Unpaced | Pacing::Iperf2(_) => Duration::ZERO,
            };
            match finished.recv_timeout(duration + grace) {
                Ok(()) | Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
        }
    }
}

/// What a schedule that is kept may need beyond its duration.
const GRACE: Duration = Duration::from_millis(10);

fn receive(
    options: &Options,
    placement: Placement,
    stopwatch: &Stopwatch,
    sockets: &Sockets,
    gate: Gate,
    farewell: &Farewell,
) -> Result<Option<Heard>, RunError> {
    set_affinity(&[placement.receiver])
        .map_err(system("the receiver cannot be kept on its CPU"))?;
    // A kernel that refuses this has longer naps, which are measured next.
    let _ = nap::shorten_timer_slack();
    let nap = (options.receiver_method == ReceiverMethod::Napping).then(|| median_nap(NAP));
    let mut receiver = Receiver {
        socket: &sockets.receiver,
        method: options.receiver_method,
        policy: NapPolicy::new(Facts {
            nap: nap.unwrap_or_default(),
            granted_buffer: sockets.granted_buffer as u64,
            packet_size: options.packet_size as u64,
            packets_per_second: options
                .pacing
                .rate()
                .map_or(options.method.ceiling(), |rate| {
                    rate.min(options.method.ceiling())
                }),
            shares_cpu: placement.is_shared(),
        }),
        packet_size: options.packet_size,
        stopwatch,
    };
    let memory = receiver.memory();
    if !gate.pass() {
        return Ok(None);
    }
    let began = (stopwatch.read(), thread_cpu_time());
    let seen = receiver
        .run(farewell, memory)
        .map_err(system("the receiver cannot receive"))?;
    Ok(Some(Heard {
        seen,
        end: end(placement.receiver, stopwatch, began),
        nap,
    }))
}

fn send(
    options: &Options,
    placement: Placement,
    stopwatch: &Stopwatch,
    sockets: &Sockets,
    clock: Option<ClockFigures>,
    gate: Gate,
    stop: &AtomicBool,
) -> Result<Option<Sent>, RunError> {
    set_affinity(&[placement.sender]).map_err(system("the sender cannot be kept on its CPU"))?;
    let _ = nap::shorten_timer_slack();
    let socket = sockets
        .sender
        .try_clone()
        .map_err(system("the sender's socket cannot be shared"))?;
    let mut outlet = SocketOutlet::new(socket, options)?;
    let mut readings = Readings {
        clock: options.pacing_clock,
        per_packet: options.clock_reads_per_packet,
    };
    let margin = match options.pacing {
        Pacing::Schedule(_) => sleep_margin(),
        Pacing::Unpaced | Pacing::Iperf2(_) => Duration::ZERO,
    };
    let quota = Quota {
        count: count(options),
        stop,
    };
    if !gate.pass() {
        return Ok(None);
    }
    let began = (stopwatch.read(), thread_cpu_time());
    let (count, kind) = match options.pacing {
        Pacing::Unpaced => (sender::unpaced(&mut outlet, &mut readings, &quota)?, None),
        Pacing::Schedule(rate) => {
            let mut waiting = SleepThenSpin {
                margin: margin.as_nanos() as u64,
                stopwatch,
                began: began.0,
            };
            let keeping =
                sender::scheduled(&mut outlet, &mut readings, &mut waiting, rate, &quota)?;
            (keeping.sent, Some((rate, schedule_figures(&keeping, rate))))
        }
        Pacing::Iperf2(rate) => {
            let per_packet = microseconds_per_packet(rate);
            let waits = sender::iperf2_2007(&mut outlet, &mut readings, per_packet, &quota)?;
            let step = clock.and_then(|clock| clock.step_nanoseconds);
            let kind = PacerKind::Iperf2 {
                microseconds_per_packet: per_packet,
                waits: waits.packets.total(),
                packets_per_wait: waits.packets.quantile(0.5),
                credited_per_wait: waits.credited.quantile(0.5),
                packets_per_wait_predicted: step
                    .and_then(|step| packets_per_wait(step, per_packet)),
            };
            (waits.sent, Some((rate, kind)))
        }
    };
    let ended = stopwatch.read();
    Ok(Some(Sent {
        count,
        began: began.0,
        ended,
        end: end(placement.sender, stopwatch, began),
        refusals: outlet.refusals,
        pacer: kind.map(|(asked_packets_per_second, kind)| Pacer {
            asked_packets_per_second,
            kind,
        }),
    }))
}

/// The datagrams after which a sender is done by itself.
fn count(options: &Options) -> u64 {
    match (options.length, options.pacing) {
        (Length::Count(count), _) => count,
        (Length::Duration(duration), Pacing::Schedule(rate)) => {
            count_within(duration.as_secs_f64(), rate)
        }
        (Length::Duration(_), Pacing::Unpaced | Pacing::Iperf2(_)) => u64::MAX,
    }
}

fn schedule_figures(keeping: &sender::Keeping, rate: f64) -> PacerKind {
    let gap = 1e9 / rate;
    let quantile = |share| keeping.gaps.quantile(share);
    PacerKind::Schedule {
        late: keeping.late,
        gap_nanoseconds: quantile(0.01)
            .zip(quantile(0.5))
            .zip(quantile(0.99))
            .map(|((low, middle), high)| [low, middle, high]),
        gaps_within_a_tenth: keeping
            .gaps
            .share_within((0.9 * gap).ceil() as u64, (1.1 * gap) as u64),
    }
}

fn end(cpu: u32, stopwatch: &Stopwatch, (wall, cpu_time): (Reading, Duration)) -> End {
    End {
        cpu,
        cpu_nanoseconds: thread_cpu_time().saturating_sub(cpu_time).as_nanos() as f64,
        wall_nanoseconds: stopwatch.between(wall, stopwatch.read()).as_nanos() as f64,
    }
}

/// The median length of a few naps of this thread.
fn median_nap(asked: Duration) -> Duration {
    let mut naps = [Duration::ZERO; 9];
    nap::measure(asked, &mut naps);
    naps.sort_unstable();
    naps[naps.len() / 2]
}

/// How long before its time a sleep has to end, so that spinning does the rest.
fn sleep_margin() -> Duration {
    const ASKED: Duration = Duration::from_micros(100);
    const RESERVE: Duration = Duration::from_micros(60);
    median_nap(ASKED).saturating_sub(ASKED) + RESERVE
}

/// Sleeps while there is time for it, then leaves it to the loop to look at the clock.
struct SleepThenSpin<'a> {
    margin: u64,
    stopwatch: &'a Stopwatch,
    began: Reading,
}

impl sender::Waiting for SleepThenSpin<'_> {
    fn wait(&mut self, due: u64, now: u64) {
        // Both pacing clocks are on CLOCK_MONOTONIC's time line, which sleeps go by.
        if due - now > self.margin {
            nap::nap_until(due - self.margin);
        } else {
            std::hint::spin_loop();
        }
    }

    fn stopwatch(&mut self) -> u64 {
        self.stopwatch
            .between(self.began, self.stopwatch.read())
            .as_nanos() as u64
    }
}
