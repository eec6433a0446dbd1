//! The sender's end: from a receiver's address to both ends' view as one.

use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs, UdpSocket};
use std::time::{Duration, Instant};

use knobstat_data::Parameters;
use knobstat_data::observation::MetricValue;
use knobstat_sys::clock::Stopwatch;
use knobstat_sys::net;
use knobstat_sys::net::affinity::obtainable_cpus;
use knobstat_sys::net::netlink::interface_index;
use serde::Serialize;

use super::super::decode;
use super::super::figures::{Class, Figures, Kernel, Packets, Route, Waiting};
use super::super::link::{Link, Sockets};
use super::super::options::{Method, Options};
use super::super::placement::Placement;
use super::super::route::fragments;
use super::super::threads::{self, Sent, Setting};
use super::super::wire::{Contents, realtime};
use super::super::work::{RECEIVE_BUFFER, pacing_clock};
use super::introduction::{Introduction, LENGTH};
use super::message::{
    Buckets, FROM_RECEIVER, Message, Nonce, Outcome, Start, VERSION, read, write,
};
use super::offset::{Exchange, Offset, estimate};
use super::token::Token;
use super::{EndsError, PORT, nonce, system};
use crate::histogram::Histogram;

/// What is to be sent, and to whom.
#[derive(Clone, Debug)]
pub struct Request {
    /// The parameters of the workload.
    pub parameters: Parameters,
    /// The receiver: `HOST`, `HOST:PORT`, `[ADDRESS]:PORT`, an IPv6 address with `%INTERFACE`.
    pub receiver: String,
    /// What the receiver wants to be known.
    pub token: Option<Token>,
    /// How often the receiver is to say what has come so far; never where absent.
    pub interval: Option<Duration>,
    /// Whether gaps and one-way delays are measured. It costs a reading of the clock a datagram.
    pub delays: bool,
}

/// What had come by a moment.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SoFar {
    /// The end of the interval, in seconds from the beginning.
    pub seconds: f64,
    /// Datagrams received within it.
    pub received: u64,
    /// Payload received within it, in bytes.
    pub received_bytes: u64,
    /// Datagrams received a second within it.
    pub received_rate: f64,
}

/// Both ends' view of a run.
#[derive(Clone, Debug)]
pub struct TwoEnds {
    /// Datagrams sent.
    pub sent: u64,
    /// Datagrams received, duplicates included.
    pub received: u64,
    /// Datagrams sent and not received.
    pub lost: u64,
    /// Reordered and duplicated; absent where datagrams carry no number.
    pub order: Option<(u64, u64)>,
    /// The class of the sending method, A to D.
    pub class: char,
    /// The most datagrams of one buffer.
    pub datagrams_per_buffer: u64,
    /// The workload's metrics.
    pub metrics: Vec<MetricValue>,
    /// What a reader has to know.
    pub notes: Vec<String>,
    /// The difference of the two clocks, where any answer came back.
    pub offset: Option<Offset>,
    /// Round trips of the questions before the run, in nanoseconds.
    pub round_trip: Buckets,
    /// One-way delays in nanoseconds, where they were asked for.
    pub one_way: Option<Buckets>,
    /// Gaps between arrivals in nanoseconds, where they were asked for.
    pub gaps: Option<Buckets>,
}

/// Sends, and gathers what both ends saw. `tell` hears what has come so far at every interval.
///
/// # Errors
/// When the receiver cannot be reached, refuses, or one of the ends fails.
pub fn send(request: &Request, tell: &mut dyn FnMut(SoFar)) -> Result<TwoEnds, EndsError> {
    let options = Options::read(&request.parameters)
        .map_err(|error| EndsError::Request(error.to_string()))?;
    let (figures, ends) = run(&options, request, tell)?;
    let yielded = decode::yield_of(&figures);
    Ok(TwoEnds {
        sent: figures.packets.sent,
        received: figures.packets.received,
        lost: figures.packets.lost,
        order: figures
            .packets
            .order
            .map(|order| (order.reordered, order.duplicated)),
        class: figures.route.class.letter(),
        datagrams_per_buffer: figures.route.datagrams_per_buffer,
        metrics: yielded.metrics,
        notes: yielded.notes,
        offset: ends.offset,
        round_trip: ends.round_trip,
        one_way: ends.one_way,
        gaps: ends.gaps,
    })
}

