//! Both ends on this machine: a receiver in a thread, and senders of every kind, strangers
//! included.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::os::fd::AsFd;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use knobstat_data::words::Bytes;
use knobstat_data::{Parameters, Value};
use knobstat_sys::net::Namespace;
use knobstat_sys::net::namespace::may_create;
use knobstat_sys::net::netlink::RouteSocket;

use super::*;

/// Serves so many senders in a thread; hands its address and its events out.
fn serving(senders: u64, token: Option<Token>) -> (SocketAddr, mpsc::Receiver<Event>) {
    serving_at("127.0.0.1:0", senders, token)
}

/// Serves at an address of the network namespace of the calling thread.
fn serving_at(
    listen: &str,
    senders: u64,
    token: Option<Token>,
) -> (SocketAddr, mpsc::Receiver<Event>) {
    serving_for(listen, senders, token, Duration::from_secs(5))
}

/// The same, dropping a sender that is silent for so long.
fn serving_for(
    listen: &str,
    senders: u64,
    token: Option<Token>,
    idle: Duration,
) -> (SocketAddr, mpsc::Receiver<Event>) {
    let (tell, events) = mpsc::channel();
    let listen = listen.parse().unwrap();
    thread::spawn(move || {
        let serving = Serving {
            listen,
            token,
            most_senders: 4,
            most_per_address: 4,
            idle,
            senders: Some(senders),
            cpu: None,
        };
        let tell = std::sync::Mutex::new(tell);
        serve(&serving, &|event| {
            let _ = tell.lock().unwrap().send(event);
        })
    });
    match events.recv().unwrap() {
        Event::Listening(address) => (address, events),
        other => panic!("{other:?}"),
    }
}

fn request(receiver: SocketAddr, size: u64, count: i64) -> Request {
    let parameters = Parameters::from([
        ("packet_size".to_owned(), Value::Size(Bytes(size))),
        ("count".to_owned(), Value::Integer(count)),
    ]);
    Request {
        parameters,
        receiver: receiver.to_string(),
        token: None,
        interval: None,
        delays: false,
    }
}

fn token(text: &str) -> Token {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("token");
    std::fs::write(&path, text).unwrap();
    Token::read(&path).unwrap()
}

#[test]
fn both_ends_agree_on_what_was_sent_at_every_size() {
    let sizes = [0, 1, 15, 1472, 1473, 65_507];
    let (receiver, _events) = serving(sizes.len() as u64, None);
    for size in sizes {
        let ends = send(&request(receiver, size, 10), Direction::Forward, &|_| {}).unwrap();
        assert_eq!((ends.sent, ends.received, ends.lost), (10, 10, 0), "{size}");
        assert_eq!(ends.order.is_some(), size >= 8);
        assert_eq!(ends.class, 'A');
    }
}

#[test]
fn several_senders_get_a_result_of_their_own_each() {
    let (receiver, events) = serving(3, None);
    let senders: Vec<_> = [100, 200, 300]
        .map(|count| {
            thread::spawn(move || {
                send(&request(receiver, 64, count), Direction::Forward, &|_| {}).unwrap()
            })
        })
        .into_iter()
        .collect();
    for (sender, count) in senders.into_iter().zip([100, 200, 300]) {
        let ends = sender.join().unwrap();
        assert_eq!(ends.sent, count);
        assert_eq!(ends.received + ends.lost, count);
    }
    for _ in 0..3 {
        assert!(matches!(events.recv().unwrap(), Event::Served { .. }));
    }
}

#[test]
fn delays_come_with_an_offset_and_its_uncertainty() {
    let (receiver, _events) = serving(1, None);
    let mut request = request(receiver, 64, 200);
    request.delays = true;
    request
        .parameters
        .insert("rate".to_owned(), Value::PacketRate(10_000.0));
    let ends = send(&request, Direction::Forward, &|_| {}).unwrap();
    let offset = ends.offset.unwrap();
    // One machine has one clock.
    assert!(offset.nanoseconds.unsigned_abs() <= offset.uncertainty_nanoseconds);
    assert_eq!(ends.one_way.unwrap().total(), ends.received);
    assert_eq!(ends.gaps.unwrap().total(), ends.received - 1);
    assert!(ends.round_trip.quantile(0.5).unwrap() > 0);
}

