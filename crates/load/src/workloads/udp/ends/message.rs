//! What the two ends say to each other over their control connection: frames of JSON, every
//! length checked before anything is allocated for it.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use knobstat_data::Parameters;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::super::figures::{
    ClockFigures, End, EnergyFigures, InterfaceFigures, OrderFigures, Pacer,
};
use crate::histogram::{Bucket, Histogram};

/// The version of the conversation.
pub(super) const VERSION: u32 = 3;

/// The most that the end that asks has to say at once.
pub(super) const FROM_ASKER: usize = 4 << 10;

/// The most that the end that was asked has to say at once: a result with two histograms.
pub(super) const FROM_ASKED: usize = 1 << 20;

/// A number that nobody can guess.
pub(super) type Nonce = [u8; 16];

/// One thing said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Message {
    /// The sender's first word.
    Hello { version: u32, nonce: Nonce },
    /// The receiver's answer, to be proved against where it has a token.
    Challenge { nonce: Nonce, needs_token: bool },
    /// What the sender is going to do.
    Start(Start),
    /// The receiver will not have it.
    Refused { reason: String },
    /// It will: a port for each flow, and the cookie by which each introduces itself there.
    Accepted {
        cookie: Nonce,
        ports: Vec<u16>,
        granted_buffer: u64,
    },
    /// Every flow has introduced itself.
    Bound,
    /// The datagrams begin; the receiver's clock is ahead by so many nanoseconds.
    Begin { offset: i64 },
    /// The receiver counts.
    Counting,
    /// What has come so far.
    SoFar {
        datagrams: u64,
        bytes: u64,
        buffers: u64,
    },
    /// The sender is done.
    Done(Box<Sending>),
    /// What became of what was sent.
    Outcome(Box<Outcome>),
    /// The same in short, for a sender that only has to know that it is over.
    Counted { received: u64, lost: u64 },
}

/// Which way the datagrams go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// From the end that asked to the one that was asked.
    Forward,
    /// From the end that was asked to the one that asked.
    Reverse,
}

/// What the sender is going to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Start {
    /// That it knows the token, where the receiver has one.
    pub proof: Option<[u8; 32]>,
    pub direction: Direction,
    /// How the receiver of this is to send, where it is the one that does.
    pub sending: Option<Parameters>,
    pub packet_size: usize,
    pub flows: usize,
    pub first_number: u64,
    pub receiver_method: String,
    /// The receive buffer of each flow, in bytes.
    pub receive_buffer: usize,
    /// The most datagrams a second that may come.
    pub packets_per_second: f64,
    /// Whether gaps and delays are to be taken by the kernel's times of arrival.
    pub delays: bool,
    /// How often what has come so far is to be told, in milliseconds; never where absent.
    pub interval_milliseconds: Option<u64>,
}

/// What the sender did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in super::super) struct Sending {
    /// Datagrams of each flow.
    pub by_flow: Vec<u64>,
    /// From before the first to after the last.
    pub seconds: f64,
    pub end: End,
    pub refusals: u64,
    pub send_buffer_errors: Option<u64>,
    /// Packets that the interface towards the receiver dropped on their way out.
    pub interface_drops: Option<u64>,
    pub pacer: Option<Pacer>,
    pub pacing_clock: Option<ClockFigures>,
    pub mtu_bytes: u64,
    pub is_ipv4: bool,
    pub energy: EnergyFigures,
    pub stopwatch: String,
    pub stopwatch_caveat: Option<String>,
    pub stopwatch_granularity_nanoseconds: f64,
}

impl Sending {
    /// Whether a sender of so many flows can have done that: as many counts, whose sum there is.
    pub(super) fn is_of_flows(&self, flows: usize) -> bool {
        let sum = self
            .by_flow
            .iter()
            .try_fold(0, |sum: u64, flow| sum.checked_add(*flow));
        self.by_flow.len() == flows && sum.is_some()
    }
}

/// What the receiver saw.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in super::super) struct Outcome {
    pub received: u64,
    pub received_bytes: u64,
    pub lost: u64,
    pub buffers: u64,
    pub strays: u64,
    pub order: Option<OrderFigures>,
    /// From the first datagrams to the last; absent where nothing came.
    pub seconds: Option<f64>,
    pub receiver: End,
    pub nap_nanoseconds: Option<f64>,
    pub naps: u64,
    pub spinning: bool,
    pub granted_buffer_bytes: u64,
    pub socket_drops: Option<u64>,
    pub receive_buffer_errors: Option<u64>,
    pub fragments: Option<u64>,
    pub reassembly_failures: Option<u64>,
    /// What the interface towards the sender took and dropped.
    pub interface: Option<InterfaceFigures>,
    pub energy: EnergyFigures,
    /// Nanoseconds from one arrival to the next, where times were asked for.
    pub gaps: Option<Buckets>,
    /// Nanoseconds from sending to arrival.
    pub one_way: Option<Buckets>,
    /// Arrivals that seemed to come before their sending.
    pub before_sent: u64,
}