/// A run as the workload does it: silent meanwhile.
///
/// # Errors
/// As [`send`].
pub(in super::super) fn figures(options: &Options, receiver: &str) -> Result<Figures, EndsError> {
    let request = Request {
        parameters: Parameters::new(),
        receiver: receiver.to_owned(),
        token: std::env::var_os(TOKEN_FILE)
            .map(|path| Token::read(path.as_ref()))
            .transpose()
            .map_err(system("the token cannot be read"))?,
        interval: None,
        delays: false,
    };
    Ok(run(options, &request, &mut |_| {})?.0)
}

/// The variable that names the token's file, where the workload's receiver wants one.
const TOKEN_FILE: &str = "KNOBSTAT_TOKEN_FILE";

/// What only two ends have.
struct Ends {
    offset: Option<Offset>,
    round_trip: Buckets,
    one_way: Option<Buckets>,
    gaps: Option<Buckets>,
}

/// How long the receiver may take for an answer.
const ANSWER: Duration = Duration::from_secs(10);

fn run(
    options: &Options,
    request: &Request,
    tell: &mut dyn FnMut(SoFar),
) -> Result<(Figures, Ends), EndsError> {
    let mut stream = connect(&request.receiver)?;
    let peer = stream
        .peer_addr()
        .map_err(system("the receiver has no address"))?;
    let (cookie, ports, granted_buffer) = agree(&mut stream, options, request)?;
    let senders = introduce(&mut stream, options, peer, &ports, &cookie)?;
    let exchanges = senders
        .first()
        .map(|socket| compare_clocks(socket, &cookie))
        .unwrap_or_default();
    let offset = estimate(&exchanges);
    let begin = Message::Begin {
        offset: offset.map_or(0, |offset| offset.nanoseconds),
    };
    write(&mut stream, &begin)?;
    let Message::Counting = hear(&mut stream)? else {
        return Err(EndsError::OutOfTurn);
    };
    let allowed = obtainable_cpus().map_err(system("the CPUs cannot be told"))?;
    let placement = Placement::choose(options.sender_cpu, None, &allowed)
        .map_err(|error| EndsError::Run(error.to_string()))?;
    let stopwatch = Stopwatch::calibrated();
    let link = Link::elsewhere();
    let sockets = Sockets {
        senders,
        receivers: Vec::new(),
        granted_buffer,
    };
    let setting = Setting {
        options,
        placement,
        stopwatch: &stopwatch,
        link: &link,
        sockets: &sockets,
        pacing_clock: pacing_clock(options),
        contents: Contents {
            times: request.delays,
        },
    };
    let mut so_far = Meanwhile::new();
    let sent = threads::send_alone(setting, request.interval, || {
        so_far.hear(&mut stream, tell);
    });
    let sent = sent.map_err(|error| EndsError::Run(error.to_string()))?;
    write(
        &mut stream,
        &Message::Done {
            sent: sent.by_flow.clone(),
        },
    )?;
    let outcome = loop {
        match hear(&mut stream)? {
            Message::SoFar { datagrams, bytes } => so_far.tell(datagrams, bytes, tell),
            Message::Outcome(outcome) => break *outcome,
            _ => return Err(EndsError::OutOfTurn),
        }
    };
    let route = route(options, &sockets.senders, &outcome)?;
    let mut round_trip = Histogram::new(super::super::delay::PRECISION);
    for exchange in &exchanges {
        round_trip.record(exchange.round_trip());
    }
    let ends = Ends {
        offset,
        round_trip: Buckets::of(&round_trip),
        one_way: outcome.one_way.clone(),
        gaps: outcome.gaps.clone(),
    };
    Ok((joined(options, &stopwatch, sent, outcome, route), ends))
}

/// What has come so far, told from one interval to the next.
struct Meanwhile {
    began: Instant,
    last: (f64, u64, u64),
}

impl Meanwhile {
    fn new() -> Self {
        Self {
            began: Instant::now(),
            last: (0.0, 0, 0),
        }
    }

