//! One sender's session at the receiver.

use std::io;
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use knobstat_sys::clock::Stopwatch;
use knobstat_sys::net::affinity::thread_cpu_time;
use knobstat_sys::net::counters::NamespaceCounters;
use knobstat_sys::net::{nap, stamp_arrivals};
use knobstat_sys::topology::set_affinity;

use super::super::delay::Delays;
use super::super::figures::End;
use super::super::intake::Intake;
use super::super::link::{prepare_receiver, total_drops};
use super::super::nap_policy::{Facts, NapPolicy};
use super::super::options::{LARGEST_PACKET, MOST_FLOWS, ReceiverMethod};
use super::super::receiver::{Farewell, NAP, Progress, Received, Receiver};
use super::super::seen::FlowSeen;
use super::super::threads::median_nap;
use super::super::wire::{SMALLEST_TIMED, realtime};
use super::super::work::{RECEIVE_BUFFER, packets};
use super::introduction::{Introduction, LENGTH};
use super::message::{Buckets, FROM_SENDER, Message, Nonce, Outcome, Start, VERSION, read, write};
use super::serving::Serving;
use super::{EndsError, nonce, system};

/// How long a sender may take for each step before the datagrams begin.
const STEP: Duration = Duration::from_secs(5);

/// After so long without a datagram the missing ones are lost, between hosts.
const SILENCE: Duration = Duration::from_millis(250);

/// Serves a sender to its end; says how much it sent, and what became of it.
///
/// # Errors
/// When it is refused, falls silent or goes away.
pub(super) fn hold(
    mut stream: TcpStream,
    peer: SocketAddr,
    serving: &Serving,
) -> Result<(u64, Outcome), EndsError> {
    stream
        .set_read_timeout(Some(STEP))
        .and_then(|()| stream.set_write_timeout(Some(STEP)))
        .and_then(|()| stream.set_nodelay(true))
        .map_err(system("the control connection cannot be set up"))?;
    let start = admit(&mut stream, serving)?;
    let method = match method_of(&start) {
        Ok(method) => method,
        Err(reason) => return Err(refuse(&mut stream, reason)),
    };
    let (sockets, granted_buffer) = open(&stream, &start, method)?;
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
    for socket in &sockets {
        await_introduction(socket, peer, &cookie)?;
    }
    write(&mut stream, &Message::Bound)?;
    let offset = compare_clocks(&mut stream, &sockets, &cookie)?;
    count(
        &mut stream,
        serving,
        &start,
        method,
        &sockets,
        granted_buffer,
        offset,
    )
}