/// A histogram: the lowest value of each bucket that is not empty, and its count.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Buckets(pub Vec<(u64, u64)>);

impl Buckets {
    /// Those of a histogram.
    pub(in super::super) fn of(histogram: &Histogram) -> Self {
        let filled = |bucket: Bucket| (bucket.count > 0).then_some((bucket.from, bucket.count));
        Self(histogram.buckets().filter_map(filled).collect())
    }

    /// How many values there are.
    pub fn total(&self) -> u64 {
        self.0
            .iter()
            .fold(0, |total, (_, count)| total.saturating_add(*count))
    }

    /// The value that this share (0 to 1) of the values do not exceed; absent where there is
    /// none.
    pub fn quantile(&self, share: f64) -> Option<u64> {
        let rank = ((self.total() as f64 * share).ceil() as u64).max(1);
        let mut counted = 0u64;
        self.0
            .iter()
            .find(|(_, count)| {
                counted = counted.saturating_add(*count);
                counted >= rank
            })
            .map(|(value, _)| *value)
    }
}

/// Why a message could not be had.
#[derive(Debug, Error)]
pub enum MessageError {
    /// The connection failed.
    #[error("the control connection failed ({0})")]
    Connection(#[from] io::Error),
    /// The other side speaks something else.
    #[error("the other side does not speak knobstat's protocol; is the port right?")]
    Foreign,
    /// It claims to have more to say than it may.
    #[error("the other side claims a message of {claimed} bytes, more than the {most} allowed")]
    TooLong {
        /// The length that it claims.
        claimed: u64,
        /// The most that it may have.
        most: usize,
    },
    /// What it says makes no sense.
    #[error("a control message cannot be read ({0}); use the same knobstat on both sides")]
    Unreadable(#[from] serde_json::Error),
}

const MAGIC: [u8; 4] = *b"knu1";

/// Says something.
///
/// # Errors
/// When the connection fails.
pub(super) fn write(stream: &mut impl Write, message: &Message) -> Result<(), MessageError> {
    let body = serde_json::to_vec(message)?;
    let length = u32::try_from(body.len()).map_err(|_| MessageError::Foreign)?;
    let mut frame = Vec::with_capacity(8 + body.len());
    frame.extend(MAGIC);
    frame.extend(length.to_be_bytes());
    frame.extend(body);
    stream.write_all(&frame)?;
    Ok(stream.flush()?)
}

/// Hears something of at most so many bytes.
///
/// # Errors
/// When the connection fails or ends, or what comes is no message.
pub(super) fn read(stream: &mut impl Read, most: usize) -> Result<Message, MessageError> {
    let mut head = [0; 8];
    stream.read_exact(&mut head)?;
    let (magic, length) = head.split_at(4);
    if magic != MAGIC {
        return Err(MessageError::Foreign);
    }
    let length = length
        .iter()
        .fold(0u64, |length, byte| length << 8 | u64::from(*byte));
    if length > most as u64 {
        return Err(MessageError::TooLong {
            claimed: length,
            most,
        });
    }
    // What arrives decides how much is held, not what is claimed.
    let mut body = Vec::with_capacity((length as usize).min(1 << 10));
    stream.take(length).read_to_end(&mut body)?;
    if (body.len() as u64) < length {
        return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
    }
    Ok(serde_json::from_slice(&body)?)
}

/// Hears something that has to be said to its end within a time, however slowly it comes: a peer
/// that says a byte now and then holds nobody.
///
/// # Errors
/// As [`read`], and when it takes longer.
pub(super) fn hear(
    stream: &TcpStream,
    most: usize,
    within: Duration,
) -> Result<Message, MessageError> {
    let until = Instant::now() + within;
    read(&mut Until { stream, until }, most)
}

/// What comes over a connection until a moment.
struct Until<'a> {
    stream: &'a TcpStream,
    until: Instant,
}

impl Read for Until<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.stream.set_read_timeout(Some(left))?;
        self.stream.read(bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn what_takes_too_long_is_not_waited_for_even_where_more_of_it_comes() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut peer = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (own, _) = listener.accept().unwrap();
        write(&mut peer, &hello()).unwrap();
        let hour = Duration::from_secs(3600);
        assert_eq!(hear(&own, FROM_ASKER, hour).unwrap(), hello());
        // Its bytes are there, and its time is over.
        write(&mut peer, &hello()).unwrap();
        let late = hear(&own, FROM_ASKER, Duration::ZERO).unwrap_err();
        assert!(
            matches!(&late, MessageError::Connection(error) if error.kind() == io::ErrorKind::TimedOut),
            "{late}"
        );
        // Nothing more of a message that began is waited for without end.
        let mut half = Until {
            stream: &own,
            until: Instant::now() + hour,
        };
        half.read_exact(&mut [0; 12]).unwrap();
        half.until = Instant::now();
        assert!(half.read(&mut [0; 12]).is_err());
    }

