//! The loop of a receiver: drains what has come, then naps, spins or blocks.
//!
//! Nothing is allocated and no lock is taken per datagram; the stopwatch is read once per call
//! that brought something.

use std::hint::spin_loop;
use std::io;
use std::net::UdpSocket;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use knobstat_sys::clock::{Reading, Stopwatch};
use knobstat_sys::net::{memory, nap};

use super::intake::{Intake, Taken};
use super::link::total_drops;
use super::nap_policy::{Idle, NapPolicy};
use super::options::ReceiverMethod;
use super::seen::FlowSeen;

/// The length of a nap as asked for.
pub(super) const NAP: Duration = Duration::from_micros(200);

/// How long a blocked receiver waits before it looks whether the sender is done.
pub(super) const BLOCK_LIMIT: Duration = Duration::from_millis(20);

/// After this long without a datagram the missing ones are lost, on one machine.
pub(super) const SILENCE: Duration = Duration::from_millis(50);

/// What the sender tells the receiver, without a datagram that might be lost.
#[derive(Debug, Default)]
pub(super) struct Farewell {
    sent: AtomicU64,
    done: AtomicBool,
}

impl Farewell {
    /// The sender has sent its last.
    pub(super) fn say(&self, sent: u64) {
        self.sent.store(sent, Ordering::Relaxed);
        self.done.store(true, Ordering::Release);
    }

    fn heard(&self) -> Option<u64> {
        self.done
            .load(Ordering::Acquire)
            .then(|| self.sent.load(Ordering::Relaxed))
    }
}

/// What a receiver is set up with.
pub(super) struct Receiver<'a> {
    /// Its sockets, one a flow.
    pub sockets: &'a [UdpSocket],
    /// How it waits.
    pub method: ReceiverMethod,
    /// Whether it naps.
    pub policy: NapPolicy,
    /// The stopwatch.
    pub stopwatch: &'a Stopwatch,
    /// After so long without a datagram the missing ones are lost.
    pub silence: Duration,
    /// What others may see of it meanwhile.
    pub progress: &'a Progress,
}

/// What a receiver saw.
pub(super) struct Received {
    /// Each flow's account.
    pub flows: Vec<FlowSeen>,
    /// When the first datagrams were seen.
    pub first: Option<Reading>,
    /// When the last of them was seen.
    pub last: Option<Reading>,
    /// How often it napped.
    pub naps: u64,
    /// Whether it ended up spinning.
    pub spinning: bool,
}

/// What has come so far, for those who watch a receiver at work.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// Datagrams.
    pub datagrams: AtomicU64,
    /// Their payload in bytes.
    pub bytes: AtomicU64,
    /// The buffers that they came in.
    pub buffers: AtomicU64,
}

impl Received {
    /// Nothing yet.
    pub(super) fn nothing(flows: Vec<FlowSeen>) -> Self {
        Self {
            flows,
            first: None,
            last: None,
            naps: 0,
            spinning: false,
        }
    }

    /// Datagrams that arrived, of all flows.
    pub(super) fn datagrams(&self) -> u64 {
        self.flows.iter().map(|flow| flow.datagrams).sum()
    }

    /// The buffers that they came in.
    pub(super) fn buffers(&self) -> u64 {
        self.flows.iter().map(|flow| flow.buffers).sum()
    }

    /// Their payload in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.flows.iter().map(FlowSeen::bytes).sum()
    }
}

impl Receiver<'_> {
    /// Receives until the sender is done and everything that it sent has arrived or is known to
    /// be dropped, or nothing has come for a while.
    ///
    /// # Errors
    /// When a socket cannot be read.
    pub(super) fn run(
        &mut self,
        farewell: &Farewell,
        intake: &mut Intake,
        mut received: Received,
    ) -> io::Result<Received> {
        let mut silent_since = None;
        loop {
            // Heard before the queue is looked at: what it tells of has all been sent by then.
            let heard = farewell.heard();
            let taken = self.take(intake, &mut received)?;
            // As much as there was room for: there may be more.
            if taken == Taken::Full || (taken == Taken::Some && self.is_blocking()) {
                continue;
            }
            if let Some(sent) = heard
                && self.nothing_more(&received, sent, &mut silent_since)
            {
                received.spinning = self.policy.idle() == Idle::Spin;
                return Ok(received);
            }
            if self.is_blocking() {
                continue;
            }
            match self.policy.idle() {
                Idle::Nap => {
                    nap::nap(NAP);
                    received.naps += 1;
                    for socket in self.sockets {
                        if let Ok(memory) = memory(socket) {
                            self.policy.woke(u64::from(memory.receive_queue));
                        }
                    }
                }
                Idle::Spin => spin_loop(),
            }
        }
    }

    fn is_blocking(&self) -> bool {
        self.method == ReceiverMethod::Blocking
    }

    /// Takes what has come for each flow.
    #[inline]
    fn take(&self, intake: &mut Intake, received: &mut Received) -> io::Result<Taken> {
        let mut most = Taken::Nothing;
        for (index, (socket, flow)) in self.sockets.iter().zip(&mut received.flows).enumerate() {
            most = most.max(intake.take(index, socket, flow)?);
        }
        if most > Taken::Nothing {
            let now = self.stopwatch.read();
            received.first.get_or_insert(now);
            received.last = Some(now);
            let progress = self.progress;
            progress
                .datagrams
                .store(received.datagrams(), Ordering::Relaxed);
            progress.bytes.store(received.bytes(), Ordering::Relaxed);
            progress
                .buffers
                .store(received.buffers(), Ordering::Relaxed);
        }
        Ok(most)
    }

    /// Whether all that was sent is accounted for, or nothing has come for so long that it will
    /// not any more.
    fn nothing_more(
        &self,
        received: &Received,
        sent: u64,
        silent_since: &mut Option<Reading>,
    ) -> bool {
        // Without this counter (before Linux 4.12) the silence decides.
        let dropped = total_drops(self.sockets).unwrap_or(0);
        if received.datagrams() + dropped >= sent {
            return true;
        }
        let now = self.stopwatch.read();
        let since = *silent_since.get_or_insert(now);
        let since = received.last.map_or(since, |last| last.max(since));
        self.stopwatch.between(since, now) >= self.silence
    }
}
