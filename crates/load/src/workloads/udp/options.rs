//! From the workload's parameters to what is to be done, every impossible wish refused in words.

use std::net::IpAddr;
use std::time::Duration;

use knobstat_data::{Parameters, Value};
use knobstat_sys::net::{LARGEST_BUFFER, MOST_SEGMENTS, PacingClock};

use super::link::pair_addresses;
use super::pacer::iperf2_2007::microseconds_per_packet;
use crate::parameters::{self, ParameterError};

/// The largest payload of an IPv6 datagram.
pub(super) const LARGEST_PACKET: u64 = 65_527;

/// The largest payload of an IPv4 datagram.
pub(super) const LARGEST_PACKET_IPV4: u64 = 65_507;

/// What is to be done.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Options {
    /// The payload in bytes.
    pub packet_size: usize,
    /// How it is sent.
    pub method: Method,
    /// How it is received.
    pub receiver_method: ReceiverMethod,
    /// When the next datagram goes.
    pub pacing: Pacing,
    /// The clock that the pacer and the additional readings go by.
    pub pacing_clock: PacingClock,
    /// Readings of that clock per datagram beside the pacer's.
    pub clock_reads_per_packet: u32,
    /// When it ends.
    pub length: Length,
    /// The differentiated services code point.
    pub dscp: u8,
    /// Where the two ends are.
    pub endpoints: Endpoints,
    /// The sender's address, where one is asked for.
    pub bind: Option<IpAddr>,
    /// How many flows there are side by side.
    pub flows: usize,
    /// The number of each flow's first datagram.
    pub first_number: u64,
    /// The sender's CPU, where one is asked for.
    pub sender_cpu: Option<u32>,
    /// The receiver's CPU, where one is asked for.
    pub receiver_cpu: Option<u32>,
}

/// How datagrams are handed to the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    /// send(2): one a call.
    Send,
    /// sendmmsg(2): up to 64 a call, each on its own way down the stack.
    Sendmmsg,
    /// UDP segmentation offload: one buffer that is cut late.
    Gso,
    /// io_uring: up to 64 a call, each on its own way down the stack.
    IoUring,
    /// A ring of whole frames that a packet socket sends.
    TxRing,
    /// A ring of whole frames that an AF_XDP socket sends, in copy mode.
    AfXdp,
}

/// Where the two ends are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Endpoints {
    /// Both on the loopback interface.
    Loopback,
    /// In two network namespaces of this run, a pair of interfaces between them.
    Veth,
    /// The receiver is `knobstat udp recv` at this host and port.
    Receiver(String),
}

impl Method {
    /// The most datagrams of a size that go with one call.
    pub(super) fn datagrams_per_call(self, packet_size: usize) -> usize {
        match self {
            Self::Send => 1,
            Self::Sendmmsg | Self::IoUring | Self::TxRing | Self::AfXdp => BATCH,
            Self::Gso => MOST_SEGMENTS.min(LARGEST_BUFFER / packet_size.max(1)),
        }
    }

    /// More datagrams a second than this method was ever seen to send; for deciding what a
    /// receiver must be ready for.
    pub(super) fn ceiling(self) -> f64 {
        match self {
            Self::Send | Self::Sendmmsg | Self::IoUring => 500_000.0,
            Self::TxRing | Self::AfXdp => 700_000.0,
            Self::Gso => 2_000_000.0,
        }
    }

    /// The word that a file asks for it by.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Send => "send",
            Self::Sendmmsg => "sendmmsg",
            Self::Gso => "gso",
            Self::IoUring => "io_uring",
            Self::TxRing => "tx_ring",
            Self::AfXdp => "af_xdp",
        }
    }

    /// Whether what it sends is never cut into fragments.
    pub(super) fn goes_whole(self) -> bool {
        matches!(self, Self::Gso | Self::TxRing | Self::AfXdp)
    }

    /// Every way there is.
    const ALL: [Self; 6] = [
        Self::Send,
        Self::Sendmmsg,
        Self::Gso,
        Self::IoUring,
        Self::TxRing,
        Self::AfXdp,
    ];
}