    fn hello() -> Message {
        Message::Hello {
            version: VERSION,
            nonce: [7; 16],
        }
    }

    #[test]
    fn what_is_said_is_heard() {
        let mut bytes = Vec::new();
        write(&mut bytes, &hello()).unwrap();
        assert_eq!(read(&mut bytes.as_slice(), FROM_ASKER).unwrap(), hello());
    }

    #[test]
    fn a_claim_of_four_gigabytes_is_refused_before_anything_is_held() {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(u32::MAX.to_be_bytes());
        let refused = read(&mut bytes.as_slice(), FROM_ASKED).unwrap_err();
        assert!(matches!(refused, MessageError::TooLong { .. }), "{refused}");
    }

    #[test]
    fn bytes_that_were_changed_anywhere_are_read_or_refused_and_never_more() {
        let seed = 20_070_801u64;
        println!("seed {seed}");
        let rounds = if std::env::var_os("KNOBSTAT_LONG").is_some() {
            2_000_000
        } else {
            100_000
        };
        let mut random = seed;
        let mut next = move || {
            // xorshift64*.
            random ^= random >> 12;
            random ^= random << 25;
            random ^= random >> 27;
            random.wrapping_mul(0x2545_f491_4f6c_dd1d)
        };
        let start = Message::Start(Start {
            proof: Some([1; 32]),
            direction: Direction::Reverse,
            sending: Some(Parameters::from([(
                "flows".to_owned(),
                knobstat_data::Value::Integer(2),
            )])),
            packet_size: 64,
            flows: 2,
            first_number: 0,
            receiver_method: "napping".to_owned(),
            receive_buffer: 4 << 20,
            packets_per_second: 1e5,
            delays: true,
            interval_milliseconds: None,
        });
        let done = Message::Done(Box::new(Sending {
            by_flow: vec![3, 4],
            seconds: 0.5,
            end: End {
                cpu: Some(1),
                cpu_nanoseconds: 1e9,
                wall_nanoseconds: 2e9,
            },
            refusals: 0,
            send_buffer_errors: None,
            interface_drops: None,
            pacer: None,
            pacing_clock: None,
            mtu_bytes: 1500,
            is_ipv4: true,
            energy: EnergyFigures(Err("no counter".to_owned())),
            stopwatch: "tsc".to_owned(),
            stopwatch_caveat: None,
            stopwatch_granularity_nanoseconds: 1.0,
        }));
        let accepted = Message::Accepted {
            cookie: [9; 16],
            ports: vec![1, 2],
            granted_buffer: 1 << 20,
        };
        let sound = [hello(), start, done, accepted].map(|message| {
            let mut bytes = Vec::new();
            write(&mut bytes, &message).unwrap();
            bytes
        });
        let mut understood = 0;
        for _ in 0..rounds {
            let mut bytes = sound[(next() % sound.len() as u64) as usize].clone();
            for _ in 0..1 + next() % 3 {
                let place = (next() % bytes.len() as u64) as usize;
                match next() % 3 {
                    0 => bytes[place] = next() as u8,
                    1 => bytes.truncate(place.max(1)),
                    _ => bytes.insert(place, next() as u8),
                }
            }
            understood += u32::from(read(&mut bytes.as_slice(), FROM_ASKER).is_ok());
        }
        assert!(understood < rounds);
    }

    #[test]
    fn quantiles_of_buckets_are_those_of_the_histogram() {
        let mut histogram = Histogram::new(8);
        (0..1000).for_each(|value| histogram.record(value));
        let buckets = Buckets::of(&histogram);
        assert_eq!(buckets.total(), 1000);
        for share in [0.0, 0.5, 0.99, 1.0] {
            assert_eq!(buckets.quantile(share), histogram.quantile(share));
        }
        assert_eq!(Buckets::default().quantile(0.5), None);
        assert_eq!(Buckets(vec![(1, u64::MAX), (2, 5)]).quantile(1.0), Some(1));
    }
}
