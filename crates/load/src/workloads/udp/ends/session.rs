//! One sender's session at the receiver.

use std::io;
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use knobstat_data::Value;
use knobstat_sys::net::affinity::obtainable_cpus;
use knobstat_sys::net::{set_differentiated_services, stamp_arrivals};

use super::super::link::prepare_receiver;
use super::super::options::{LARGEST_PACKET, MOST_FLOWS, Options, ReceiverMethod};
use super::super::receiver::Progress;
use super::super::verdict::receiver_was_the_limit;
use super::super::wire::realtime;
use super::counting::Counting;
use super::introduction::{Introduction, LENGTH};
use super::message::{Direction, FROM_ASKER, Message, Nonce, Start, VERSION, hear, write};
use super::sending::send_by;
use super::serving::Serving;
use super::{EndsError, is_timeout, nonce, system};

/// How long a sender may take for each step before the datagrams begin.
const STEP: Duration = Duration::from_secs(5);

/// What became of a session.
#[derive(Clone, Copy, Debug)]
pub(super) struct Summary {
    /// Which way the datagrams went.
    pub direction: Direction,
    /// Datagrams sent.
    pub sent: u64,
    /// Datagrams received.
    pub received: u64,
    /// Datagrams sent and not received.
    pub lost: u64,
    /// Whether this receiver dropped so many that a rate says nothing of the sender.
    pub receiver_was_the_limit: bool,
}

/// Serves a peer to its end, `present` peers being there at the moment.
///
/// # Errors
/// When it is refused, falls silent or goes away.
pub(super) fn hold(
    mut stream: TcpStream,
    peer: SocketAddr,
    serving: &Serving,
    present: usize,
) -> Result<Summary, EndsError> {
    stream
        .set_write_timeout(Some(STEP))
        .and_then(|()| stream.set_nodelay(true))
        .map_err(system("the control connection cannot be set up"))?;
    let start = admit(&mut stream, serving)?;
    let wanted = method_of(&start).and_then(|method| Ok((method, sending_of(&start, peer)?)));
    let (method, options) = match wanted {
        Ok(wanted) => wanted,
        Err(reason) => return Err(refuse(&mut stream, reason)),
    };
    let (sockets, granted_buffer) = open(&stream, &start, method)?;
    if let Some(options) = &options {
        // Before a socket is connected: a change of it would void the route that is looked up then.
        for socket in &sockets {
            set_differentiated_services(socket, options.dscp)
                .map_err(system("the DSCP cannot be set"))?;
        }
    }
    let cookie = nonce()?;
    let ports: io::Result<Vec<u16>> = sockets
        .iter()
        .map(|socket| Ok(socket.local_addr()?.port()))
        .collect();
    let accepted = Message::Accepted {
        cookie,
        ports: ports.map_err(system("a flow's socket has no port"))?,
        granted_buffer: granted_buffer as u64,
    };
    write(&mut stream, &accepted)?;
    let end = Instant::now() + STEP;
    for socket in &sockets {
        await_introduction(socket, peer, &cookie, end)?;
    }
    write(&mut stream, &Message::Bound)?;
    let offset = compare_clocks(&mut stream, &sockets, &cookie)?;
    if let Some(options) = options {
        return send(&stream, serving, &start, &options, sockets);
    }
    let cpus = obtainable_cpus().map_err(system("the CPUs cannot be told"))?;
    let counting = Counting {
        start: &start,
        method,
        sockets: &sockets,
        granted_buffer,
        offset,
        cpu: serving.cpu,
        // One for each receiver that may spin, and one for everybody else.
        may_spin: present < cpus.len() && (serving.cpu.is_none() || present == 1),
    };
    receive(&stream, serving, counting)
}

/// How this end is to send; nothing where it receives.
fn sending_of(start: &Start, peer: SocketAddr) -> Result<Option<Options>, String> {
    let Some(parameters) = &start.sending else {
        return match start.direction {
            Direction::Forward => Ok(None),
            Direction::Reverse => Err("it does not say how to send".to_owned()),
        };
    };
    let mut parameters = parameters.clone();
    // The size that fits depends on it.
    let to = Value::Table([("receiver".to_owned(), Value::Text(peer.ip().to_string()))].into());
    parameters.insert("endpoints".to_owned(), to);
    let options = Options::read(&parameters).map_err(|error| error.to_string())?;
    let agrees = start.direction == Direction::Reverse
        && options.packet_size == start.packet_size
        && options.flows == start.flows
        && options.first_number == start.first_number
        && options.sender_cpu.is_none();
    agrees
        .then_some(Some(options))
        .ok_or_else(|| "it says two things about what to send".to_owned())
}

