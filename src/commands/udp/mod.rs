//! `knobstat udp recv` and `knobstat udp send`: the load generator by itself, between two hosts.

mod json;
mod text;

use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};

use knobstat_data::experiment::Rate;
use knobstat_data::{Parameters, Value};
use knobstat_load::workloads::udp::ends::{
    self, Direction, EndsError, Event, Request, Serving, SoFar, Token,
};
use serde_json::json;

use super::survey::print_json;
use crate::arguments::{Udp, UdpReceive, UdpSend};
use crate::output;
use crate::trouble::{Exit, Trouble};

/// Does what is asked for.
pub fn run(udp: &Udp) -> Result<(), Trouble> {
    match udp {
        Udp::Recv(receive) => serve(receive),
        Udp::Send(send) => send_to(send),
    }
}

fn token(path: Option<&std::path::PathBuf>) -> Result<Option<Token>, Trouble> {
    path.map(|path| {
        Token::read(path).map_err(|error| {
            Trouble::request(
                format!("the token in {} cannot be had ({error})", path.display()),
                "Write at least eight bytes that nobody can guess into a file, the same on both sides.",
            )
        })
    })
    .transpose()
}

fn trouble(error: &EndsError) -> Trouble {
    let exit = match error {
        EndsError::Request(_) => Exit::Request,
        _ => Exit::RunsFailed,
    };
    Trouble::new(exit, error.to_string(), "")
}

fn serve(arguments: &UdpReceive) -> Result<(), Trouble> {
    let serving = Serving {
        listen: SocketAddr::new(arguments.bind, arguments.port),
        token: token(arguments.token_file.as_ref())?,
        most_senders: usize::from(arguments.most_senders),
        most_per_address: usize::from(arguments.most_per_address),
        idle: arguments.idle,
        senders: arguments.senders,
        cpu: arguments.cpu,
    };
    ends::serve(&serving, &|event| tell(&event, arguments.json)).map_err(|error| trouble(&error))
}

/// One line an event. Whoever reads may have gone away: the senders are still served.
fn tell(event: &Event, is_json: bool) {
    let (json, text) = match event {
        Event::Listening(address) => (
            json!({ "event": "listening", "address": address.to_string() }),
            format!("listening at {address}"),
        ),
        Event::Served {
            peer,
            direction,
            sent,
            received,
            lost,
            receiver_was_the_limit,
        } => (
            json!({
                "event": "served", "peer": peer.to_string(), "direction": direction,
                "sent": sent, "received": received, "lost": lost,
                "receiver_was_the_limit": receiver_was_the_limit,
            }),
            format!(
                "{peer}: {received} of {sent} datagrams received, {lost} lost{}{}",
                match direction {
                    Direction::Forward => "",
                    Direction::Reverse => ", sent from here",
                },
                if *receiver_was_the_limit {
                    "; this receiver was the limit"
                } else {
                    ""
                }
            ),
        ),
        Event::Dropped { peer, reason } => (
            json!({ "event": "dropped", "peer": peer.to_string(), "reason": reason }),
            format!("{peer}: dropped: {reason}"),
        ),
    };
    let _ = output::result(&if is_json { json.to_string() } else { text });
}

fn parameters(arguments: &UdpSend) -> Parameters {
    let word = |text: &str| Value::Text(text.to_owned());
    let mut parameters = Parameters::from([
        ("packet_size".to_owned(), Value::Size(arguments.packet_size)),
        ("method".to_owned(), word(&arguments.method)),
        (
            "receiver_method".to_owned(),
            word(&arguments.receiver_method),
        ),
        // Where the sender may be bound to depends on it.
        (
            "endpoints".to_owned(),
            Value::Table([("receiver".to_owned(), word(&arguments.receiver))].into()),
        ),
        ("flows".to_owned(), Value::Integer(arguments.flows)),
        ("dscp".to_owned(), Value::Integer(arguments.dscp)),
        ("duration".to_owned(), Value::Duration(arguments.duration)),
        (
            "catch_up".to_owned(),
            Value::Boolean(!arguments.no_catch_up),
        ),
        (
            "receive_buffer".to_owned(),
            Value::Size(arguments.receive_buffer),
        ),
        (
            "first_number".to_owned(),
            Value::Integer(arguments.first_number),
        ),
    ]);
    if let Some(rate) = arguments.rate {
        let rate = match rate {
            Rate::Packets(rate) => Value::PacketRate(rate),
            Rate::Bits(rate) => Value::BitRate(rate),
        };
        parameters.insert("rate".to_owned(), rate);
    }
    if let Some(count) = arguments.count {
        parameters.insert("count".to_owned(), Value::Integer(count));
    }
    if let Some(bind) = arguments.bind {
        parameters.insert("bind".to_owned(), word(&bind.to_string()));
    }
    if let Some(cpu) = arguments.cpu {
        // This machine's end has it, whichever that is.
        if !arguments.reverse {
            parameters.insert("sender_cpu".to_owned(), Value::Integer(cpu.into()));
        } else {
            parameters.insert("receiver_cpu".to_owned(), Value::Integer(cpu.into()));
        }
    }
    parameters
}

fn send_to(arguments: &UdpSend) -> Result<(), Trouble> {
    let request = Request {
        parameters: parameters(arguments),
        receiver: arguments.receiver.clone(),
        token: token(arguments.token_file.as_ref())?,
        interval: (!arguments.quiet).then_some(arguments.interval),
        delays: arguments.delays,
    };
    let intervals = Mutex::new(Vec::<SoFar>::new());
    let held = || intervals.lock().unwrap_or_else(PoisonError::into_inner);
    let tell = |so_far: SoFar| {
        let mut intervals = held();
        intervals.push(so_far);
        if !arguments.json {
            let same = intervals
                .iter()
                .filter(|other| other.direction == so_far.direction);
            let total = same.map(|other| other.received).sum();
            output::message(&text::interval(&so_far, total, arguments));
        }
    };
    if arguments.both {
        let ends = ends::send_both_ways(&request, &tell).map_err(|error| trouble(&error))?;
        return if arguments.json {
            print_json(&json::of_both(&ends, &held()))
        } else {
            output::result(&ends.each_ref().map(text::of).join("\n\n"))
        };
    }
    let direction = if arguments.reverse {
        Direction::Reverse
    } else {
        Direction::Forward
    };
    let ends = ends::send(&request, direction, &tell).map_err(|error| trouble(&error))?;
    if arguments.json {
        print_json(&json::of(&ends, &held()))
    } else {
        output::result(&text::of(&ends))
    }
}

/// The quantiles that are shown.
const QUANTILES: [(&str, f64); 6] = [
    ("min", 0.0),
    ("p50", 0.5),
    ("p90", 0.9),
    ("p99", 0.99),
    ("p99.9", 0.999),
    ("max", 1.0),
];