#[test]
fn a_receiver_with_a_token_refuses_whoever_does_not_know_it() {
    let (receiver, _events) = serving(3, Some(token("the right token\n")));
    let stranger = send(&request(receiver, 64, 10), Direction::Forward, &|_| {}).unwrap_err();
    assert!(matches!(stranger, EndsError::TokenWanted), "{stranger}");
    let mut wrong = request(receiver, 64, 10);
    wrong.token = Some(token("the wrong token"));
    let refused = send(&wrong, Direction::Forward, &|_| {}).unwrap_err();
    assert!(matches!(refused, EndsError::Refused(_)), "{refused}");
    wrong.token = Some(token("the right token"));
    assert_eq!(
        send(&wrong, Direction::Forward, &|_| {}).unwrap().received,
        10
    );
}

#[test]
fn a_claim_of_four_gigabytes_ends_the_session_and_no_other() {
    let (receiver, events) = serving(2, None);
    let mut stream = TcpStream::connect(receiver).unwrap();
    stream.write_all(b"knu1\xff\xff\xff\xff").unwrap();
    assert_eq!(stream.read(&mut [0; 16]).unwrap_or(0), 0, "it was answered");
    let Event::Dropped { reason, .. } = events.recv().unwrap() else {
        panic!("it was served");
    };
    assert!(reason.contains("4294967295"), "{reason}");
    assert_eq!(
        send(&request(receiver, 64, 10), Direction::Forward, &|_| {})
            .unwrap()
            .received,
        10
    );
}

/// A sender by hand, up to the ports of its flows.
fn by_hand(receiver: SocketAddr) -> (TcpStream, message::Nonce, u16) {
    let mut stream = TcpStream::connect(receiver).unwrap();
    let hello = message::Message::Hello {
        version: message::VERSION,
        nonce: [1; 16],
    };
    message::write(&mut stream, &hello).unwrap();
    message::read(&mut stream, message::FROM_ASKED).unwrap();
    let start = message::Message::Start(message::Start {
        proof: None,
        direction: Direction::Forward,
        sending: None,
        packet_size: 64,
        flows: 1,
        first_number: 0,
        receiver_method: "napping".to_owned(),
        receive_buffer: 4 << 20,
        packets_per_second: 1e4,
        delays: false,
        interval_milliseconds: None,
    });
    message::write(&mut stream, &start).unwrap();
    let accepted = message::read(&mut stream, message::FROM_ASKED).unwrap();
    let message::Message::Accepted { cookie, ports, .. } = accepted else {
        panic!("{accepted:?}");
    };
    (stream, cookie, ports[0])
}

/// A sender's last word, that it sent so many.
fn done(sent: u64) -> message::Message {
    let sending = serde_json::json!({
        "by_flow": [sent], "seconds": 0.1,
        "end": { "cpu": 0, "cpu_nanoseconds": 1.0, "wall_nanoseconds": 2.0 },
        "refusals": 0, "send_buffer_errors": null, "pacer": null, "pacing_clock": null,
        "mtu_bytes": 1500, "is_ipv4": true, "energy": { "Err": "none" },
        "stopwatch": "tsc", "stopwatch_caveat": null, "stopwatch_granularity_nanoseconds": 1.0,
    });
    message::Message::Done(serde_json::from_value(sending).unwrap())
}