/// Hears what a sender wants, and whether it may.
fn admit(stream: &mut TcpStream, serving: &Serving) -> Result<Start, EndsError> {
    let Message::Hello {
        version,
        nonce: of_sender,
    } = hear(stream, FROM_ASKER, STEP)?
    else {
        return Err(EndsError::OutOfTurn);
    };
    if version != VERSION {
        let reason = format!("it speaks version {VERSION} of the protocol, not {version}");
        return Err(refuse(stream, reason));
    }
    let own = nonce()?;
    write(
        stream,
        &Message::Challenge {
            nonce: own,
            needs_token: serving.token.is_some(),
        },
    )?;
    let Message::Start(start) = hear(stream, FROM_ASKER, STEP)? else {
        return Err(EndsError::OutOfTurn);
    };
    if let Some(token) = &serving.token {
        let is_proved = start
            .proof
            .is_some_and(|proof| token.accepts(&proof, &of_sender, &own));
        if !is_proved {
            return Err(refuse(stream, "the token is not the receiver's".to_owned()));
        }
    }
    Ok(start)
}

pub(super) fn refuse(stream: &mut TcpStream, reason: String) -> EndsError {
    // Whether the sender still hears it or not, it is refused.
    let refused = Message::Refused {
        reason: reason.clone(),
    };
    let _ = write(stream, &refused);
    EndsError::Refused(reason)
}

/// What a sender asks for, held to what a run can be.
fn method_of(start: &Start) -> Result<ReceiverMethod, String> {
    if start.packet_size as u64 > LARGEST_PACKET {
        return Err(format!("a payload has 0 to {LARGEST_PACKET} bytes"));
    }
    if !(1..=MOST_FLOWS as usize).contains(&start.flows) {
        return Err(format!("there are 1 to {MOST_FLOWS} flows"));
    }
    let method = ReceiverMethod::ALL
        .into_iter()
        .find(|method| method.word() == start.receiver_method)
        .ok_or("there is no such way of receiving")?;
    if start.flows > 1 && method == ReceiverMethod::Blocking {
        return Err("a blocking receiver takes one flow".to_owned());
    }
    Ok(method)
}

/// The most that the receive buffers of one peer's flows may hold together, in bytes.
const MOST_BUFFERED: usize = 256 << 20;

/// A socket for each flow, at the address that the receiver was asked at.
fn open(
    stream: &TcpStream,
    start: &Start,
    method: ReceiverMethod,
) -> Result<(Vec<UdpSocket>, usize), EndsError> {
    let mut at = stream
        .local_addr()
        .map_err(system("the control connection has no address"))?;
    at.set_port(0);
    // An IPv4 peer of a socket that hears both gets IPv4 datagrams: their sizes and marks are those.
    at.set_ip(at.ip().to_canonical());
    let mut granted_buffer = 0;
    let receive_buffer = start.receive_buffer.min(MOST_BUFFERED / start.flows);
    let mut sockets = Vec::with_capacity(start.flows);
    for _ in 0..start.flows {
        let socket = UdpSocket::bind(at).map_err(system("a flow's socket cannot be bound"))?;
        granted_buffer = prepare_receiver(&socket, method, receive_buffer)
            .map_err(|error| EndsError::Run(error.to_string()))?;
        if start.delays {
            stamp_arrivals(&socket).map_err(system("arrivals cannot be timed"))?;
        }
        sockets.push(socket);
    }
    Ok((sockets, granted_buffer))
}

/// Waits until a flow has introduced itself, at most until `end`, and hears from nobody else afterwards.
fn await_introduction(
    socket: &UdpSocket,
    peer: SocketAddr,
    cookie: &Nonce,
    end: Instant,
) -> Result<(), EndsError> {
    let failed = "a flow's introduction cannot be received";
    let before = socket.read_timeout().map_err(system(failed))?;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            let port = socket.local_addr().map_or(0, |address| address.port());
            return Err(EndsError::Unreachable(port));
        }
        socket
            .set_read_timeout(Some(left.max(Duration::from_millis(1))))
            .map_err(system(failed))?;
        let mut bytes = [0; LENGTH + 1];
        let Ok((length, from)) = socket.recv_from(&mut bytes) else {
            continue;
        };
        let is_peer = from.ip().to_canonical() == peer.ip().to_canonical();
        if is_peer && Introduction::decode(&bytes[..length], cookie).is_some() {
            socket.connect(from).map_err(system(failed))?;
            // What strangers sent before is still in the queue.
            return drain(socket)
                .and_then(|()| socket.set_read_timeout(before))
                .map_err(system(failed));
        }
    }
}

fn drain(socket: &UdpSocket) -> io::Result<()> {
    socket.set_nonblocking(true)?;
    while socket.recv(&mut [0; LENGTH]).is_ok() {}
    socket.set_nonblocking(false)
}

