//! The workload `udp`: the sender, the link and the receiver of the machine file.

use knobstat_data::Parameters;
use knobstat_data::messages::RunSpec;
use knobstat_data::observation::{Failure, Limit, MetricValue};
use knobstat_data::words::{Better, Metric, Unit, Value};

use super::{Lack, STEP, Yield, cannot, seconds, times};
use crate::clocks::Reading;
use crate::evidence::Found;
use crate::machine::MachineFile;
use crate::network::{self, LinkRun, Load, Pacer, Quota};
use crate::random::Random;
use crate::settings::Settings;

pub(super) fn run(
    machine: &MachineFile,
    settings: &Settings,
    spec: &RunSpec,
    factor: f64,
    random: &mut Random,
) -> Result<Yield, Failure> {
    let network = machine
        .network
        .as_ref()
        .ok_or_else(|| cannot("the machine file has no [network] to send over; use another one"))?;
    let clock = machine
        .clocks
        .get(settings.clock)
        .ok_or_else(|| cannot("no clock source is in force"))?;
    let fine = Reading::of(clock, settings.hz, random.uniform());
    let asked = Asked(&spec.parameters);
    let reading = match asked.text("pacing_clock") {
        Some("coarse") => fine.coarse(settings.hz),
        _ => fine,
    };
    let load = asked.load(factor).map_err(cannot)?;
    let ran = network::run(network, reading, &load).map_err(cannot)?;
    let limit = limit(&load, &ran);
    Ok(Yield {
        metrics: metrics(&load, &ran, limit),
        evidence: evidence(&load, &ran, reading),
        times: times(ran.receiving, ran.sender_busy + ran.receiver_busy),
        notes: notes(&load, &ran, limit),
    })
}

pub(super) fn lacks(machine: &MachineFile, parameters: &Parameters) -> Option<Lack> {
    let lack = |parameter, reason: String, remedy: &str| {
        Some(Lack {
            parameter,
            reason,
            remedy: Some(remedy.to_owned()),
        })
    };
    let Some(network) = &machine.network else {
        return lack(
            "endpoints",
            "the machine file has no [network] to send over".to_owned(),
            "use another machine file",
        );
    };
    if let Some(Value::Integer(flows)) = parameters.get("flows")
        && *flows != 1
    {
        return lack(
            "flows",
            "a model has one flow".to_owned(),
            "leave `flows` out",
        );
    }
    if parameters.get("catch_up") == Some(&Value::Boolean(false)) {
        return lack(
            "catch_up",
            "a model's schedule makes up for missed times".to_owned(),
            "leave `catch_up` out",
        );
    }
    let load = match Asked(parameters).load(1.0) {
        Ok(load) => load,
        Err(reason) => return lack("rate", reason, "see the documentation of `rate`"),
    };
    match network::costs(network, &load.method, load.bytes) {
        Ok(_) => None,
        Err(error @ network::NetworkError::NoMethod { .. }) => {
            lack("method", error.to_string(), "leave that level out")
        }
        Err(error) => lack("packet_size", error.to_string(), "leave that level out"),
    }
}

/// The parameters as they were asked for.
struct Asked<'a>(&'a Parameters);