#[test]
fn a_strangers_datagrams_are_neither_answered_nor_counted() {
    let (receiver, _events) = serving(1, None);
    let (mut stream, cookie, port) = by_hand(receiver);
    let to = ("127.0.0.1", port);
    let introduction = introduction::Introduction {
        cookie,
        number: 0,
        times: [0; 2],
    };
    let stranger = UdpSocket::bind("127.0.0.1:0").unwrap();
    stranger.set_nonblocking(true).unwrap();
    let mut wrong = introduction;
    wrong.cookie[0] ^= 1;
    stranger.send_to(&wrong.encode(), to).unwrap();
    stranger.send_to(&[0; 64], to).unwrap();
    let own = UdpSocket::bind("127.0.0.1:0").unwrap();
    own.connect(to).unwrap();
    own.send(&introduction.encode()).unwrap();
    let hear = |stream: &mut TcpStream| message::read(stream, message::FROM_ASKED).unwrap();
    assert_eq!(hear(&mut stream), message::Message::Bound);
    message::write(&mut stream, &message::Message::Begin { offset: 0 }).unwrap();
    assert_eq!(hear(&mut stream), message::Message::Counting);
    stranger.send_to(&[0; 64], to).unwrap();
    for number in 0..3u64 {
        let mut payload = [0; 64];
        payload[..8].copy_from_slice(&number.to_be_bytes());
        own.send(&payload).unwrap();
    }
    message::write(&mut stream, &done(3)).unwrap();
    let message::Message::Outcome(outcome) = hear(&mut stream) else {
        panic!("no outcome");
    };
    assert_eq!((outcome.received, outcome.lost, outcome.strays), (3, 0, 0));
    assert!(stranger.recv(&mut [0; 100]).is_err(), "it was answered");
}

/// Two namespaces, the second with a secondary address; nothing where none can be had.
fn two_hosts() -> Option<(Namespace, Namespace)> {
    if !may_create() {
        eprintln!("skipped: no network namespace can be made here by a process with threads");
        return None;
    }
    let (one, other) = (Namespace::create().unwrap(), Namespace::create().unwrap());
    let set_up = |interface: &str, addresses: &[&str]| {
        let route = RouteSocket::open()?;
        for address in addresses {
            let address: std::net::IpAddr = address.parse().unwrap();
            route.add_address(interface, address, if address.is_ipv4() { 24 } else { 64 })?;
        }
        route.bring_up(interface)
    };
    one.within(|| {
        let ends = (("a", [2, 0, 0, 0, 0, 1]), ("b", [2, 0, 0, 0, 0, 2]));
        RouteSocket::open()?.add_pair(ends.0, ends.1, other.as_fd(), 1500)?;
        set_up("a", &["192.0.2.1", "fe80::1"])
    })
    .unwrap();
    other
        .within(|| set_up("b", &["192.0.2.2", "192.0.2.3", "fe80::2"]))
        .unwrap();
    Some((one, other))
}

#[test]
fn a_receiver_answers_from_the_address_that_it_was_asked_at() {
    let Some((one, other)) = two_hosts() else {
        return;
    };
    let (at, _events) = other
        .within(|| Ok(serving_at("0.0.0.0:0", 2, None)))
        .unwrap();
    for address in ["192.0.2.3", "192.0.2.2"] {
        let asked = SocketAddr::new(address.parse().unwrap(), at.port());
        // A flow's socket is connected: an answer from another address would not be heard.
        let ends = one
            .within(|| {
                send(&request(asked, 64, 100), Direction::Forward, &|_| {})
                    .map_err(std::io::Error::other)
            })
            .unwrap();
        assert_eq!((ends.sent, ends.received), (100, 100), "{address}");
        assert!(ends.offset.is_some(), "{address}");
    }
}

#[test]
fn the_workload_has_its_receiver_at_another_host() {
    let Some((one, other)) = two_hosts() else {
        return;
    };
    let (at, _events) = other
        .within(|| Ok(serving_at("192.0.2.2:0", 1, None)))
        .unwrap();
    let receiver = Value::Table([("receiver".to_owned(), Value::Text(at.to_string()))].into());
    let mut parameters = request(at, 1472, 100).parameters;
    parameters.insert("endpoints".to_owned(), receiver);
    let result = one
        .within(|| crate::workloads::udp::work(&parameters).map_err(std::io::Error::other))
        .unwrap();
    assert_eq!(result["packets"]["received"], 100);
    assert_eq!(result["route"]["mtu_bytes"], 1500);
    assert_eq!(result["ends_apart"], true);
}

