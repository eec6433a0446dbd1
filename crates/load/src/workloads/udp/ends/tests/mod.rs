//! Both ends on this machine: a receiver in a thread, and senders of every kind, strangers
//! included.

mod both_ways;
mod forward;
mod hosts;
mod reverse;
mod strangers;

use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use knobstat_data::words::Bytes;
use knobstat_data::{Parameters, Value};

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

/// Sends so many of a size, as the program does.
fn sent(receiver: SocketAddr, size: u64, count: i64) -> TwoEnds {
    send(&request(receiver, size, count), Direction::Forward, &|_| {}).unwrap()
}

/// What a sender of one flow by hand is going to do.
fn start(direction: Direction) -> message::Start {
    message::Start {
        proof: None,
        direction,
        sending: None,
        packet_size: 64,
        flows: 1,
        first_number: 0,
        receiver_method: "napping".to_owned(),
        receive_buffer: 4 << 20,
        packets_per_second: 1e4,
        delays: false,
        interval_milliseconds: None,
    }
}

/// A control connection by hand, and what the receiver says to a wish.
fn asked(receiver: SocketAddr, start: message::Start) -> (TcpStream, message::Message) {
    let mut stream = TcpStream::connect(receiver).unwrap();
    let hello = message::Message::Hello {
        version: message::VERSION,
        nonce: [1; 16],
    };
    message::write(&mut stream, &hello).unwrap();
    message::read(&mut stream, message::FROM_ASKED).unwrap();
    message::write(&mut stream, &message::Message::Start(start)).unwrap();
    let answer = message::read(&mut stream, message::FROM_ASKED).unwrap();
    (stream, answer)
}

/// A sender by hand that was accepted.
struct ByHand {
    stream: TcpStream,
    cookie: message::Nonce,
    port: u16,
}

impl ByHand {
    fn accepted(receiver: SocketAddr) -> Self {
        let (stream, accepted) = asked(receiver, start(Direction::Forward));
        let message::Message::Accepted { cookie, ports, .. } = accepted else {
            panic!("{accepted:?}");
        };
        Self {
            stream,
            cookie,
            port: ports[0],
        }
    }

    fn introduction(&self) -> introduction::Introduction {
        introduction::Introduction {
            cookie: self.cookie,
            number: 0,
            times: [0; 2],
        }
    }

    /// Its flow's socket, which has introduced itself.
    fn introduced(&self) -> UdpSocket {
        let own = UdpSocket::bind("127.0.0.1:0").unwrap();
        own.connect(("127.0.0.1", self.port)).unwrap();
        own.send(&self.introduction().encode()).unwrap();
        own
    }

    fn say(&mut self, message: &message::Message) {
        message::write(&mut self.stream, message).unwrap();
    }

    fn hear(&mut self) -> message::Message {
        message::read(&mut self.stream, message::FROM_ASKED).unwrap()
    }

    /// From the introduction to where the receiver counts.
    fn begin(&mut self) {
        assert_eq!(self.hear(), message::Message::Bound);
        self.say(&message::Message::Begin { offset: 0 });
        assert_eq!(self.hear(), message::Message::Counting);
    }
}

/// A sender's last word, that it sent so many by each flow.
fn done(by_flow: &[u64]) -> message::Message {
    let sending = serde_json::json!({
        "by_flow": by_flow, "seconds": 0.1,
        "end": { "cpu": 0, "cpu_nanoseconds": 1.0, "wall_nanoseconds": 2.0 },
        "refusals": 0, "send_buffer_errors": null, "interface_drops": null, "pacer": null, "pacing_clock": null,
        "mtu_bytes": 1500, "is_ipv4": true, "energy": { "Err": "none" },
        "stopwatch": "tsc", "stopwatch_caveat": null, "stopwatch_granularity_nanoseconds": 1.0,
    });
    message::Message::Done(serde_json::from_value(sending).unwrap())
}