/// Answers the sender's questions for the time until it begins.
fn compare_clocks(
    stream: &mut TcpStream,
    sockets: &[UdpSocket],
    cookie: &Nonce,
) -> Result<i64, EndsError> {
    let failed = "the clocks cannot be compared";
    let Some(socket) = sockets.first() else {
        return Err(EndsError::OutOfTurn);
    };
    let before = socket.read_timeout().map_err(system(failed))?;
    socket
        .set_read_timeout(Some(Duration::from_millis(5)))
        .map_err(system(failed))?;
    let end = Instant::now() + STEP;
    while !has_more(stream)? {
        if Instant::now() > end {
            return Err(EndsError::OutOfTurn);
        }
        let mut bytes = [0; LENGTH + 1];
        let Ok(length) = socket.recv(&mut bytes) else {
            continue;
        };
        let arrived = realtime();
        if let Some(question) = Introduction::decode(&bytes[..length], cookie) {
            let answer = Introduction {
                times: [arrived, realtime()],
                ..question
            };
            // One that is lost is one fewer.
            let _ = socket.send(&answer.encode());
        }
    }
    let Message::Begin { offset } = hear(stream, FROM_ASKER, STEP)? else {
        return Err(EndsError::OutOfTurn);
    };
    drain(socket)
        .and_then(|()| socket.set_read_timeout(before))
        .map_err(system(failed))?;
    Ok(offset)
}

/// Whether something has come over a connection, or it has ended. Does not wait.
fn has_more(stream: &TcpStream) -> Result<bool, EndsError> {
    let failed = system("the control connection cannot be looked at");
    stream.set_nonblocking(true).map_err(&failed)?;
    let peeked = stream.peek(&mut [0]);
    stream.set_nonblocking(false).map_err(&failed)?;
    match peeked {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
        Err(error) => Err(failed(error)),
    }
}

/// Counts what comes until the sender is done.
fn receive(
    stream: &TcpStream,
    serving: &Serving,
    counting: Counting,
) -> Result<Summary, EndsError> {
    let start = counting.start;
    let ready = || Ok(write(&mut &*stream, &Message::Counting)?);
    let (sent, outcome) = counting.count(ready, |progress| {
        await_end(&mut &*stream, serving, start, progress)
    })?;
    write(&mut &*stream, &Message::Outcome(Box::new(outcome.clone())))?;
    let sent = sent.iter().sum();
    Ok(Summary {
        direction: Direction::Forward,
        sent,
        received: outcome.received,
        lost: outcome.lost,
        receiver_was_the_limit: receiver_was_the_limit(sent, outcome.socket_drops),
    })
}

/// Sends what the other end asked for, for as long as that is there.
fn send(
    stream: &TcpStream,
    serving: &Serving,
    start: &Start,
    options: &Options,
    sockets: Vec<UdpSocket>,
) -> Result<Summary, EndsError> {
    let sent = send_by(
        sockets,
        options,
        serving.cpu,
        start.delays,
        Some(LOOK),
        || match has_more(stream) {
            Ok(false) => ControlFlow::Continue(()),
            // It has nothing to say before it hears of the end, unless it is gone.
            Ok(true) | Err(_) => ControlFlow::Break(()),
        },
    )?;
    let total = sent.by_flow.iter().sum();
    write(&mut &*stream, &Message::Done(Box::new(sent)))?;
    match hear(stream, FROM_ASKER, STEP)? {
        Message::Counted { received, lost } => Ok(Summary {
            direction: Direction::Reverse,
            sent: total,
            received,
            lost,
            receiver_was_the_limit: false,
        }),
        _ => Err(EndsError::OutOfTurn),
    }
}

/// How often a sender looks whether anybody still wants what it sends.
const LOOK: Duration = Duration::from_millis(250);

/// Waits until the sender says that it is done, and tells it what has come so far where it asked.
fn await_end(
    stream: &mut &TcpStream,
    serving: &Serving,
    start: &Start,
    progress: &Progress,
) -> Result<Vec<u64>, EndsError> {
    const SHORTEST: Duration = Duration::from_millis(100);
    let interval = start.interval_milliseconds.map(Duration::from_millis);
    let tick = interval
        .unwrap_or(serving.idle)
        .clamp(SHORTEST, serving.idle.max(SHORTEST));
    let mut last_life = (Instant::now(), 0);
    loop {
        stream
            .set_read_timeout(Some(tick))
            .map_err(system("the control connection cannot be waited for"))?;
        match stream.peek(&mut [0]) {
            Ok(_) => {
                return match hear(stream, FROM_ASKER, STEP)? {
                    Message::Done(sending) if sending.is_of_flows(start.flows) => {
                        Ok(sending.by_flow)
                    }
                    _ => Err(EndsError::OutOfTurn),
                };
            }
            Err(error) if is_timeout(&error) => {}
            Err(error) => return Err(system("the sender is gone")(error)),
        }
        let datagrams = progress.datagrams.load(Ordering::Relaxed);
        let bytes = progress.bytes.load(Ordering::Relaxed);
        if datagrams != last_life.1 {
            last_life = (Instant::now(), datagrams);
        }
        if last_life.0.elapsed() >= serving.idle {
            return Err(EndsError::Run("the sender fell silent".to_owned()));
        }
        if interval.is_some() {
            let buffers = progress.buffers.load(Ordering::Relaxed);
            let so_far = Message::SoFar {
                datagrams,
                bytes,
                buffers,
            };
            write(stream, &so_far)?;
        }
    }
}