/// How many datagrams a call of sendmmsg(2) or recvmmsg(2) takes at most.
pub(super) const BATCH: usize = 64;

/// How the receiver waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReceiverMethod {
    /// Drains without blocking, naps when the queue is empty.
    Napping,
    /// Blocks until a datagram comes.
    Blocking,
    /// As napping, and takes buffers that were not cut on their way.
    Gro,
    /// As napping, by a multishot receive of io_uring.
    IoUring,
}

impl ReceiverMethod {
    /// The word that a file asks for it by.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Napping => "napping",
            Self::Blocking => "blocking",
            Self::Gro => "gro",
            Self::IoUring => "io_uring",
        }
    }

    /// Every way there is.
    pub(super) const ALL: [Self; 4] = [Self::Napping, Self::Blocking, Self::Gro, Self::IoUring];
}

/// When the next datagram goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Pacing {
    /// As soon as the last one is gone.
    Unpaced,
    /// By an absolute schedule, at so many a second.
    Schedule(f64),
    /// By the loop of the iperf of 2007, at so many a second.
    Iperf2(f64),
}

impl Pacing {
    /// The asked rate in datagrams a second; absent where none is.
    pub(super) fn rate(self) -> Option<f64> {
        match self {
            Self::Unpaced => None,
            Self::Schedule(rate) | Self::Iperf2(rate) => Some(rate),
        }
    }
}

/// When a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Length {
    /// After this long.
    Duration(Duration),
    /// After exactly this many datagrams.
    Count(u64),
}

impl Options {
    /// What the parameters ask for; what they leave out has its documented default.
    ///
    /// # Errors
    /// A parameter that is of another kind, out of range, or at odds with another.
    pub(super) fn read(from: &Parameters) -> Result<Self, ParameterError> {
        let endpoints = endpoints(from)?;
        let bind = bind(from, &endpoints)?;
        let packet_size = packet_size(from, bind)?;
        let method = choice(from, "method", "sendmmsg", &Method::ALL, Method::word)?;
        if method == Method::Gso && !(1..=LARGEST_PACKET_IPV4).contains(&packet_size) {
            return Err(ParameterError {
                name: "packet_size".to_owned(),
                expected: format!("1 to {LARGEST_PACKET_IPV4} with method = \"gso\""),
                found: format!("it is {packet_size}: a buffer is cut into datagrams of that size"),
            });
        }
        let receiver_method = choice(
            from,
            "receiver_method",
            "napping",
            &ReceiverMethod::ALL,
            ReceiverMethod::word,
        )?;
        let flows = whole(from, "flows", 1, 1..=MOST_FLOWS)? as usize;
        if flows > 1 && receiver_method == ReceiverMethod::Blocking {
            return Err(ParameterError {
                name: "receiver_method".to_owned(),
                expected: "another one than blocking where there are several flows".to_owned(),
                found: "it sleeps in one socket and would be deaf to the others".to_owned(),
            });
        }
        let pacing_clock = match word(from, "pacing_clock", "fine")?.as_str() {
            "fine" => PacingClock::Fine,
            "coarse" => PacingClock::Coarse,
            other => return Err(not_offered("pacing_clock", "fine or coarse", other)),
        };
        Ok(Self {
            packet_size: packet_size as usize,
            method,
            receiver_method,
            pacing: pacing(from, packet_size)?,
            pacing_clock,
            clock_reads_per_packet: whole(from, "clock_reads_per_packet", 0, 0..=1000)? as u32,
            length: length(from)?,
            dscp: whole(from, "dscp", 0, 0..=63)? as u8,
            endpoints,
            bind,
            flows,
            first_number: 0,
            sender_cpu: cpu(from, "sender_cpu")?,
            receiver_cpu: cpu(from, "receiver_cpu")?,
        })
    }
}

/// The most flows side by side.
pub(super) const MOST_FLOWS: i64 = 64;