    fn hear(&mut self, stream: &mut TcpStream, tell: &mut dyn FnMut(SoFar)) {
        // What cannot be heard now is heard at the end, or found out there.
        while is_pending(stream) {
            match read(stream, FROM_RECEIVER) {
                Ok(Message::SoFar { datagrams, bytes }) => self.tell(datagrams, bytes, tell),
                Ok(_) | Err(_) => return,
            }
        }
    }

    fn tell(&mut self, datagrams: u64, bytes: u64, tell: &mut dyn FnMut(SoFar)) {
        let seconds = self.began.elapsed().as_secs_f64();
        let (then, received, received_bytes) = self.last;
        let received = datagrams.saturating_sub(received);
        tell(SoFar {
            seconds,
            received,
            received_bytes: bytes.saturating_sub(received_bytes),
            received_rate: received as f64 / (seconds - then).max(1e-9),
        });
        self.last = (seconds, datagrams, bytes);
    }
}

fn is_pending(stream: &TcpStream) -> bool {
    if stream.set_nonblocking(true).is_err() {
        return false;
    }
    let is_pending = stream.peek(&mut [0]).is_ok_and(|count| count > 0);
    stream.set_nonblocking(false).is_ok() && is_pending
}

/// The control connection.
fn connect(receiver: &str) -> Result<TcpStream, EndsError> {
    let addresses = resolve(receiver)?;
    let mut last = None;
    for address in addresses {
        match TcpStream::connect_timeout(&address, ANSWER) {
            Ok(stream) => {
                stream
                    .set_read_timeout(Some(ANSWER))
                    .and_then(|()| stream.set_nodelay(true))
                    .map_err(system("the control connection cannot be set up"))?;
                return Ok(stream);
            }
            Err(error) => last = Some(error),
        }
    }
    let error = last.unwrap_or_else(|| io::Error::from(io::ErrorKind::NotFound));
    Err(system(
        "the receiver cannot be reached; does `knobstat udp recv` run there?",
    )(error))
}

/// The addresses of `HOST`, `HOST:PORT`, `[ADDRESS]:PORT`; IPv6 addresses may have a scope.
fn resolve(receiver: &str) -> Result<Vec<SocketAddr>, EndsError> {
    let unfit = || {
        EndsError::Request(format!(
            "{receiver:?} is no receiver; write HOST, HOST:PORT or [ADDRESS]:PORT"
        ))
    };
    let (host, port) = match receiver.strip_prefix('[').map(|rest| rest.split_once(']')) {
        Some(Some((host, ""))) => (host, PORT),
        Some(Some((host, port))) => {
            let port = port.strip_prefix(':').ok_or_else(unfit)?;
            (host, port.parse().map_err(|_| unfit())?)
        }
        Some(None) => return Err(unfit()),
        None if receiver.matches(':').count() > 1 => (receiver, PORT),
        None => match receiver.split_once(':') {
            Some((host, port)) => (host, port.parse().map_err(|_| unfit())?),
            None => (receiver, PORT),
        },
    };
    if host.is_empty() || port == 0 {
        return Err(unfit());
    }
    if let Some((address, interface)) = host.split_once('%') {
        let IpAddr::V6(address) = address.parse().map_err(|_| unfit())? else {
            return Err(unfit());
        };
        let scope = match interface.parse() {
            Ok(index) => index,
            Err(_) => interface_index(interface)
                .map_err(system("there is no interface of the receiver's scope"))?,
        };
        let address = std::net::SocketAddrV6::new(address, port, 0, scope);
        return Ok(vec![SocketAddr::V6(address)]);
    }
    let found = (host, port)
        .to_socket_addrs()
        .map_err(system("the receiver's name cannot be resolved"))?;
    Ok(found.collect())
}

fn hear(stream: &mut TcpStream) -> Result<Message, EndsError> {
    match read(stream, FROM_RECEIVER)? {
        Message::Refused { reason } => Err(EndsError::Refused(reason)),
        message => Ok(message),
    }
}