/// Hears what a sender wants, and whether it may.
fn admit(stream: &mut TcpStream, serving: &Serving) -> Result<Start, EndsError> {
    let Message::Hello {
        version,
        nonce: of_sender,
    } = read(stream, FROM_SENDER)?
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
    let Message::Start(start) = read(stream, FROM_SENDER)? else {
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

fn refuse(stream: &mut TcpStream, reason: String) -> EndsError {
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
    let mut granted_buffer = 0;
    let mut sockets = Vec::with_capacity(start.flows);
    for _ in 0..start.flows {
        let socket = UdpSocket::bind(at).map_err(system("a flow's socket cannot be bound"))?;
        granted_buffer = prepare_receiver(&socket, method, RECEIVE_BUFFER)
            .map_err(|error| EndsError::Run(error.to_string()))?;
        if start.delays {
            stamp_arrivals(&socket).map_err(system("arrivals cannot be timed"))?;
        }
        sockets.push(socket);
    }
    Ok((sockets, granted_buffer))
}

/// Waits until a flow has introduced itself, and hears from nobody else afterwards.
fn await_introduction(
    socket: &UdpSocket,
    peer: SocketAddr,
    cookie: &Nonce,
) -> Result<(), EndsError> {
    let failed = "a flow's introduction cannot be received";
    let before = socket.read_timeout().map_err(system(failed))?;
    let end = Instant::now() + STEP;
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
    let Message::Begin { offset } = read(stream, FROM_SENDER)? else {
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
fn count(
    stream: &mut TcpStream,
    serving: &Serving,
    start: &Start,
    method: ReceiverMethod,
    sockets: &[UdpSocket],
    granted_buffer: usize,
    offset: i64,
) -> Result<(u64, Outcome), EndsError> {
    let stopwatch = Stopwatch::calibrated();
    let farewell = Farewell::default();
    let progress = Progress::default();
    let namespace = NamespaceCounters::read().ok();
    let (counting, is_counting) = std::sync::mpsc::channel();
    let receive = || {
        if let Some(cpu) = serving.cpu {
            set_affinity(&[cpu]).map_err(system("the receiver cannot be kept on its CPU"))?;
        }
        let _ = nap::shorten_timer_slack();
        let nap = (method != ReceiverMethod::Blocking).then(|| median_nap(NAP));
        let mut receiver = Receiver {
            sockets,
            method,
            policy: NapPolicy::new(Facts {
                nap: nap.unwrap_or_default(),
                granted_buffer: granted_buffer as u64,
                packet_size: start.packet_size as u64,
                packets_per_second: start.packets_per_second,
                // With many senders a spinning thread would keep the others away.
                shares_cpu: serving.most_senders > 1 || serving.cpu.is_none(),
            }),
            stopwatch: &stopwatch,
            silence: SILENCE,
            progress: &progress,
        };
        let failed = "this way of receiving cannot be had here";
        let mut intake = Intake::new(method, start.packet_size, start.flows, start.delays)
            .map_err(system(failed))?;
        let delays = || {
            let is_timed = start.packet_size >= SMALLEST_TIMED;
            start.delays.then(|| Delays::new(is_timed, offset))
        };
        let flows = (0..start.flows)
            .map(|_| FlowSeen::new(start.packet_size, start.first_number, delays()))
            .collect();
        let began = (stopwatch.read(), thread_cpu_time());
        // Nobody listens any more where the sender is gone already.
        let _ = counting.send(());
        let seen = receiver
            .run(&farewell, &mut intake, Received::nothing(flows))
            .map_err(system("the receiver cannot receive"))?;
        let end = End {
            cpu: serving.cpu.unwrap_or(0),
            cpu_nanoseconds: thread_cpu_time().saturating_sub(began.1).as_nanos() as f64,
            wall_nanoseconds: stopwatch.between(began.0, stopwatch.read()).as_nanos() as f64,
        };
        Ok::<_, EndsError>((seen, end, nap))
    };
    let (sent, received) = thread::scope(|scope| {
        let receiver = thread::Builder::new()
            .spawn_scoped(scope, receive)
            .map_err(system("no thread can be started"))?;
        let sent = if is_counting.recv().is_ok() {
            write(stream, &Message::Counting)
                .map_err(EndsError::from)
                .and_then(|()| await_end(stream, serving, start, &progress))
        } else {
            Err(EndsError::OutOfTurn)
        };
        // A sender that went away has nothing more to come.
        farewell.say(sent.as_ref().map_or(0, |sent| sent.iter().sum()));
        let received = receiver
            .join()
            .map_err(|_| EndsError::Run("the receiving thread ended unexpectedly".to_owned()));
        Ok::<_, EndsError>((sent?, received??))
    })?;
    let (seen, receiver, nap) = received;
    let total: u64 = sent.iter().sum();
    let packets = packets(&seen.flows, &sent);
    let namespace = NamespaceCounters::read().ok().zip(namespace);
    let namespace = namespace.map(|(now, then)| now.since(&then));
    let mut outcome = Outcome {
        received: packets.received,
        received_bytes: packets.received_bytes,
        lost: packets.lost,
        buffers: packets.buffers,
        strays: packets.strays,
        order: packets.order,
        seconds: seen
            .first
            .zip(seen.last)
            .map(|(first, last)| stopwatch.between(first, last).as_secs_f64()),
        receiver,
        nap_nanoseconds: nap.map(|nap| nap.as_nanos() as f64),
        naps: seen.naps,
        spinning: seen.spinning,
        granted_buffer_bytes: granted_buffer as u64,
        socket_drops: total_drops(sockets),
        receive_buffer_errors: namespace.map(|counts| counts.receive_buffer_errors),
        fragments: namespace.map(|counts| counts.fragments),
        reassembly_failures: namespace.map(|counts| counts.reassembly_failures),
        gaps: None,
        one_way: None,
        before_sent: 0,
    };
    add_delays(&mut outcome, seen.flows);
    write(stream, &Message::Outcome(Box::new(outcome.clone())))?;
    Ok((total, outcome))
}

/// The gaps and delays of all flows together.
fn add_delays(outcome: &mut Outcome, flows: Vec<FlowSeen>) {
    let mut all = flows.into_iter().filter_map(|flow| flow.delays);
    let Some(mut first) = all.next() else {
        return;
    };
    for other in all {
        first.gaps.merge(&other.gaps);
        first.before_sent += other.before_sent;
        if let (Some(one_way), Some(other)) = (&mut first.one_way, &other.one_way) {
            one_way.merge(other);
        }
    }
    outcome.gaps = Some(Buckets::of(&first.gaps));
    outcome.one_way = first.one_way.as_ref().map(Buckets::of);
    outcome.before_sent = first.before_sent;
}

/// Waits until the sender says that it is done, and tells it what has come so far where it asked.
fn await_end(
    stream: &mut TcpStream,
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
                stream
                    .set_read_timeout(Some(STEP))
                    .map_err(system("the control connection cannot be waited for"))?;
                return match read(stream, FROM_SENDER)? {
                    Message::Done { sent } if sent.len() == start.flows => Ok(sent),
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
            write(stream, &Message::SoFar { datagrams, bytes })?;
        }
    }
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted
    )
}
