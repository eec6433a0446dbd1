//! The half that receives, at whichever end it is: counts what comes until the other half is done.

use std::net::UdpSocket;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use knobstat_sys::clock::Stopwatch;
use knobstat_sys::net::affinity::thread_cpu_time;
use knobstat_sys::net::counters::NamespaceCounters;
use knobstat_sys::net::nap;
use knobstat_sys::topology::set_affinity;

use super::super::delay::Delays;
use super::super::energy::EnergyMeter;
use super::super::figures::{End, InterfaceFigures};
use super::super::intake::Intake;
use super::super::link::total_drops;
use super::super::nap_policy::{Facts, NapPolicy};
use super::super::options::ReceiverMethod;
use super::super::receiver::{Farewell, NAP, Progress, Received, Receiver};
use super::super::seen::FlowSeen;
use super::super::threads::median_nap;
use super::super::wire::SMALLEST_TIMED;
use super::super::work::packets;
use super::interface::Watched;
use super::message::{Buckets, Outcome, Start};
use super::{EndsError, system};

/// After so long without a datagram the missing ones are lost, between hosts.
const SILENCE: Duration = Duration::from_millis(250);

/// What is counted, and how.
#[derive(Clone, Copy)]
pub(super) struct Counting<'a> {
    /// What was agreed on.
    pub start: &'a Start,
    /// How the receiver waits.
    pub method: ReceiverMethod,
    /// Each flow's socket.
    pub sockets: &'a [UdpSocket],
    /// The receive buffer that was granted to each.
    pub granted_buffer: usize,
    /// What this end's clock is ahead of the sender's, in nanoseconds.
    pub offset: i64,
    /// The CPU to receive on; any where absent.
    pub cpu: Option<u32>,
    /// Whether a receiver that spins takes a CPU from nobody who needs it.
    pub may_spin: bool,
}

/// What the receiving thread comes back with.
struct Seen {
    received: Received,
    end: End,
    nap: Option<Duration>,
}

