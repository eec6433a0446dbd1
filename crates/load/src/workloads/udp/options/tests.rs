//! What may be asked for, and what is refused in words.

use knobstat_data::words::{BitRate, Bytes};

use std::time::Duration;

use knobstat_data::Value;
use knobstat_sys::net::PacingClock;

use super::*;
use crate::parameters::ParameterError;

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
            receive_buffer: 4 << 20,
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
    assert_eq!(
        options.unwrap().pacing,
        Pacing::Schedule {
            rate: 1e6,
            catch_up: true,
        }
    );
}

#[test]
fn only_a_schedule_has_times_to_give_up() {
    let giving_up = ("catch_up", Value::Boolean(false));
    let options = read([giving_up.clone(), ("rate", Value::PacketRate(10.0))]);
    assert_eq!(
        options.unwrap().pacing,
        Pacing::Schedule {
            rate: 10.0,
            catch_up: false,
        }
    );
    assert!(refusal([giving_up.clone()]).contains("catch_up"));
    let of_2007 = refusal([
        giving_up,
        ("rate", Value::PacketRate(10.0)),
        ("pacer", text("iperf2-2007")),
    ]);
    assert!(of_2007.contains("catch_up"), "{of_2007}");
}

#[test]
fn the_size_that_fits_is_that_of_the_receivers_kind_of_address() {
    let to = |receiver: &str, size| {
        read([
            (
                "endpoints",
                Value::Table([("receiver".to_owned(), text(receiver))].into()),
            ),
            ("packet_size", Value::Size(Bytes(size))),
        ])
    };
    assert!(to("192.0.2.2", 65_507).is_ok());
    assert!(to("192.0.2.2:9", 65_508).is_err());
    for receiver in ["2001:db8::2", "[2001:db8::2]:9", "[fe80::2%eth0]:9"] {
        assert!(to(receiver, 65_527).is_ok(), "{receiver}");
        assert!(to(receiver, 65_528).is_err(), "{receiver}");
    }
}

#[test]
fn a_receive_buffer_is_one_that_the_kernel_has() {
    let buffer = |bytes| read([("receive_buffer", Value::Size(Bytes(bytes)))]);
    assert_eq!(buffer(212_992).unwrap().receive_buffer, 212_992);
    for bytes in [0, 1023, (1 << 29) + 1] {
        assert!(buffer(bytes).is_err(), "{bytes}");
    }
}

#[test]
fn numbers_may_begin_anywhere_but_near_their_end() {
    let first = |number| read([("first_number", Value::Integer(number))]);
    assert_eq!(first((1 << 32) - 10).unwrap().first_number, (1 << 32) - 10);
    assert!(first(-1).is_err());
    assert!(first(i64::MAX).is_err());
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
    assert!(refusal([("duration", Value::Duration(Duration::MAX))]).contains("at most a year"));
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