fn choice<T: Copy>(
    from: &Parameters,
    name: &str,
    default: &str,
    all: &[T],
    word_of: impl Fn(T) -> &'static str,
) -> Result<T, ParameterError> {
    let asked = word(from, name, default)?;
    all.iter()
        .copied()
        .find(|&offered| word_of(offered) == asked)
        .ok_or_else(|| {
            let words: Vec<&str> = all.iter().map(|&offered| word_of(offered)).collect();
            not_offered(name, &words.join(", "), &asked)
        })
}

fn endpoints(from: &Parameters) -> Result<Endpoints, ParameterError> {
    const OFFERED: &str = "loopback, veth or { receiver = \"HOST:PORT\" }";
    if let Some(Value::Table(table)) = from.get("endpoints") {
        return match table.get("receiver") {
            Some(Value::Text(receiver)) if table.len() == 1 => {
                Ok(Endpoints::Receiver(receiver.clone()))
            }
            _ => Err(ParameterError::unfit(
                "endpoints",
                OFFERED,
                &Value::Table(table.clone()),
            )),
        };
    }
    match word(from, "endpoints", "loopback")?.as_str() {
        "loopback" => Ok(Endpoints::Loopback),
        "veth" => Ok(Endpoints::Veth),
        other => Err(not_offered("endpoints", OFFERED, other)),
    }
}

fn packet_size(from: &Parameters, bind: Option<IpAddr>) -> Result<u64, ParameterError> {
    let size = match from.get("packet_size") {
        Some(Value::Integer(size)) => u64::try_from(*size).ok(),
        _ => Some(parameters::size(from, "packet_size")?.unwrap_or(64)),
    };
    let (largest, over) = if bind.is_some_and(|bind| bind.is_ipv6()) {
        (LARGEST_PACKET, "IPv6")
    } else {
        (LARGEST_PACKET_IPV4, "IPv4")
    };
    size.filter(|&size| size <= largest)
        .ok_or_else(|| ParameterError {
            name: "packet_size".to_owned(),
            expected: format!("a payload of 0 to {largest} bytes over {over}"),
            found: match size {
                Some(size) => format!("it is {size}"),
                None => "it is below zero".to_owned(),
            },
        })
}

fn pacing(from: &Parameters, packet_size: u64) -> Result<Pacing, ParameterError> {
    let refused = |expected: &str, found: String| ParameterError {
        name: "rate".to_owned(),
        expected: expected.to_owned(),
        found,
    };
    let rate = match from.get("rate") {
        None => None,
        Some(Value::PacketRate(rate)) => Some(*rate),
        Some(Value::Integer(rate)) => Some(*rate as f64),
        Some(Value::Number(rate)) => Some(*rate),
        Some(Value::BitRate(_)) if packet_size == 0 => {
            return Err(refused(
                "in packets a second where packet_size is 0",
                "it is in bits, and no number of such packets makes a bit".to_owned(),
            ));
        }
        Some(Value::BitRate(rate)) => Some(rate.0 / (8 * packet_size) as f64),
        Some(other) => {
            return Err(ParameterError::unfit(
                "rate",
                "packets a second, or bits a second as in \"50Mbit\"",
                other,
            ));
        }
    };
    if let Some(rate) = rate.filter(|rate| !rate.is_finite() || *rate < LOWEST_RATE) {
        return Err(refused(
            "at least one packet an hour; leave it out to send as fast as possible",
            format!("it is {rate} packets a second"),
        ));
    }
    let pacer = word(from, "pacer", "schedule")?;
    match (pacer.as_str(), rate) {
        ("schedule", None) => Ok(Pacing::Unpaced),
        ("schedule", Some(rate)) => Ok(Pacing::Schedule(rate)),
        ("iperf2-2007", Some(rate)) if microseconds_per_packet(rate) > i64::MAX as u64 / 2 => Err(
            refused("faster than one packet in an age", format!("it is {rate}")),
        ),
        ("iperf2-2007", Some(rate)) => Ok(Pacing::Iperf2(rate)),
        ("iperf2-2007", None) => Err(refused(
            "given with pacer = \"iperf2-2007\"; in 2007 it was \"1000Mbit\"",
            "it is missing".to_owned(),
        )),
        (other, _) => Err(not_offered("pacer", "schedule or iperf2-2007", other)),
    }
}

