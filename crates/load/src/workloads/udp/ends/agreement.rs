//! What comes before the datagrams, at the end that asks: from a receiver's address to sockets that
//! the other end knows, and what its clock is ahead.

use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::time::{Duration, Instant};

use knobstat_sys::net;

use super::super::link::prepare_receiver;
use super::super::options::{LARGEST_PACKET_IPV4, Options};
use super::super::wire::realtime;
use super::address::connect;
use super::introduction::{Introduction, LENGTH};
use super::message::{self, Buckets, Direction, FROM_ASKED, Message, Nonce, Start, VERSION, write};
use super::offset::{Exchange, Offset, estimate};
use super::{ANSWER, EndsError, Request, nonce, system};
use crate::histogram::Histogram;

/// Two ends that are ready for a direction.
pub(super) struct Agreement {
    /// The control connection.
    pub stream: TcpStream,
    /// What was agreed on.
    pub start: Start,
    /// Each flow's socket, connected.
    pub sockets: Vec<UdpSocket>,
    /// The receive buffer that was granted to each flow at the receiving end.
    pub granted_buffer: usize,
    /// What the other end's clock is ahead, where any answer came back.
    pub offset: Option<Offset>,
    /// Round trips of the questions, in nanoseconds.
    pub round_trip: Buckets,
}

impl Agreement {
    /// Comes to one with the receiver of a request.
    ///
    /// # Errors
    /// When it cannot be reached, refuses, or does not get to know a flow.
    pub(super) fn reach(
        request: &Request,
        options: &Options,
        direction: Direction,
    ) -> Result<Self, EndsError> {
        let mut stream = connect(&request.receiver)?;
        let peer = stream
            .peer_addr()
            .map_err(system("the receiver has no address"))?;
        let is_ipv4 = peer.ip().to_canonical().is_ipv4();
        if is_ipv4 && options.packet_size as u64 > LARGEST_PACKET_IPV4 {
            return Err(EndsError::Request(format!(
                "a datagram of {} bytes does not go to {}: over IPv4 packet_size is 0 to \
                 {LARGEST_PACKET_IPV4}",
                options.packet_size,
                peer.ip()
            )));
        }
        let (start, cookie, ports, mut granted_buffer) =
            agree(&mut stream, options, request, direction)?;
        let sockets = introduce(&mut stream, options, peer, &ports, &cookie)?;
        let exchanges = sockets
            .first()
            .map(|socket| compare_clocks(socket, &cookie))
            .unwrap_or_default();
        let mut round_trip = Histogram::new(super::super::delay::PRECISION);
        for exchange in &exchanges {
            round_trip.record(exchange.round_trip());
        }
        if direction == Direction::Reverse {
            for socket in &sockets {
                socket
                    .set_read_timeout(None)
                    .map_err(system("a flow's socket cannot be set up"))?;
                granted_buffer =
                    prepare_receiver(socket, options.receiver_method, options.receive_buffer)
                        .map_err(|error| EndsError::Run(error.to_string()))?;
                if request.delays {
                    net::stamp_arrivals(socket).map_err(system("arrivals cannot be timed"))?;
                }
            }
        }
        Ok(Self {
            stream,
            start,
            sockets,
            granted_buffer,
            offset: estimate(&exchanges),
            round_trip: Buckets::of(&round_trip),
        })
    }
}

/// Hears what the receiver says; what it refuses is an error.
///
/// # Errors
/// When the connection fails, or the receiver refuses.
pub(super) fn hear(stream: &mut TcpStream) -> Result<Message, EndsError> {
    match message::hear(stream, FROM_ASKED, ANSWER)? {
        Message::Refused { reason } => Err(EndsError::Refused(reason)),
        message => Ok(message),
    }
}

/// Says what is to come; hears the cookie, the ports and the receive buffer.
fn agree(
    stream: &mut TcpStream,
    options: &Options,
    request: &Request,
    direction: Direction,
) -> Result<(Start, Nonce, Vec<u16>, usize), EndsError> {
    let own = nonce()?;
    let hello = Message::Hello {
        version: VERSION,
        nonce: own,
    };
    // A receiver that has as many senders as it serves says so without hearing anything.
    let said = write(stream, &hello);
    let Message::Challenge { nonce, needs_token } = (match hear(stream) {
        Err(EndsError::Refused(reason)) => return Err(EndsError::Refused(reason)),
        heard => said.map_err(EndsError::from).and(heard)?,
    }) else {
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
        direction,
        sending: match direction {
            Direction::Forward => None,
            Direction::Reverse => Some(of_the_flow(request)),
        },
        packet_size: options.packet_size,
        flows: options.flows,
        first_number: options.first_number,
        receiver_method: options.receiver_method.word().to_owned(),
        receive_buffer: options.receive_buffer,
        packets_per_second: options
            .pacing
            .rate()
            .map_or(ceiling, |rate| rate.min(ceiling)),
        delays: request.delays,
        interval_milliseconds: request.interval.map(|interval| interval.as_millis() as u64),
    };
    write(stream, &Message::Start(start.clone()))?;
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
    let granted_buffer = usize::try_from(granted_buffer).unwrap_or(0);
    Ok((start, cookie, ports, granted_buffer))
}

/// The parameters that say how is sent, without those that say where on this machine.
fn of_the_flow(request: &Request) -> knobstat_data::Parameters {
    let mut parameters = request.parameters.clone();
    for of_this_machine in ["bind", "endpoints", "sender_cpu", "receiver_cpu"] {
        parameters.remove(of_this_machine);
    }
    parameters
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
