//! `knobstat udp recv` and `knobstat udp send`: the load generator by itself, between two hosts.

use std::net::SocketAddr;

use knobstat_data::words::Bytes;
use knobstat_data::{Parameters, Value};
use knobstat_load::workloads::udp::ends::{
    self, Buckets, EndsError, Event, Request, Serving, SoFar, Token, TwoEnds,
};
use serde_json::{Value as Json, json};

use super::survey::{print_json, time};
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
            sent,
            received,
            lost,
        } => (
            json!({
                "event": "served", "peer": peer.to_string(),
                "sent": sent, "received": received, "lost": lost,
            }),
            format!("{peer}: {received} of {sent} datagrams received, {lost} lost"),
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
        (
            "packet_size".to_owned(),
            Value::Size(Bytes(arguments.packet_size)),
        ),
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
    ]);
    if let Some(rate) = arguments.rate {
        parameters.insert("rate".to_owned(), Value::PacketRate(rate));
    }
    if let Some(count) = arguments.count {
        parameters.insert("count".to_owned(), Value::Integer(count));
    }
    if let Some(bind) = arguments.bind {
        parameters.insert("bind".to_owned(), word(&bind.to_string()));
    }
    if let Some(cpu) = arguments.cpu {
        parameters.insert("sender_cpu".to_owned(), Value::Integer(cpu.into()));
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
    let mut intervals = Vec::new();
    let sent = ends::send(&request, &mut |so_far| {
        if !arguments.json {
            output::message(&interval_line(&so_far));
        }
        intervals.push(so_far);
    });
    let ends = sent.map_err(|error| trouble(&error))?;
    if arguments.json {
        print_json(&as_json(&ends, &intervals))
    } else {
        output::result(&render(&ends))
    }
}

fn interval_line(so_far: &SoFar) -> String {
    format!(
        "{:8.2} s  {:>12} received  {:>12.0} packets/s",
        so_far.seconds, so_far.received, so_far.received_rate
    )
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

fn quantiles(buckets: Option<&Buckets>, reason: &str) -> Json {
    match buckets.filter(|buckets| buckets.total() > 0) {
        None => json!({ "nanoseconds": null, "reason": reason }),
        Some(buckets) => {
            let values =
                QUANTILES.map(|(name, share)| (name.to_owned(), json!(buckets.quantile(share))));
            json!({
                "count": buckets.total(),
                "nanoseconds": Json::Object(values.into_iter().collect()),
                "histogram": buckets.0,
            })
        }
    }
}

/// Absent values are null with a reason beside them; every number is finite.
fn as_json(ends: &TwoEnds, intervals: &[SoFar]) -> Json {
    let mut metrics = serde_json::Map::new();
    for value in &ends.metrics {
        metrics.insert(
            value.metric.name.clone(),
            json!({
                "unit": value.metric.unit.to_string(),
                "value": value.value,
                "limited_by": value.limited_by,
            }),
        );
    }
    let intervals: Vec<Json> = intervals
        .iter()
        .map(|so_far| {
            json!({
                "seconds": so_far.seconds,
                "received": so_far.received,
                "received_bytes": so_far.received_bytes,
                "received_rate": so_far.received_rate,
            })
        })
        .collect();
    let order = match ends.order {
        Some((reordered, duplicated)) => {
            json!({ "reordered": reordered, "duplicated": duplicated })
        }
        None => json!({
            "reordered": null, "duplicated": null,
            "reason": "datagrams below 8 bytes carry no number",
        }),
    };
    let offset = match ends.offset {
        Some(offset) => json!({
            "nanoseconds": offset.nanoseconds,
            "uncertainty_nanoseconds": offset.uncertainty_nanoseconds,
        }),
        None => json!({ "nanoseconds": null, "reason": "no question was answered" }),
    };
    json!({
        "schema": "knobstat.udp/1",
        "sent": ends.sent,
        "received": ends.received,
        "lost": ends.lost,
        "order": order,
        "class": ends.class.to_string(),
        "datagrams_per_buffer": ends.datagrams_per_buffer,
        "metrics": metrics,
        "intervals": intervals,
        "clock_offset": offset,
        "round_trip": quantiles(Some(&ends.round_trip), "no question was answered"),
        "one_way": quantiles(ends.one_way.as_ref(), NOT_ASKED),
        "gaps": quantiles(ends.gaps.as_ref(), NOT_ASKED),
        "notes": ends.notes,
    })
}

const NOT_ASKED: &str = "not measured: --delays was not given, or nothing arrived";

fn render(ends: &TwoEnds) -> String {
    let share = 100.0 * ends.lost as f64 / ends.sent.max(1) as f64;
    let mut lines = vec![format!(
        "sent {}, received {}, lost {} ({share:.2} %){}",
        ends.sent,
        ends.received,
        ends.lost,
        match ends.order {
            Some((reordered, duplicated)) =>
                format!(", reordered {reordered}, duplicated {duplicated}"),
            None => ", order unknown: datagrams below 8 bytes carry no number".to_owned(),
        }
    )];
    lines.push(format!(
        "class {}, up to {} datagrams a buffer",
        ends.class, ends.datagrams_per_buffer
    ));
    for value in &ends.metrics {
        let limit = value
            .limited_by
            .map(|limit| format!("  (limited by the {})", format!("{limit:?}").to_lowercase()))
            .unwrap_or_default();
        lines.push(format!(
            "{:24} {:>14.2} {}{limit}",
            value.metric.name, value.value, value.metric.unit
        ));
    }
    for (name, buckets) in [
        ("round trip", Some(&ends.round_trip)),
        ("one way", ends.one_way.as_ref()),
        ("gaps", ends.gaps.as_ref()),
    ] {
        lines.extend(buckets.and_then(|buckets| quantile_line(name, buckets)));
    }
    if let Some(offset) = ends.offset {
        lines.push(format!(
            "the receiver's clock is {} ns ahead, give or take {} ns",
            offset.nanoseconds, offset.uncertainty_nanoseconds
        ));
    }
    lines.extend(ends.notes.iter().cloned());
    lines.join("\n")
}

fn quantile_line(name: &str, buckets: &Buckets) -> Option<String> {
    let values: Option<Vec<String>> = QUANTILES
        .iter()
        .map(|(quantile, share)| {
            let value = buckets.quantile(*share)?;
            Some(format!("{quantile} {}", time(value as f64)))
        })
        .collect();
    Some(format!("{name:12} {}", values?.join("  ")))
}