impl Asked<'_> {
    fn text(&self, name: &str) -> Option<&str> {
        match self.0.get(name) {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        }
    }

    fn load(&self, slowness: f64) -> Result<Load, String> {
        let bytes = match self.0.get("packet_size") {
            Some(Value::Size(bytes)) => bytes.0,
            _ => 64,
        };
        let rate = match self.0.get("rate") {
            Some(Value::PacketRate(rate)) => Some(*rate),
            Some(Value::BitRate(_)) if bytes == 0 => {
                return Err("a rate of bits says nothing of datagrams without payload; give datagrams a second".to_owned());
            }
            Some(Value::BitRate(rate)) => Some(rate.0 / (8.0 * bytes as f64)),
            _ => None,
        };
        let rate = rate.filter(|rate| rate.is_finite() && *rate > 0.0);
        let is_of_2007 = self.text("pacer") == Some("iperf2-2007");
        if is_of_2007 && rate.is_none() {
            return Err("the pacer of 2007 needs a rate; give one".to_owned());
        }
        let pacer = if is_of_2007 {
            Pacer::Iperf2
        } else {
            Pacer::Schedule
        };
        let quota = match (self.0.get("count"), self.0.get("duration")) {
            (Some(Value::Integer(count)), _) => Quota::Count(u64::try_from(*count).unwrap_or(1)),
            (_, Some(Value::Duration(duration))) => Quota::For(duration.as_nanos() as f64),
            _ => Quota::For(1e9),
        };
        let reads_per_packet = match self.0.get("clock_reads_per_packet") {
            Some(Value::Integer(reads)) => u32::try_from(*reads).unwrap_or(0),
            _ => 0,
        };
        Ok(Load {
            bytes: bytes as f64,
            method: self.text("method").unwrap_or("send").to_owned(),
            quota,
            pacing: rate.map(|rate| (pacer, rate)),
            reads_per_packet,
            slowness,
        })
    }
}

/// A wire that was busy for more than this share of the time was full.
const FULL: f64 = 0.985;

/// A rate this close to the asked one was kept.
const KEPT: f64 = 0.99;

/// A loss from this share on is the receiver's verdict.
const TELLING_SHARE: f64 = 0.001;

/// Who held the rate down: the same order of questions as for a real run, but the model knows how
/// busy the wire was.
fn limit(load: &Load, ran: &LinkRun) -> Limit {
    if (ran.sent - ran.received) as f64 > ran.sent as f64 * TELLING_SHARE {
        return Limit::Receiver;
    }
    let kept = |asked: f64| per_second(ran.sent as f64, ran.sending) >= asked * KEPT;
    if load.pacing.is_some_and(|(_, asked)| kept(asked)) {
        return Limit::Pacer;
    }
    if ran.wire_busy > FULL {
        return Limit::Link;
    }
    Limit::Sender
}

/// So many in so many nanoseconds, a second; 0 where no time passed.
fn per_second(count: f64, nanoseconds: f64) -> f64 {
    if nanoseconds > 0.0 {
        count / nanoseconds * 1e9
    } else {
        0.0
    }
}

fn metrics(load: &Load, ran: &LinkRun, limit: Limit) -> Vec<MetricValue> {
    let received_rate = per_second(ran.received as f64, ran.receiving);
    let (higher, lower) = (Better::Higher, Better::Lower);
    let packets = Unit::PACKETS_PER_SECOND;
    let mut metrics = Vec::new();
    for (name, unit, better, value) in [
        (
            "throughput",
            Unit::MEGABITS_PER_SECOND,
            higher,
            received_rate * 8.0 * load.bytes / 1e6,
        ),
        ("received_rate", packets.clone(), higher, received_rate),
        (
            "sent_rate",
            packets,
            higher,
            per_second(ran.sent as f64, ran.sending),
        ),
    ] {
        metrics.push(MetricValue {
            metric: metric(name, unit, better),
            value,
            limited_by: Some(limit),
            // A time wrong by a step makes a rate wrong by the same share.
            granularity: (ran.sending > 0.0).then(|| value * STEP * 1e9 / ran.sending),
        });
    }
    let lost = (ran.sent - ran.received) as f64;
    let mut plain = |name, unit, value| {
        metrics.push(MetricValue {
            metric: metric(name, unit, lower),
            value,
            limited_by: None,
            granularity: None,
        });
    };
    if ran.sent > 0 {
        plain("loss", Unit::SHARE, 100.0 * lost / ran.sent as f64);
        let each = ran.sender_busy / ran.sent as f64;
        plain("cpu_per_packet", Unit::NANOSECONDS, each);
    }
    if ran.received > 0 {
        let each = ran.receiver_busy / ran.received as f64;
        plain("receiver_cpu_per_packet", Unit::NANOSECONDS, each);
    }
    metrics.push(seconds("wall", ran.receiving));
    metrics.push(seconds("cpu", ran.sender_busy + ran.receiver_busy));
    metrics
}