/// Says what is to come; hears the cookie, the ports and the receive buffer.
fn agree(
    stream: &mut TcpStream,
    options: &Options,
    request: &Request,
) -> Result<(Nonce, Vec<u16>, usize), EndsError> {
    let own = nonce()?;
    let hello = Message::Hello {
        version: VERSION,
        nonce: own,
    };
    write(stream, &hello)?;
    let Message::Challenge { nonce, needs_token } = hear(stream)? else {
        return Err(EndsError::OutOfTurn);
    };
    if needs_token && request.token.is_none() {
        return Err(EndsError::TokenWanted);
    }
    let ceiling = options.method.ceiling();
    let start = Start {
        proof: request
            .token
            .as_ref()
            .map(|token| token.proof(&own, &nonce)),
        packet_size: options.packet_size,
        flows: options.flows,
        first_number: options.first_number,
        receiver_method: options.receiver_method.word().to_owned(),
        packets_per_second: options
            .pacing
            .rate()
            .map_or(ceiling, |rate| rate.min(ceiling)),
        delays: request.delays,
        interval_milliseconds: request.interval.map(|interval| interval.as_millis() as u64),
    };
    write(stream, &Message::Start(start))?;
    let Message::Accepted {
        cookie,
        ports,
        granted_buffer,
    } = hear(stream)?
    else {
        return Err(EndsError::OutOfTurn);
    };
    if ports.len() != options.flows {
        return Err(EndsError::OutOfTurn);
    }
    Ok((cookie, ports, usize::try_from(granted_buffer).unwrap_or(0)))
}

/// Opens each flow's socket and introduces it, again and again until the receiver knows all.
fn introduce(
    stream: &mut TcpStream,
    options: &Options,
    peer: SocketAddr,
    ports: &[u16],
    cookie: &Nonce,
) -> Result<Vec<UdpSocket>, EndsError> {
    let mut own = stream
        .local_addr()
        .map_err(system("the control connection has no address"))?;
    own.set_port(0);
    if let Some(bind) = options.bind {
        own.set_ip(bind);
    }
    let mut sockets = Vec::with_capacity(ports.len());
    for &port in ports {
        let mut to = peer;
        to.set_port(port);
        let socket = UdpSocket::bind(own).map_err(system("the sender's socket cannot be bound"))?;
        net::set_differentiated_services(&socket, options.dscp)
            .map_err(system("the DSCP cannot be set"))?;
        socket
            .connect(to)
            .map_err(system("the receiver's port cannot be sent to"))?;
        sockets.push(socket);
    }
    let end = Instant::now() + ANSWER;
    let introduction = Introduction {
        cookie: *cookie,
        number: 0,
        times: [0; 2],
    };
    stream
        .set_read_timeout(Some(Duration::from_millis(20)))
        .map_err(system("the control connection cannot be waited for"))?;
    loop {
        for socket in &sockets {
            // One that is refused or lost is sent again.
            let _ = socket.send(&introduction.encode());
        }
        if stream.peek(&mut [0]).is_ok() {
            break;
        }
        if Instant::now() > end {
            return Err(EndsError::Unreachable(ports.first().copied().unwrap_or(0)));
        }
    }
    stream
        .set_read_timeout(Some(ANSWER))
        .map_err(system("the control connection cannot be waited for"))?;
    match hear(stream)? {
        Message::Bound => Ok(sockets),
        _ => Err(EndsError::OutOfTurn),
    }
}

/// How many questions are asked about the receiver's clock.
const QUESTIONS: u64 = 64;

fn compare_clocks(socket: &UdpSocket, cookie: &Nonce) -> Vec<Exchange> {
    let mut exchanges = Vec::with_capacity(QUESTIONS as usize);
    if socket
        .set_read_timeout(Some(Duration::from_millis(50)))
        .is_err()
    {
        return exchanges;
    }
    for number in 1..=QUESTIONS {
        let question = Introduction {
            cookie: *cookie,
            number,
            times: [0; 2],
        };
        let asked = realtime();
        if socket.send(&question.encode()).is_err() {
            continue;
        }
        let mut bytes = [0; LENGTH + 1];
        // Answers to earlier introductions may still be under way.
        while let Ok(length) = socket.recv(&mut bytes) {
            let heard = realtime();
            let answer = Introduction::decode(&bytes[..length], cookie);
            if let Some(answer) = answer.filter(|answer| answer.number == number) {
                exchanges.push(Exchange {
                    asked,
                    arrived: answer.times[0],
                    answered: answer.times[1],
                    heard,
                });
                break;
            }
        }
    }
    exchanges
}

