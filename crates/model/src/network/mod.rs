//! A sender on one machine, a link, and a receiver on another.
//!
//! Simulated time is in nanoseconds from the moment before the first datagram. The sender reads
//! its clock, asks its pacer, hands the datagram over, and waits where it must: for room in its
//! socket buffer, asleep, or for the pacer, reading the clock. Nothing of it depends on the
//! processor's frequency or idle states: the sender never lets its CPU idle for long.

mod pacer;
mod path;

use thiserror::Error;

use crate::clocks::Reading;
use crate::machine::{Network, SendMethod};

use pacer::{Counts, Iperf2, Schedule};
pub use pacer::{Waits, microseconds_per_packet, packets_per_wait};
use path::Path;

/// What is to be sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Load {
    /// The payload of every datagram, in bytes.
    pub bytes: f64,
    /// How datagrams are handed to the kernel.
    pub method: String,
    /// How much.
    pub quota: Quota,
    /// How an asked rate is kept, and the rate in datagrams a second.
    pub pacing: Option<(Pacer, f64)>,
    /// Readings of the clock for each datagram beside those of the pacer.
    pub reads_per_packet: u32,
    /// By how much the sender's costs are larger than the machine file says, 1 for not at all.
    pub slowness: f64,
}

/// How much is to be sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Quota {
    /// For so many nanoseconds.
    For(f64),
    /// So many datagrams.
    Count(u64),
}

/// How an asked rate is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pacer {
    /// By an absolute schedule.
    Schedule,
    /// As the iperf 2.0 of 2007 did.
    Iperf2,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkRun {
    /// Datagrams sent.
    pub sent: u64,
    /// Datagrams received.
    pub received: u64,
    /// From before the first send to after the last, in nanoseconds.
    pub sending: f64,
    /// From before the first send to the last receipt, or to the end of sending where that was
    /// later.
    pub receiving: f64,
    /// How long the sender's CPU worked or spun, in nanoseconds.
    pub sender_busy: f64,
    /// How long the receiver's CPU worked.
    pub receiver_busy: f64,
    /// The share of the sending time that the wire was busy, 0 to 1.
    pub wire_busy: f64,
    /// How often the sender found no room in its buffer.
    pub refusals: u64,
    /// What the loop of 2007 came to.
    pub waits: Option<Waits>,
    /// What the schedule came to.
    pub keeping: Option<Keeping>,
}

/// What a schedule came to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Keeping {
    /// Sent when the next one was due already.
    pub late: u64,
    /// Quantiles of the nanoseconds between two sends (1 %, 50 %, 99 %).
    pub gaps: Option<[u64; 3]>,
    /// The share of the gaps within a tenth of the asked one, 0 to 1.
    pub gaps_within_a_tenth: Option<f64>,
}

/// Why nothing can be sent.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NetworkError {
    /// The machine file does not say what it costs.
    #[error(
        "the machine file has no costs of sending by \"{method}\"; it has {known}: use one of these, or add the other"
    )]
    NoMethod {
        /// The way of sending.
        method: String,
        /// Those that the file has.
        known: String,
    },
    /// A datagram would not fit into one packet.
    #[error(
        "a datagram of {bytes} bytes does not fit the link's packets of {mtu} bytes, and a model sends no fragments; make it smaller"
    )]
    TooLarge {
        /// The payload.
        bytes: u64,
        /// The largest packet.
        mtu: u64,
    },
    /// It would take too long.
    #[error(
        "more than {MOST_DATAGRAMS} datagrams would be simulated; ask for a shorter duration or a smaller count"
    )]
    TooLong,
}

/// More than this are not simulated: they would take minutes.
const MOST_DATAGRAMS: u64 = 500_000_000;

/// The headers of a datagram within a packet: IPv4's 20 bytes and UDP's 8.
const HEADERS: f64 = 28.0;

/// What sending datagrams of so many bytes in this way costs.
///
/// # Errors
/// When the machine file does not say, or they do not fit.
pub fn costs<'n>(
    network: &'n Network,
    method: &str,
    bytes: f64,
) -> Result<&'n SendMethod, NetworkError> {
    let costs = network
        .methods
        .get(method)
        .ok_or_else(|| NetworkError::NoMethod {
            method: method.to_owned(),
            known: network
                .methods
                .keys()
                .map(String::as_str)
                .collect::<Vec<_>>()
                .join(", "),
        })?;
    let mtu = network.link.mtu.value.0;
    if bytes + HEADERS > mtu {
        return Err(NetworkError::TooLarge {
            bytes: bytes as u64,
            mtu: mtu as u64,
        });
    }
    Ok(costs)
}

