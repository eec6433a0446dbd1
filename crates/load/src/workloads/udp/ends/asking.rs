//! The end that asks: from a receiver's address to both ends' view as one, whichever way the
//! datagrams go.

use std::net::TcpStream;
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use knobstat_sys::net::affinity::obtainable_cpus;

use super::super::decode;
use super::super::figures::Figures;
use super::super::options::{Length, Options};
use super::super::receiver::Progress;
use super::agreement::{Agreement, hear};
use super::counting::Counting;
use super::message::{self, Buckets, Direction, FROM_ASKED, Message, Outcome, Sending, write};
use super::offset::Offset;
use super::result::{TwoEnds, joined};
use super::sending::send_by;
use super::token::Token;
use super::{EndsError, Request, SoFar, system};

/// Sends or receives, and gathers what both ends saw. `tell` hears what has come so far at every
/// interval.
///
/// # Errors
/// When the receiver cannot be reached, refuses, or one of the ends fails.
pub fn send(
    request: &Request,
    direction: Direction,
    tell: &(dyn Fn(SoFar) + Sync),
) -> Result<TwoEnds, EndsError> {
    let options = read_options(request)?;
    let agreement = Agreement::reach(request, &options, direction)?;
    run(agreement, request, &options, tell).map(|ran| two_ends(&options, ran))
}

/// Both ways at once.
///
/// # Errors
/// As [`send`], of the first direction that fails.
pub fn send_both_ways(
    request: &Request,
    tell: &(dyn Fn(SoFar) + Sync),
) -> Result<[TwoEnds; 2], EndsError> {
    let options = read_options(request)?;
    // Both are ready before either begins.
    let forward = Agreement::reach(request, &options, Direction::Forward)?;
    let reverse = Agreement::reach(request, &options, Direction::Reverse)?;
    let (forward, reverse) = thread::scope(|scope| {
        let reverse = thread::Builder::new()
            .spawn_scoped(scope, || run(reverse, request, &options, tell))
            .map_err(system("no thread can be started"))?;
        let forward = run(forward, request, &options, tell);
        let reverse = reverse
            .join()
            .unwrap_or_else(|_| Err(EndsError::Run("a thread ended unexpectedly".to_owned())));
        Ok::<_, EndsError>((forward?, reverse?))
    })?;
    Ok([forward, reverse].map(|ran| two_ends(&options, ran)))
}

fn read_options(request: &Request) -> Result<Options, EndsError> {
    Options::read(&request.parameters).map_err(|error| EndsError::Request(error.to_string()))
}

/// A run as the workload does it: silent meanwhile.
///
/// # Errors
/// As [`send`].
pub(in super::super) fn figures(
    options: &Options,
    parameters: &knobstat_data::Parameters,
    receiver: &str,
) -> Result<Figures, EndsError> {
    let request = Request {
        parameters: parameters.clone(),
        receiver: receiver.to_owned(),
        token: std::env::var_os(TOKEN_FILE)
            .map(|path| Token::read(path.as_ref()))
            .transpose()
            .map_err(system("the token cannot be read"))?,
        interval: None,
        delays: false,
    };
    let agreement = Agreement::reach(&request, options, Direction::Forward)?;
    let ran = run(agreement, &request, options, &|_| {})?;
    Ok(joined(options, ran.sending, ran.outcome))
}

/// The variable that names the token's file, where the workload's receiver wants one.
const TOKEN_FILE: &str = "KNOBSTAT_TOKEN_FILE";

/// What a direction came to.
struct Ran {
    direction: Direction,
    sending: Sending,
    outcome: Outcome,
    offset: Option<Offset>,
    round_trip: Buckets,
}