#[test]
fn the_address_that_proved_itself_gets_what_comes_back_and_no_other() {
    let Some((one, other)) = two_hosts() else {
        return;
    };
    let (at, _events) = other
        .within(|| Ok(serving_at("0.0.0.0:0", 1, None)))
        .unwrap();
    let asked = SocketAddr::new("192.0.2.3".parse().unwrap(), at.port());
    let ends = one
        .within(|| {
            let asked = request(asked, 1200, 100);
            send(&asked, Direction::Reverse, &|_| {}).map_err(std::io::Error::other)
        })
        .unwrap();
    // This end's sockets are connected to that address: what came from another would be lost.
    assert_eq!((ends.sent, ends.received), (100, 100));
}

#[test]
fn an_address_of_the_link_alone_is_reached_by_its_scope() {
    let Some((one, other)) = two_hosts() else {
        return;
    };
    let (at, _events) = other.within(|| Ok(serving_at("[::]:0", 1, None))).unwrap();
    let mut asked = request(at, 64, 100);
    asked.receiver = format!("[fe80::2%a]:{}", at.port());
    // IPv6 takes up to a second to believe in a new interface: the connection is tried again.
    let sent = (0..100).find_map(|_| {
        one.within(|| send(&asked, Direction::Forward, &|_| {}).map_err(std::io::Error::other))
            .ok()
    });
    assert_eq!(sent.unwrap().received, 100);
}

#[test]
fn what_comes_back_is_counted_where_it_was_asked_for() {
    let sizes = [0, 15, 64, 1473];
    let (receiver, events) = serving(sizes.len() as u64, None);
    for size in sizes {
        let ends = send(&request(receiver, size, 50), Direction::Reverse, &|_| {}).unwrap();
        assert_eq!(ends.direction, Direction::Reverse);
        assert_eq!((ends.sent, ends.received, ends.lost), (50, 50, 0), "{size}");
        let Event::Served {
            direction,
            sent,
            received,
            ..
        } = events.recv().unwrap()
        else {
            panic!("it was dropped");
        };
        assert_eq!((direction, sent, received), (Direction::Reverse, 50, 50));
    }
}

#[test]
fn delays_of_what_comes_back_are_by_the_other_clock() {
    let (receiver, _events) = serving(1, None);
    let mut request = request(receiver, 64, 100);
    request.delays = true;
    request
        .parameters
        .insert("rate".to_owned(), Value::PacketRate(5_000.0));
    let ends = send(&request, Direction::Reverse, &|_| {}).unwrap();
    let offset = ends.offset.unwrap();
    assert!(offset.nanoseconds.unsigned_abs() <= offset.uncertainty_nanoseconds);
    assert_eq!(ends.one_way.unwrap().total(), ends.received);
}

#[test]
fn both_ways_at_once_are_two_results() {
    let (receiver, _events) = serving(2, None);
    let mut request = request(receiver, 64, 100);
    request
        .parameters
        .insert("rate".to_owned(), Value::PacketRate(2_000.0));
    let [forward, reverse] = send_both_ways(&request, &|_| {}).unwrap();
    assert_eq!(forward.direction, Direction::Forward);
    assert_eq!(reverse.direction, Direction::Reverse);
    for ends in [forward, reverse] {
        assert_eq!(ends.sent, 100);
        assert_eq!(ends.received + ends.lost, 100);
    }
}

#[test]
fn numbers_run_on_over_31_and_32_bits_between_two_ends() {
    let (receiver, _events) = serving(4, None);
    for first in [(1i64 << 31) - 10, (1 << 32) - 10] {
        for direction in [Direction::Forward, Direction::Reverse] {
            let mut request = request(receiver, 64, 100);
            request
                .parameters
                .insert("first_number".to_owned(), Value::Integer(first));
            let ends = send(&request, direction, &|_| {}).unwrap();
            assert_eq!((ends.sent, ends.received), (100, 100), "{first}");
            assert_eq!(ends.order, Some((0, 0)), "{first}");
        }
    }
}