/// One packet an hour.
const LOWEST_RATE: f64 = 1.0 / 3600.0;

fn length(from: &Parameters) -> Result<Length, ParameterError> {
    if from.contains_key("count") {
        return Ok(Length::Count(whole(from, "count", 1, 1..=i64::MAX)? as u64));
    }
    let duration = parameters::duration(from, "duration")?.unwrap_or(Duration::from_secs(1));
    if duration.is_zero() {
        return Err(ParameterError {
            name: "duration".to_owned(),
            expected: "longer than nothing".to_owned(),
            found: "it is 0".to_owned(),
        });
    }
    Ok(Length::Duration(duration))
}

fn bind(from: &Parameters, endpoints: &Endpoints) -> Result<Option<IpAddr>, ParameterError> {
    let bind = word(from, "bind", "any")?;
    if bind == "any" {
        return Ok(None);
    }
    let pair = pair_addresses();
    let fits = |address: &IpAddr| match endpoints {
        Endpoints::Loopback => address.is_loopback(),
        Endpoints::Veth => pair.contains(address),
        Endpoints::Receiver(_) => true,
    };
    let address = bind.parse().ok().filter(fits);
    address.map(Some).ok_or_else(|| ParameterError {
        name: "bind".to_owned(),
        expected: match endpoints {
            Endpoints::Loopback => "\"any\" or a loopback address such as \"127.0.0.1\" or                                     \"::1\", as endpoints = \"loopback\" has no other"
                .to_owned(),
            Endpoints::Veth => format!(
                "\"any\" or one of the pair's addresses: {}",
                pair.map(|address| address.to_string()).join(", ")
            ),
            Endpoints::Receiver(_) => "\"any\" or an address of this machine".to_owned(),
        },
        found: format!("it is {bind:?}"),
    })
}

fn cpu(from: &Parameters, name: &str) -> Result<Option<u32>, ParameterError> {
    if from.contains_key(name) {
        Ok(Some(whole(from, name, 0, 0..=i64::from(u32::MAX))? as u32))
    } else {
        Ok(None)
    }
}

fn whole(
    from: &Parameters,
    name: &str,
    default: i64,
    range: std::ops::RangeInclusive<i64>,
) -> Result<i64, ParameterError> {
    let value = parameters::integer(from, name)?.unwrap_or(default);
    if range.contains(&value) {
        return Ok(value);
    }
    Err(ParameterError {
        name: name.to_owned(),
        expected: if range.start() == range.end() {
            format!("{}", range.start())
        } else {
            format!("a whole number from {} to {}", range.start(), range.end())
        },
        found: format!("it is {value}"),
    })
}

fn word(from: &Parameters, name: &str, default: &str) -> Result<String, ParameterError> {
    Ok(parameters::text(from, name)?.unwrap_or_else(|| default.to_owned()))
}

fn not_offered(name: &str, offered: &str, found: &str) -> ParameterError {
    ParameterError {
        name: name.to_owned(),
        expected: offered.to_owned(),
        found: format!("it is {found:?}"),
    }
}

#[cfg(test)]
mod tests {
    use knobstat_data::words::{BitRate, Bytes};

    use super::*;

    fn read<const N: usize>(parameters: [(&str, Value); N]) -> Result<Options, ParameterError> {
        Options::read(
            &parameters
                .map(|(name, value)| (name.to_owned(), value))
                .into(),
        )
    }

    fn text(text: &str) -> Value {
        Value::Text(text.to_owned())
    }

    fn refusal<const N: usize>(parameters: [(&str, Value); N]) -> String {
        read(parameters).unwrap_err().to_string()
    }