fn metric(name: &str, unit: Unit, better: Better) -> Metric {
    Metric {
        name: name.to_owned(),
        unit,
        better,
        self_timed: false,
    }
}

fn evidence(load: &Load, ran: &LinkRun, clock: Reading) -> Vec<knobstat_data::Evidence> {
    let mut found = Found::default();
    found.count("packets.sent", ran.sent);
    found.count("packets.received", ran.received);
    found.count("packets.lost", ran.sent - ran.received);
    let busy = |busy: f64, of: f64| if of > 0.0 { 100.0 * busy / of } else { 0.0 };
    found.add(
        "cpu.busy",
        "sender",
        Unit::SHARE,
        busy(ran.sender_busy, ran.sending),
    );
    found.add(
        "cpu.busy",
        "receiver",
        Unit::SHARE,
        busy(ran.receiver_busy, ran.receiving),
    );
    found.add("link.busy", "run", Unit::SHARE, 100.0 * ran.wire_busy);
    found.count("sender.refusals", ran.refusals);
    found.add("clock.read_cost", "sender", Unit::NANOSECONDS, clock.cost());
    let Some((_, asked)) = load.pacing else {
        return found.0;
    };
    found.add(
        "pacer.clock_step",
        "sender",
        Unit::NANOSECONDS,
        clock.step(),
    );
    found.add(
        "pacer.asked_rate",
        "sender",
        Unit::PACKETS_PER_SECOND,
        asked,
    );
    if let Some(waits) = ran.waits {
        let per_packet = waits.microseconds_per_packet;
        found.count("pacer.whole_microseconds_per_packet", per_packet);
        found.count("pacer.waits", waits.waits);
        let mut count_or = |key: &str, value: Option<u64>, reason: &str| {
            let value = value.map(|value| value as f64);
            found.add_or(key, "run", Unit::COUNT, value, reason);
        };
        let unwaited = "it never waited";
        count_or("pacer.packets_per_wait", waits.packets_per_wait, unwaited);
        count_or("pacer.credited_per_wait", waits.credited_per_wait, unwaited);
        count_or(
            "pacer.packets_per_wait_predicted",
            network::packets_per_wait(clock.step(), per_packet),
            if per_packet == 0 {
                "less than a microsecond per packet is none: it never waits"
            } else {
                "the clock's step is shorter than the time per packet"
            },
        );
    }
    if let Some(keeping) = ran.keeping {
        found.count("pacer.late", keeping.late);
        let no_gap = "there was no second send";
        for (index, key) in ["pacer.gap_p01", "pacer.gap_p50", "pacer.gap_p99"]
            .into_iter()
            .enumerate()
        {
            let gap = keeping.gaps.map(|gaps| gaps[index] as f64);
            found.add_or(key, "sender", Unit::NANOSECONDS, gap, no_gap);
        }
        found.add_or(
            "pacer.gaps_within_a_tenth",
            "sender",
            Unit::SHARE,
            keeping.gaps_within_a_tenth.map(|share| 100.0 * share),
            no_gap,
        );
    }
    found.0
}

fn notes(load: &Load, ran: &LinkRun, limit: Limit) -> Vec<String> {
    let mut notes = Vec::new();
    match limit {
        Limit::Receiver => notes.push(format!(
            "the receiver was the limit: its buffer was full for {:.2} % of the datagrams sent",
            100.0 * (ran.sent - ran.received) as f64 / ran.sent.max(1) as f64
        )),
        Limit::Link => notes.push(format!(
            "the link was the limit: it was busy for {:.1} % of the time",
            100.0 * ran.wire_busy
        )),
        Limit::Sender | Limit::Pacer => {}
    }
    if load.method == "sendmmsg" {
        notes.push("a model sends by sendmmsg as by send, one datagram a call".to_owned());
    }
    notes
}