impl Counting<'_> {
    /// Counts. `ready` tells the sender to begin; `until` waits until it is done and says how many
    /// it sent by each flow.
    ///
    /// # Errors
    /// When this end cannot receive, or one of the two fails.
    pub(super) fn count(
        self,
        ready: impl FnOnce() -> Result<(), EndsError>,
        until: impl FnOnce(&Progress) -> Result<Vec<u64>, EndsError>,
    ) -> Result<(Vec<u64>, Outcome), EndsError> {
        let stopwatch = Stopwatch::calibrated();
        let farewell = Farewell::default();
        let progress = Progress::default();
        let namespace = NamespaceCounters::read().ok();
        let peer = self
            .sockets
            .first()
            .and_then(|socket| socket.peer_addr().ok());
        let interface = peer.and_then(Watched::towards);
        let mut energy = EnergyMeter::start();
        let (counting, is_counting) = mpsc::channel();
        let receive = || self.receive(&stopwatch, &farewell, &progress, &counting);
        let (sent, seen) = thread::scope(|scope| {
            let receiver = thread::Builder::new()
                .spawn_scoped(scope, receive)
                .map_err(system("no thread can be started"))?;
            let sent = if is_counting.recv().is_ok() {
                ready().and_then(|()| until(&progress))
            } else {
                Err(EndsError::OutOfTurn)
            };
            // A sender that went away has nothing more to come.
            farewell.say(sent.as_ref().map_or(0, |sent| sent.iter().sum()));
            let seen = receiver
                .join()
                .map_err(|_| EndsError::Run("the receiving thread ended unexpectedly".to_owned()));
            // Why this end cannot receive says more than that it does not.
            let seen = seen??;
            Ok::<_, EndsError>((sent?, seen))
        })?;
        let energy = energy.stop();
        let received = seen.received;
        let packets = packets(&received.flows, &sent);
        let namespace = NamespaceCounters::read().ok().zip(namespace);
        let namespace = namespace.map(|(now, then)| now.since(&then));
        let mut outcome = Outcome {
            received: packets.received,
            received_bytes: packets.received_bytes,
            lost: packets.lost,
            buffers: packets.buffers,
            strays: packets.strays,
            order: packets.order,
            seconds: received
                .first
                .zip(received.last)
                .map(|(first, last)| stopwatch.between(first, last).as_secs_f64()),
            receiver: seen.end,
            nap_nanoseconds: seen.nap.map(|nap| nap.as_nanos() as f64),
            naps: received.naps,
            spinning: received.spinning,
            granted_buffer_bytes: self.granted_buffer as u64,
            socket_drops: total_drops(self.sockets),
            receive_buffer_errors: namespace.map(|counts| counts.receive_buffer_errors),
            fragments: namespace.map(|counts| counts.fragments),
            reassembly_failures: namespace.map(|counts| counts.reassembly_failures),
            interface: interface.and_then(|interface| {
                let counted = interface.counted()?;
                Some(InterfaceFigures {
                    packets: counted.received,
                    dropped: counted.dropped_receiving,
                })
            }),
            energy,
            gaps: None,
            one_way: None,
            before_sent: 0,
        };
        add_delays(&mut outcome, received.flows);
        Ok((sent, outcome))
    }

    /// The receiving thread.
    fn receive(
        self,
        stopwatch: &Stopwatch,
        farewell: &Farewell,
        progress: &Progress,
        counting: &mpsc::Sender<()>,
    ) -> Result<Seen, EndsError> {
        let start = self.start;
        if let Some(cpu) = self.cpu {
            set_affinity(&[cpu]).map_err(system("the receiver cannot be kept on its CPU"))?;
        }
        let _ = nap::shorten_timer_slack();
        let nap = (self.method != ReceiverMethod::Blocking).then(|| median_nap(NAP));
        let mut receiver = Receiver {
            sockets: self.sockets,
            method: self.method,
            policy: NapPolicy::new(Facts {
                nap: nap.unwrap_or_default(),
                granted_buffer: self.granted_buffer as u64,
                packet_size: start.packet_size as u64,
                packets_per_second: start.packets_per_second,
                shares_cpu: !self.may_spin,
            }),
            stopwatch,
            silence: SILENCE,
            progress,
        };
        let mut intake = Intake::new(self.method, start.packet_size, start.flows, start.delays)
            .map_err(system("this way of receiving cannot be had here"))?;
        let delays = || {
            let is_timed = start.packet_size >= SMALLEST_TIMED;
            start.delays.then(|| Delays::new(is_timed, self.offset))
        };
        let flows = (0..start.flows)
            .map(|_| FlowSeen::new(start.packet_size, start.first_number, delays()))
            .collect();
        let began = (stopwatch.read(), thread_cpu_time());
        // Nobody listens any more where the sender is gone already.
        let _ = counting.send(());
        let received = receiver
            .run(farewell, &mut intake, Received::nothing(flows))
            .map_err(system("the receiver cannot receive"))?;
        let end = End {
            cpu: self.cpu,
            cpu_nanoseconds: thread_cpu_time().saturating_sub(began.1).as_nanos() as f64,
            wall_nanoseconds: stopwatch.between(began.0, stopwatch.read()).as_nanos() as f64,
        };
        Ok(Seen { received, end, nap })
    }
}

/// The gaps and delays of all flows together.
fn add_delays(outcome: &mut Outcome, flows: Vec<FlowSeen>) {
    let mut all = flows.into_iter().filter_map(|flow| flow.delays);
    let Some(mut first) = all.next() else {
        return;
    };
    for other in all {
        first.gaps.merge(&other.gaps);
        first.before_sent += other.before_sent;
        if let (Some(one_way), Some(other)) = (&mut first.one_way, &other.one_way) {
            one_way.merge(other);
        }
    }
    outcome.gaps = Some(Buckets::of(&first.gaps));
    outcome.one_way = first.one_way.as_ref().map(Buckets::of);
    outcome.before_sent = first.before_sent;
}