fn route(options: &Options, senders: &[UdpSocket], outcome: &Outcome) -> Result<Route, EndsError> {
    let unknown = "the route to the receiver cannot be told";
    let socket = senders.first().ok_or(EndsError::OutOfTurn)?;
    let mtu_bytes = u64::from(net::route_mtu(socket).map_err(system(unknown))?);
    let is_ipv4 = socket.local_addr().map_err(system(unknown))?.is_ipv4();
    let datagrams_per_buffer = match options.method {
        Method::Gso => options.method.datagrams_per_call(options.packet_size) as u64,
        _ => 1,
    };
    let class = match datagrams_per_buffer {
        1 => Class::A,
        _ if outcome.buffers < outcome.received => Class::D,
        _ => Class::B,
    };
    Ok(Route {
        mtu_bytes,
        fragments_per_packet: fragments(options.packet_size as u64, mtu_bytes, is_ipv4),
        datagrams_per_buffer,
        class,
    })
}

fn joined(
    options: &Options,
    stopwatch: &Stopwatch,
    sent: Sent,
    outcome: Outcome,
    route: Route,
) -> Figures {
    let sending_seconds = stopwatch.between(sent.began, sent.ended).as_secs_f64();
    Figures {
        packet_size_bytes: options.packet_size as u64,
        packets: Packets {
            sent: sent.count,
            received: outcome.received,
            received_bytes: outcome.received_bytes,
            lost: outcome.lost.min(sent.count),
            buffers: outcome.buffers,
            strays: outcome.strays,
            order: outcome.order,
        },
        stopwatch: stopwatch.name().to_owned(),
        stopwatch_caveat: stopwatch.caveat(),
        stopwatch_granularity_nanoseconds: stopwatch.granularity().as_nanos() as f64,
        sending_seconds,
        // The receiver's clock counts from its first datagrams on: never less than was sent in.
        receiving_seconds: outcome
            .seconds
            .filter(|seconds| seconds.is_finite())
            .map(|seconds| seconds.max(sending_seconds)),
        sender: sent.end,
        receiver: outcome.receiver,
        receiver_elsewhere: true,
        waiting: Waiting {
            nap_nanoseconds: outcome.nap_nanoseconds,
            naps: outcome.naps,
            spinning: outcome.spinning,
            asked_buffer_bytes: RECEIVE_BUFFER as u64,
            granted_buffer_bytes: outcome.granted_buffer_bytes,
        },
        kernel: Kernel {
            socket_drops: outcome.socket_drops,
            receive_buffer_errors: outcome.receive_buffer_errors,
            send_buffer_errors: None,
            fragments: outcome.fragments,
            reassembly_failures: outcome.reassembly_failures,
            interface_packets: None,
            refusals: sent.refusals,
        },
        route,
        pacer: sent.pacer,
        pacing_clock: pacing_clock(options),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receiver_is_a_host_with_or_without_a_port() {
        let resolved = |text: &str| resolve(text).unwrap()[0].to_string();
        assert_eq!(resolved("127.0.0.1"), format!("127.0.0.1:{PORT}"));
        assert_eq!(resolved("127.0.0.1:9"), "127.0.0.1:9");
        assert_eq!(resolved("[::1]:9"), "[::1]:9");
        assert_eq!(resolved("::1"), format!("[::1]:{PORT}"));
        assert_eq!(resolved("[fe80::1%1]:9"), "[fe80::1%1]:9");
        assert_eq!(resolved("fe80::1%lo"), format!("[fe80::1%1]:{PORT}"));
    }

    #[test]
    fn what_is_no_receiver_is_refused() {
        for text in [
            "",
            ":9",
            "host:port",
            "[::1",
            "[::1]9",
            "127.0.0.1:0",
            "127.0.0.1%lo:9",
        ] {
            assert!(resolve(text).is_err(), "{text:?}");
        }
    }
}