#[test]
fn one_sender_too_many_hears_why() {
    let (receiver, events) = serving(5, None);
    let held: Vec<TcpStream> = (0..4)
        .map(|_| TcpStream::connect(receiver).unwrap())
        .collect();
    let refused = send(&request(receiver, 64, 10), Direction::Forward, &|_| {}).unwrap_err();
    assert!(refused.to_string().contains("as many senders"), "{refused}");
    assert!(matches!(events.recv().unwrap(), Event::Dropped { .. }));
    drop(held);
    for _ in 0..4 {
        assert!(matches!(events.recv().unwrap(), Event::Dropped { .. }));
    }
    let served = send(&request(receiver, 64, 10), Direction::Forward, &|_| {}).unwrap();
    assert_eq!(served.received, 10);
}

#[test]
fn what_is_asked_for_twice_and_differently_is_refused() {
    let (receiver, _events) = serving(1, None);
    let mut stream = TcpStream::connect(receiver).unwrap();
    let say = |stream: &mut TcpStream, message| message::write(stream, message).unwrap();
    let hello = message::Message::Hello {
        version: message::VERSION,
        nonce: [1; 16],
    };
    say(&mut stream, &hello);
    message::read(&mut stream, message::FROM_ASKED).unwrap();
    let start = message::Start {
        proof: None,
        direction: Direction::Reverse,
        sending: Some(request(receiver, 65, 10).parameters),
        packet_size: 64,
        flows: 1,
        first_number: 0,
        receiver_method: "napping".to_owned(),
        receive_buffer: 4 << 20,
        packets_per_second: 1e4,
        delays: false,
        interval_milliseconds: None,
    };
    say(&mut stream, &message::Message::Start(start));
    let answer = message::read(&mut stream, message::FROM_ASKED).unwrap();
    assert!(
        matches!(answer, message::Message::Refused { .. }),
        "{answer:?}"
    );
}

#[test]
fn a_sender_that_falls_silent_is_dropped() {
    let (receiver, events) = serving_for("127.0.0.1:0", 1, None, Duration::from_millis(200));
    let (mut stream, cookie, port) = by_hand(receiver);
    let own = UdpSocket::bind("127.0.0.1:0").unwrap();
    let introduction = introduction::Introduction {
        cookie,
        number: 0,
        times: [0; 2],
    };
    own.send_to(&introduction.encode(), ("127.0.0.1", port))
        .unwrap();
    let hear = |stream: &mut TcpStream| message::read(stream, message::FROM_ASKED).unwrap();
    assert_eq!(hear(&mut stream), message::Message::Bound);
    message::write(&mut stream, &message::Message::Begin { offset: 0 }).unwrap();
    assert_eq!(hear(&mut stream), message::Message::Counting);
    // Connected, and never heard of again.
    let Event::Dropped { reason, .. } = events.recv().unwrap() else {
        panic!("it was served");
    };
    assert!(reason.contains("silent"), "{reason}");
}

#[test]
fn a_sender_that_dies_is_dropped_and_the_next_one_served() {
    let (receiver, events) = serving(2, None);
    let (stream, cookie, port) = by_hand(receiver);
    let own = UdpSocket::bind("127.0.0.1:0").unwrap();
    let introduction = introduction::Introduction {
        cookie,
        number: 0,
        times: [0; 2],
    };
    own.send_to(&introduction.encode(), ("127.0.0.1", port))
        .unwrap();
    drop(stream);
    assert!(matches!(events.recv().unwrap(), Event::Dropped { .. }));
    assert_eq!(
        send(&request(receiver, 64, 10), Direction::Forward, &|_| {})
            .unwrap()
            .received,
        10
    );
}
