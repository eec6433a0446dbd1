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
use knobstat_sys::net::{ReceiveBatch, memory, nap};

use super::nap_policy::{Idle, NapPolicy};
use super::options::{BATCH, ReceiverMethod};
use super::order::Order;
use super::wire::{SMALLEST_NUMBERED, read_number};

/// The length of a nap as asked for.
pub(super) const NAP: Duration = Duration::from_micros(200);

/// How long a blocked receiver waits before it looks whether the sender is done.
pub(super) const BLOCK_LIMIT: Duration = Duration::from_millis(20);

/// After this long without a datagram the missing ones are lost.
const SILENCE: Duration = Duration::from_millis(50);

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
    /// Its socket.
    pub socket: &'a UdpSocket,
    /// How it waits.
    pub method: ReceiverMethod,
    /// Whether it naps.
    pub policy: NapPolicy,
    /// The payload of every datagram.
    pub packet_size: usize,
    /// The stopwatch.
    pub stopwatch: &'a Stopwatch,
}

/// What a receiver saw.
pub(super) struct Received {
    /// Datagrams that arrived.
    pub datagrams: u64,
    /// Their payload in bytes.
    pub bytes: u64,
    /// Their accounting by number; absent where they were too small for one.
    pub order: Option<Order>,
    /// When the last of them was seen.
    pub last: Option<Reading>,
    /// How often it napped.
    pub naps: u64,
    /// Whether it ended up spinning.
    pub spinning: bool,
}

impl Receiver<'_> {
    /// Memory for receiving: made before the run.
    pub(super) fn memory(&self) -> (ReceiveBatch, Received) {
        (
            ReceiveBatch::new(BATCH, self.packet_size),
            Received {
                datagrams: 0,
                bytes: 0,
                order: (self.packet_size >= SMALLEST_NUMBERED).then(|| Order::starting_at(0)),
                last: None,
                naps: 0,
                spinning: false,
            },
        )
    }

    /// Receives until the sender is done and everything that it sent has arrived or is known to
    /// be dropped, or nothing has come for a while.
    ///
    /// # Errors
    /// When the socket cannot be read.
    pub(super) fn run(
        &mut self,
        farewell: &Farewell,
        (mut batch, mut received): (ReceiveBatch, Received),
    ) -> io::Result<Received> {
        let mut silent_since = None;
        loop {
            // Heard before the queue is looked at: what it tells of has all been sent by then.
            let heard = farewell.heard();
            let count = match self.method {
                ReceiverMethod::Napping => batch.receive_arrived(self.socket)?,
                ReceiverMethod::Blocking => batch.receive_blocking(self.socket)?,
            };
            if count > 0 {
                received.last = Some(self.stopwatch.read());
                received.take(&batch, count);
                // A full batch: there may be more.
                if count == batch.capacity() || self.method == ReceiverMethod::Blocking {
                    continue;
                }
            }
            if let Some(sent) = heard
                && self.nothing_more(&received, sent, &mut silent_since)
            {
                received.spinning = self.policy.idle() == Idle::Spin;
                return Ok(received);
            }
            if self.method == ReceiverMethod::Blocking {
                continue;
            }
            match self.policy.idle() {
                Idle::Nap => {
                    nap::nap(NAP);
                    received.naps += 1;
                    if let Ok(memory) = memory(self.socket) {
                        self.policy.woke(u64::from(memory.receive_queue));
                    }
                }
                Idle::Spin => spin_loop(),
            }
        }
    }
}

impl Receiver<'_> {
    /// Whether all that was sent is accounted for, or nothing has come for so long that it will
    /// not any more.
    fn nothing_more(
        &self,
        received: &Received,
        sent: u64,
        silent_since: &mut Option<Reading>,
    ) -> bool {
        // Without this counter (before Linux 4.12) the silence decides.
        let dropped = memory(self.socket).map_or(0, |memory| u64::from(memory.drops));
        if received.datagrams + dropped >= sent {
            return true;
        }
        let now = self.stopwatch.read();
        let since = *silent_since.get_or_insert(now);
        let since = received.last.map_or(since, |last| last.max(since));
        self.stopwatch.between(since, now) >= SILENCE
    }
}

impl Received {
    #[inline]
    fn take(&mut self, batch: &ReceiveBatch, count: usize) {
        self.datagrams += count as u64;
        for index in 0..count {
            self.bytes += batch.length(index) as u64;
            if let Some(order) = &mut self.order
                && let Some(number) = read_number(batch.datagram(index))
            {
                order.arrived(number);
            }
        }
    }
}