fn two_ends(options: &Options, ran: Ran) -> TwoEnds {
    let (one_way, gaps) = (ran.outcome.one_way.clone(), ran.outcome.gaps.clone());
    let figures = joined(options, ran.sending, ran.outcome);
    let yielded = decode::yield_of(&figures);
    TwoEnds {
        direction: ran.direction,
        sent: figures.packets.sent,
        received: figures.packets.received,
        lost: figures.packets.lost,
        order: figures
            .packets
            .order
            .map(|order| (order.reordered, order.duplicated)),
        class: figures.route.class.letter(),
        datagrams_per_buffer: figures.route.datagrams_per_buffer,
        limit: decode::limit(&figures),
        metrics: yielded.metrics,
        evidence: yielded.evidence,
        notes: yielded.notes,
        offset: ran.offset,
        round_trip: ran.round_trip,
        one_way,
        gaps,
    }
}

fn run(
    agreement: Agreement,
    request: &Request,
    options: &Options,
    tell: &(dyn Fn(SoFar) + Sync),
) -> Result<Ran, EndsError> {
    let direction = agreement.start.direction;
    let (offset, round_trip) = (agreement.offset, agreement.round_trip.clone());
    let mut meanwhile = Meanwhile::new(direction, tell);
    let (sending, outcome, offset) = match direction {
        Direction::Forward => {
            let (sending, outcome) = forward(agreement, request, options, &mut meanwhile)?;
            (sending, outcome, offset)
        }
        Direction::Reverse => {
            let (sending, outcome) = reverse(agreement, request, options, &mut meanwhile)?;
            // Now the end that asked is the receiver.
            (sending, outcome, offset.map(Offset::reversed))
        }
    };
    Ok(Ran {
        direction,
        sending,
        outcome,
        offset,
        round_trip,
    })
}

/// This end sends.
fn forward(
    agreement: Agreement,
    request: &Request,
    options: &Options,
    meanwhile: &mut Meanwhile,
) -> Result<(Sending, Outcome), EndsError> {
    let Agreement {
        mut stream,
        sockets,
        offset,
        ..
    } = agreement;
    let begin = Message::Begin {
        offset: offset.map_or(0, |offset| offset.nanoseconds),
    };
    write(&mut stream, &begin)?;
    let Message::Counting = hear(&mut stream)? else {
        return Err(EndsError::OutOfTurn);
    };
    meanwhile.begin();
    let (cpu, every) = (options.sender_cpu, request.interval);
    let sending = send_by(sockets, options, cpu, request.delays, every, || {
        meanwhile.hear(&mut stream);
        ControlFlow::Continue(())
    })?;
    write(&mut stream, &Message::Done(Box::new(sending.clone())))?;
    loop {
        match hear(&mut stream)? {
            Message::SoFar {
                datagrams,
                bytes,
                buffers,
            } => meanwhile.tell(datagrams, bytes, buffers),
            Message::Outcome(outcome) => return Ok((sending, *outcome)),
            _ => return Err(EndsError::OutOfTurn),
        }
    }
}

/// The other end sends.
fn reverse(
    agreement: Agreement,
    request: &Request,
    options: &Options,
    meanwhile: &mut Meanwhile,
) -> Result<(Sending, Outcome), EndsError> {
    let stream = agreement.stream;
    let offset = agreement.offset.map_or(0, |offset| offset.nanoseconds);
    let cpus = obtainable_cpus().map_err(system("the CPUs cannot be told"))?;
    let counting = Counting {
        start: &agreement.start,
        method: options.receiver_method,
        sockets: &agreement.sockets,
        granted_buffer: agreement.granted_buffer,
        offset: offset.saturating_neg(),
        cpu: options.receiver_cpu,
        may_spin: cpus.len() > 1,
    };
    let mut sending = None;
    let begin = || Ok(write(&mut &stream, &Message::Begin { offset })?);
    let (_, outcome) = counting.count(begin, |progress| {
        meanwhile.begin();
        let done = await_done(&stream, request, options, progress, meanwhile)?;
        if !done.is_of_flows(options.flows) {
            return Err(EndsError::OutOfTurn);
        }
        let by_flow = done.by_flow.clone();
        sending = Some(done);
        Ok(by_flow)
    })?;
    let counted = Message::Counted {
        received: outcome.received,
        lost: outcome.lost,
    };
    write(&mut &stream, &counted)?;
    Ok((sending.ok_or(EndsError::OutOfTurn)?, outcome))
}

