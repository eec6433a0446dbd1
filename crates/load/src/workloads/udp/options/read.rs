//! From parameters to options, every impossible wish refused in words.

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use knobstat_data::{Parameters, Value};
use knobstat_sys::net::PacingClock;

use super::super::link::pair_addresses;
use super::super::pacer::iperf2_2007::microseconds_per_packet;
use super::{
    Endpoints, LARGEST_PACKET, LARGEST_PACKET_IPV4, Length, Method, Options, Pacing,
    RECEIVE_BUFFER, RECEIVE_BUFFERS, ReceiverMethod,
};
use crate::parameters::{self, ParameterError};

impl Options {
    /// What the parameters ask for; what they leave out has its documented default.
    ///
    /// # Errors
    /// A parameter that is of another kind, out of range, or at odds with another.
    pub(in super::super) fn read(from: &Parameters) -> Result<Self, ParameterError> {
        let endpoints = endpoints(from)?;
        let bind = bind(from, &endpoints)?;
        let packet_size = packet_size(from, bind, &endpoints)?;
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
            receive_buffer: receive_buffer(from)?,
            flows,
            first_number: whole(from, "first_number", 0, 0..=HIGHEST_FIRST_NUMBER)? as u64,
            sender_cpu: cpu(from, "sender_cpu")?,
            receiver_cpu: cpu(from, "receiver_cpu")?,
        })
    }
}

/// The highest number of a first datagram: no run is so long that its numbers come to their end.
const HIGHEST_FIRST_NUMBER: i64 = 1 << 62;

/// The most flows side by side.
pub(in super::super) const MOST_FLOWS: i64 = 64;

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

/// Whether an IPv6 datagram may be what is sent: by the sender's address, or else the receiver's
/// where it is one. What a name stands for is found out when it is asked.
fn may_be_ipv6(bind: Option<IpAddr>, endpoints: &Endpoints) -> bool {
    match (bind, endpoints) {
        (Some(bind), _) => bind.is_ipv6(),
        (None, Endpoints::Loopback | Endpoints::Veth) => false,
        (None, Endpoints::Receiver(receiver)) => {
            let host = receiver.split(':').next().unwrap_or_default();
            host.parse::<Ipv4Addr>().is_err()
        }
    }
}

fn packet_size(
    from: &Parameters,
    bind: Option<IpAddr>,
    endpoints: &Endpoints,
) -> Result<u64, ParameterError> {
    let size = match from.get("packet_size") {
        Some(Value::Integer(size)) => u64::try_from(*size).ok(),
        _ => Some(parameters::size(from, "packet_size")?.unwrap_or(64)),
    };
    let (largest, over) = if may_be_ipv6(bind, endpoints) {
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

fn receive_buffer(from: &Parameters) -> Result<usize, ParameterError> {
    let asked = parameters::size(from, "receive_buffer")?.unwrap_or(RECEIVE_BUFFER);
    if RECEIVE_BUFFERS.contains(&asked) {
        return Ok(asked as usize);
    }
    Err(ParameterError {
        name: "receive_buffer".to_owned(),
        expected: "1KiB to 512MiB".to_owned(),
        found: format!("it is {asked} bytes"),
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
    let catch_up = parameters::boolean(from, "catch_up")?.unwrap_or(true);
    if !catch_up && (pacer != "schedule" || rate.is_none()) {
        return Err(ParameterError {
            name: "catch_up".to_owned(),
            expected: "true, or left out, unless a rate is kept by pacer = \"schedule\"".to_owned(),
            found: "it is false".to_owned(),
        });
    }
    match (pacer.as_str(), rate) {
        ("schedule", None) => Ok(Pacing::Unpaced),
        ("schedule", Some(rate)) => Ok(Pacing::Schedule { rate, catch_up }),
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
    let refused = |expected: &str, found: String| ParameterError {
        name: "duration".to_owned(),
        expected: expected.to_owned(),
        found,
    };
    if duration.is_zero() {
        return Err(refused("longer than nothing", "it is 0".to_owned()));
    }
    if duration > LONGEST {
        let found = format!("it is {} s", duration.as_secs());
        return Err(refused("at most a year", found));
    }
    Ok(Length::Duration(duration))
}

/// A leap year. Clocks are counted on from a duration, and a peer may ask for one too.
const LONGEST: Duration = Duration::from_secs(366 * 24 * 60 * 60);

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
            Endpoints::Loopback => "\"any\" or a loopback address such as \"127.0.0.1\" or \"::1\", as endpoints = \"loopback\" has no other"
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
