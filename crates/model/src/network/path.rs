//! The way of a datagram: the sender's socket buffer, the wire, and the receiver.
//!
//! A datagram is charged to the buffer when it is sent and goes on the wire after those before it.
//! The card tells what it has sent only once it is so many datagrams, or a while after the first
//! of them: then the room is given back, and a sender that waits for room is woken once enough of
//! the buffer is free. What arrives is taken by the
//! receiver one after the other, and dropped where its buffer is full.

use std::collections::VecDeque;

use crate::machine::Network;

/// The way of datagrams of one size. Moments and times in nanoseconds.
#[derive(Clone, Debug)]
pub(super) struct Path {
    /// The sender's buffer.
    size: f64,
    charge: f64,
    wake_below: f64,
    told_after: f64,
    most_untold: u32,
    taken: f64,
    /// What the card has not told of yet, the earliest first.
    untold: VecDeque<Batch>,
    /// The wire.
    wire_time: f64,
    wire_free: f64,
    /// The receiver.
    receive_cost: f64,
    receiver_free: f64,
    most_waiting: f64,
    /// What was seen.
    pub(super) seen: PathSeen,
}

/// Datagrams that the card tells of at once.
#[derive(Clone, Copy, Debug)]
struct Batch {
    /// When it does, should no more of them come.
    told: f64,
    count: u32,
    charge: f64,
}

/// What was seen of the way.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct PathSeen {
    /// Datagrams that the receiver took.
    pub received: u64,
    /// Datagrams that it dropped.
    pub dropped: u64,
    /// How often the sender found no room.
    pub refusals: u64,
    /// How long the sender slept for want of room.
    pub slept: f64,
    /// How long the wire was busy.
    pub wire_busy: f64,
    /// When the last datagram was received.
    pub last_receipt: f64,
}

impl Path {
    /// The way of datagrams of so many bytes.
    pub(super) fn new(network: &Network, bytes: f64) -> Self {
        let buffer = &network.send_buffer;
        let on_the_wire = (bytes + network.link.overhead.value.0) * 8.0;
        let receiver = &network.receiver;
        Self {
            size: buffer.size.value.0,
            charge: bytes + buffer.overhead.value.0,
            wake_below: buffer.size.value.0 * buffer.wake_below.value.0,
            told_after: buffer.told_after.value.0,
            most_untold: buffer.told_of.value,
            taken: 0.0,
            untold: VecDeque::new(),
            wire_time: on_the_wire / network.link.rate.value.0,
            wire_free: 0.0,
            receive_cost: receiver.per_packet.value.0,
            receiver_free: 0.0,
            most_waiting: (receiver.buffer.value.0 / (bytes + receiver.overhead.value.0)).floor(),
            seen: PathSeen::default(),
        }
    }

    /// Waits for room from a moment on, and says when there is some.
    pub(super) fn room(&mut self, now: f64) -> f64 {
        self.give_back(now);
        if self.taken < self.size {
            return now;
        }
        self.seen.refusals += 1;
        let mut woken = now;
        while self.taken > self.wake_below {
            let Some(batch) = self.untold.pop_front() else {
                break;
            };
            self.taken -= batch.charge;
            woken = woken.max(batch.told);
        }
        self.seen.slept += woken - now;
        woken
    }

    /// A datagram is handed over at this moment.
    pub(super) fn send(&mut self, now: f64) {
        let begins = self.wire_free.max(now);
        let arrives = begins + self.wire_time;
        self.wire_free = arrives;
        self.seen.wire_busy += self.wire_time;
        self.taken += self.charge;
        self.tell_of(arrives);
        self.receive(arrives);
    }

    /// A datagram has gone at this moment.
    fn tell_of(&mut self, gone: f64) {
        if let Some(batch) = self.untold.back_mut()
            && batch.count < self.most_untold
            && gone <= batch.told
        {
            batch.count += 1;
            batch.charge += self.charge;
            if batch.count == self.most_untold {
                batch.told = gone;
            }
            return;
        }
        self.untold.push_back(Batch {
            told: if self.most_untold == 1 {
                gone
            } else {
                gone + self.told_after
            },
            count: 1,
            charge: self.charge,
        });
    }

    fn receive(&mut self, arrives: f64) {
        let waiting = (self.receiver_free - arrives).max(0.0);
        if waiting > self.receive_cost * self.most_waiting {
            self.seen.dropped += 1;
            return;
        }
        self.receiver_free = self.receiver_free.max(arrives) + self.receive_cost;
        self.seen.received += 1;
        self.seen.last_receipt = self.receiver_free;
    }

    fn give_back(&mut self, now: f64) {
        while let Some(batch) = self.untold.front().copied() {
            if batch.told > now {
                break;
            }
            self.taken -= batch.charge;
            self.untold.pop_front();
        }
    }
}