/// Sends what is to be sent, paced and timed by this clock.
///
/// # Errors
/// When the machine file does not say what it costs, or it would take too long to simulate.
pub fn run(network: &Network, clock: Reading, load: &Load) -> Result<LinkRun, NetworkError> {
    let costs = costs(network, &load.method, load.bytes)?;
    let send_cost = costs.per_packet.value.0 + costs.per_byte.value.0 * load.bytes;
    let mut sender = Sender {
        clock,
        reading: clock.cost() * load.slowness,
        reads: f64::from(load.reads_per_packet) * clock.cost() * load.slowness,
        send_cost: send_cost * load.slowness,
        path: Path::new(network, load.bytes),
        now: 0.0,
        sent: 0,
        end: match load.quota {
            Quota::For(nanoseconds) => nanoseconds,
            Quota::Count(_) => f64::INFINITY,
        },
        count: match load.quota {
            Quota::For(_) => MOST_DATAGRAMS + 1,
            Quota::Count(count) => count,
        },
    };
    let (mut waits, mut keeping) = (None, None);
    match load.pacing {
        None => sender.unpaced()?,
        Some((Pacer::Iperf2, rate)) => waits = Some(sender.iperf2(rate)?),
        Some((Pacer::Schedule, rate)) => keeping = Some(sender.scheduled(rate)?),
    }
    let seen = sender.path.seen;
    let sending = sender.now;
    Ok(LinkRun {
        sent: sender.sent,
        received: seen.received,
        sending,
        receiving: sending.max(seen.last_receipt),
        sender_busy: sending - seen.slept,
        receiver_busy: seen.received as f64 * network.receiver.per_packet.value.0,
        wire_busy: if sending > 0.0 {
            (seen.wire_busy / sending).min(1.0)
        } else {
            0.0
        },
        refusals: seen.refusals,
        waits,
        keeping,
    })
}

struct Sender {
    clock: Reading,
    /// What the pacer's reading takes.
    reading: f64,
    /// What the further readings for a datagram take.
    reads: f64,
    send_cost: f64,
    path: Path,
    now: f64,
    sent: u64,
    end: f64,
    count: u64,
}

impl Sender {
    /// Whether there is more to send.
    fn goes_on(&self) -> Result<bool, NetworkError> {
        if self.sent > MOST_DATAGRAMS {
            return Err(NetworkError::TooLong);
        }
        Ok(self.sent < self.count && self.now < self.end)
    }

    /// Reads the clock for a datagram where that was asked for, and hands it over.
    fn send(&mut self) {
        self.now += self.reads;
        self.now = self.path.room(self.now);
        self.now += self.send_cost;
        self.path.send(self.now);
        self.sent += 1;
    }

    fn unpaced(&mut self) -> Result<(), NetworkError> {
        while self.goes_on()? {
            self.send();
        }
        Ok(())
    }

    fn iperf2(&mut self, rate: f64) -> Result<Waits, NetworkError> {
        let began = self.clock.shows_microseconds(self.now);
        let mut pacer = Iperf2::new(microseconds_per_packet(rate), began);
        while self.goes_on()? {
            self.now += self.reading;
            let wait = pacer.packet(self.clock.shows_microseconds(self.now));
            self.send();
            if let Some(delay) = wait {
                self.spin(delay);
            }
        }
        Ok(pacer.conclude())
    }

    /// Reads the clock until it has moved by so many microseconds, or the time is over.
    fn spin(&mut self, microseconds: i64) {
        let began = self.clock.shows_microseconds(self.now);
        let wanted = (began as f64 + microseconds as f64) * 1e3;
        self.spin_until(wanted);
    }

    /// Reads the clock until it shows this, or the time is over.
    fn spin_until(&mut self, shows: f64) {
        let wait = (self.clock.moment_of(shows) - self.now).max(0.0);
        let reading = self.reading.max(1.0);
        let readings = (wait / reading).ceil().max(1.0);
        self.now = (self.now + readings * reading).min(self.end.max(self.now));
    }

    fn scheduled(&mut self, rate: f64) -> Result<Keeping, NetworkError> {
        let schedule = Schedule::new(self.clock.shows(self.now), rate);
        let gap = 1e9 / rate;
        let (mut late, mut gaps, mut last) = (0, Counts::default(), None);
        while self.goes_on()? {
            self.now += self.reading;
            if self.clock.shows(self.now) < schedule.due(self.sent) {
                self.spin_until(schedule.due(self.sent));
                if self.now >= self.end {
                    break;
                }
            }
            late += u64::from(self.clock.shows(self.now) >= schedule.due(self.sent + 1));
            if let Some(last) = last.replace(self.now) {
                gaps.add((self.now - last).round() as u64);
            }
            self.send();
        }
        let quantile = |share| gaps.quantile(share);
        Ok(Keeping {
            late,
            gaps: match (quantile(0.01), quantile(0.5), quantile(0.99)) {
                (Some(low), Some(middle), Some(high)) => Some([low, middle, high]),
                _ => None,
            },
            gaps_within_a_tenth: gaps
                .share_within((0.9 * gap).ceil() as u64..=(1.1 * gap).floor() as u64),
        })
    }
}

#[cfg(test)]
mod tests;