/// Waits until the other end has sent its last, and tells what has come so far meanwhile.
fn await_done(
    stream: &TcpStream,
    request: &Request,
    options: &Options,
    progress: &Progress,
    meanwhile: &mut Meanwhile,
) -> Result<Sending, EndsError> {
    let failed = "the control connection cannot be waited for";
    let patience = patience(options);
    let tick = request.interval.unwrap_or(patience).min(patience);
    let mut last_life = (Instant::now(), 0);
    loop {
        stream
            .set_read_timeout(Some(tick))
            .map_err(system(failed))?;
        match stream.peek(&mut [0]) {
            Ok(_) => {
                return match message::hear(stream, FROM_ASKED, super::ANSWER)? {
                    Message::Done(sending) => Ok(*sending),
                    Message::Refused { reason } => Err(EndsError::Refused(reason)),
                    _ => Err(EndsError::OutOfTurn),
                };
            }
            Err(error) if super::is_timeout(&error) => {}
            Err(error) => return Err(system("the other end is gone")(error)),
        }
        let seen = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
        let datagrams = seen(&progress.datagrams);
        if datagrams != last_life.1 {
            last_life = (Instant::now(), datagrams);
        }
        if last_life.0.elapsed() >= patience {
            return Err(EndsError::Run("the other end fell silent".to_owned()));
        }
        if request.interval.is_some() {
            meanwhile.tell(datagrams, seen(&progress.bytes), seen(&progress.buffers));
        }
    }
}

/// How long the other end may be silent: ten gaps of the asked rate, or until it should be done.
fn patience(options: &Options) -> Duration {
    let of_the_rate = options.pacing.rate().map(|rate| 10.0 / rate);
    let of_the_length = match options.length {
        Length::Duration(duration) => Some(duration.as_secs_f64()),
        Length::Count(_) => None,
    };
    let seconds = of_the_rate
        .unwrap_or(0.0)
        .min(of_the_length.unwrap_or(f64::INFINITY));
    super::ANSWER + Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX / 2)
}

/// What has come so far, told from one interval to the next.
struct Meanwhile<'a> {
    direction: Direction,
    tell: &'a (dyn Fn(SoFar) + Sync),
    began: Instant,
    last: (f64, [u64; 3]),
}

impl<'a> Meanwhile<'a> {
    fn new(direction: Direction, tell: &'a (dyn Fn(SoFar) + Sync)) -> Self {
        Self {
            direction,
            tell,
            began: Instant::now(),
            last: (0.0, [0; 3]),
        }
    }

    fn begin(&mut self) {
        self.began = Instant::now();
    }

    fn hear(&mut self, stream: &mut TcpStream) {
        // What cannot be heard now is heard at the end, or found out there.
        while is_pending(stream) {
            match message::hear(stream, FROM_ASKED, super::ANSWER) {
                Ok(Message::SoFar {
                    datagrams,
                    bytes,
                    buffers,
                }) => self.tell(datagrams, bytes, buffers),
                Ok(_) | Err(_) => return,
            }
        }
    }

    fn tell(&mut self, datagrams: u64, bytes: u64, buffers: u64) {
        let seconds = self.began.elapsed().as_secs_f64();
        let now = [datagrams, bytes, buffers];
        let (then, before) = self.last;
        let [received, received_bytes, buffers] =
            std::array::from_fn(|index| now[index].saturating_sub(before[index]));
        (self.tell)(SoFar {
            direction: self.direction,
            seconds,
            length: seconds - then,
            received,
            received_bytes,
            buffers,
        });
        self.last = (seconds, now);
    }
}

fn is_pending(stream: &TcpStream) -> bool {
    if stream.set_nonblocking(true).is_err() {
        return false;
    }
    let is_pending = stream.peek(&mut [0]).is_ok_and(|count| count > 0);
    stream.set_nonblocking(false).is_ok() && is_pending
}