    #[test]
    fn nothing_asked_for_is_every_default() {
        assert_eq!(
            read([]),
            Ok(Options {
                packet_size: 64,
                method: Method::Sendmmsg,
                receiver_method: ReceiverMethod::Napping,
                pacing: Pacing::Unpaced,
                pacing_clock: PacingClock::Fine,
                clock_reads_per_packet: 0,
                length: Length::Duration(Duration::from_secs(1)),
                dscp: 0,
                endpoints: Endpoints::Loopback,
                bind: None,
                flows: 1,
                first_number: 0,
                sender_cpu: None,
                receiver_cpu: None,
            })
        );
    }

    #[test]
    fn sizes_beyond_a_datagram_are_refused_with_the_range() {
        for size in [0, 1, 15, 1472, 1473, 65_507] {
            assert_eq!(
                read([("packet_size", Value::Size(Bytes(size)))])
                    .unwrap()
                    .packet_size,
                size as usize
            );
        }
        assert!(refusal([("packet_size", Value::Size(Bytes(65_508)))]).contains("0 to 65507"));
        assert!(refusal([("packet_size", Value::Integer(-1))]).contains("0 to 65507"));
        let over_ipv6 = |size| {
            read([
                ("packet_size", Value::Size(Bytes(size))),
                ("bind", text("::1")),
            ])
        };
        assert!(over_ipv6(65_527).is_ok());
        let refusal = over_ipv6(65_528).unwrap_err().to_string();
        assert!(refusal.contains("0 to 65527"), "{refusal}");
    }

    #[test]
    fn no_rate_is_below_zero_or_nothing() {
        for rate in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let refusal = refusal([("rate", Value::PacketRate(rate))]);
            assert!(refusal.contains("leave it out"), "{refusal}");
        }
        assert!(
            refusal([
                ("packet_size", Value::Size(Bytes(0))),
                ("rate", Value::BitRate(BitRate(1e6)))
            ])
            .contains("packets a second")
        );
    }

    #[test]
    fn a_bit_rate_is_one_of_payload() {
        let options = read([
            ("packet_size", Value::Size(Bytes(125))),
            ("rate", Value::BitRate(BitRate(1e9))),
        ]);
        assert_eq!(options.unwrap().pacing, Pacing::Schedule(1e6));
    }

    #[test]
    fn the_loop_of_2007_needs_a_rate() {
        assert!(refusal([("pacer", text("iperf2-2007"))]).contains("1000Mbit"));
        let options = read([
            ("pacer", text("iperf2-2007")),
            ("rate", Value::PacketRate(10.0)),
        ]);
        assert_eq!(options.unwrap().pacing, Pacing::Iperf2(10.0));
    }

    #[test]
    fn what_cannot_be_had_is_refused_by_name() {
        for (name, value) in [
            ("method", "trafgen"),
            ("receiver_method", "napalm"),
            ("endpoints", "moon"),
            ("pacing_clock", "wrong"),
            ("pacer", "iperf3"),
            ("bind", "192.0.2.1"),
            ("bind", "nowhere"),
        ] {
            assert!(refusal([(name, text(value))]).contains(name));
        }
        assert!(refusal([("flows", Value::Integer(65))]).contains("flows"));
        assert!(
            refusal([
                ("flows", Value::Integer(2)),
                ("receiver_method", text("blocking"))
            ])
            .contains("receiver_method")
        );
        assert!(refusal([("dscp", Value::Integer(64))]).contains("0 to 63"));
        assert!(refusal([("count", Value::Integer(0))]).contains("count"));
        assert!(refusal([("duration", Value::Duration(Duration::ZERO))]).contains("duration"));
        assert!(refusal([("duration", text("soon"))]).contains("duration"));
    }

    #[test]
    fn a_buffer_to_be_cut_has_room_for_at_least_one() {
        let gso = |size| {
            read([
                ("method", text("gso")),
                ("packet_size", Value::Size(Bytes(size))),
            ])
        };
        assert!(gso(0).is_err());
        for (size, datagrams) in [(1, 64), (1280, 51), (65_507, 1)] {
            let options = gso(size).unwrap();
            assert_eq!(
                options.method.datagrams_per_call(options.packet_size),
                datagrams
            );
        }
    }
}
