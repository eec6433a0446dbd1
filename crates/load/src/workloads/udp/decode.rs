//! From a run's figures to metrics, evidence and sentences. Pure.

use knobstat_data::observation::{Failure, Limit, MetricValue};
use knobstat_data::{Evidence, Metric, Unit};

use super::super::{Ended, Yield, built_in};
use super::figures::{Class, End, Figures, PacerKind};
use super::pacer::schedule::step_is_fine;
use super::schema;
use super::verdict::{Pace, Seen};
use super::wire::SMALLEST_NUMBERED;

/// What a process that ended well has yielded.
pub(super) fn decode(ended: &Ended) -> Yield {
    let figures = built_in::result(ended).and_then(|result| {
        serde_json::from_value(result).map_err(|error| Failure::Workload {
            reason: format!("its figures cannot be read: {error}"),
        })
    });
    match figures {
        Ok(figures) => yield_of(&figures),
        Err(failure) => Yield::failed(failure),
    }
}

/// What figures amount to.
pub(super) fn yield_of(figures: &Figures) -> Yield {
    let seen = seen(figures);
    Yield {
        metrics: metrics(figures, seen.limit()),
        evidence: evidence(figures),
        notes: notes(figures, &seen),
        failure: None,
    }
}

fn seen(figures: &Figures) -> Seen {
    let kernel = &figures.kernel;
    Seen {
        sent: figures.packets.sent,
        receiver_drops: kernel
            .socket_drops
            .or(kernel.receive_buffer_errors)
            .unwrap_or(0),
        receiver_busy: figures.receiver.busy().unwrap_or(0.0),
        refusals: kernel.refusals,
        sender_busy: figures.sender.busy().unwrap_or(1.0),
        pacing: figures.pacer.as_ref().map(|pacer| Pace {
            asked: pacer.asked_packets_per_second,
            sent: per_second(figures.packets.sent, figures.sending_seconds)
                .unwrap_or(pacer.asked_packets_per_second),
        }),
    }
}

/// A rate; absent where no time passed.
fn per_second(count: u64, seconds: f64) -> Option<f64> {
    (seconds > 0.0).then(|| count as f64 / seconds)
}

fn metrics(figures: &Figures, limit: Limit) -> Vec<MetricValue> {
    let packets = &figures.packets;
    let received_rate = match figures.receiving_seconds {
        Some(seconds) => per_second(packets.received, seconds),
        None => Some(0.0),
    };
    let throughput = match figures.receiving_seconds {
        Some(seconds) => per_second(8 * packets.received_bytes, seconds).map(|bits| bits / 1e6),
        None => Some(0.0),
    };
    let per_packet =
        |end: &End, count: u64| (count > 0).then(|| end.cpu_nanoseconds / count as f64);
    let values = [
        (schema::THROUGHPUT, throughput),
        (schema::RECEIVED_RATE, received_rate),
        (
            schema::SENT_RATE,
            per_second(packets.sent, figures.sending_seconds),
        ),
        (schema::LOSS, Some(loss_percent(figures))),
        (
            schema::CPU_PER_PACKET,
            per_packet(&figures.sender, packets.sent),
        ),
        (
            schema::RECEIVER_CPU_PER_PACKET,
            per_packet(&figures.receiver, packets.received),
        ),
    ];
    (schema::SCHEMA.metrics)()
        .into_iter()
        .filter_map(|metric| {
            let value = values
                .iter()
                .filter(|(name, _)| figures.route.class != Class::D || !is_of_packets(name))
                .find(|(name, _)| *name == metric.name)
                .and_then(|(_, value)| *value)
                .filter(|value| value.is_finite())?;
            Some(value_of(figures, metric, value, limit))
        })
        .collect()
}

/// Whether a metric counts packets, which a run of class D moves none of.
fn is_of_packets(metric: &str) -> bool {
    metric != schema::THROUGHPUT && metric != schema::LOSS
}

fn value_of(figures: &Figures, metric: Metric, value: f64, limit: Limit) -> MetricValue {
    let of_time = matches!(
        metric.name.as_str(),
        schema::THROUGHPUT | schema::RECEIVED_RATE | schema::SENT_RATE
    );
    // A time wrong by a step makes a rate wrong by the same share.
    let granularity = of_time
        .then(|| value * figures.stopwatch_granularity_nanoseconds / 1e9 / figures.sending_seconds)
        .filter(|step| step.is_finite());
    MetricValue {
        metric: Metric {
            // Without a counter of its own the stopwatch is read through the clock source.
            self_timed: of_time && figures.stopwatch_caveat.is_some(),
            ..metric
        },
        value,
        limited_by: of_time.then_some(limit),
        granularity,
    }
}

/// The share of what was sent that did not arrive, 0 to 100.
fn loss_percent(figures: &Figures) -> f64 {
    let packets = &figures.packets;
    if packets.sent == 0 {
        return 0.0;
    }
    100.0 * packets.lost.min(packets.sent) as f64 / packets.sent as f64
}

/// Collects evidence.
struct Found(Vec<Evidence>);

impl Found {
    fn add(&mut self, key: &str, scope: &str, unit: Unit, value: Result<f64, &str>) {
        self.0.push(Evidence {
            key: key.to_owned(),
            scope: scope.to_owned(),
            unit,
            value: value.map_err(str::to_owned),
        });
    }

    fn count(&mut self, key: &str, value: u64) {
        self.add(key, "run", Unit::COUNT, Ok(value as f64));
    }

    fn count_or(&mut self, key: &str, value: Option<u64>, reason: &str) {
        let value = value.map(|value| value as f64).ok_or(reason);
        self.add(key, "run", Unit::COUNT, value);
    }
}

fn evidence(figures: &Figures) -> Vec<Evidence> {
    let mut found = Found(Vec::new());
    packets(&mut found, figures);
    for (scope, end) in [("sender", &figures.sender), ("receiver", &figures.receiver)] {
        let busy = end.busy().map(|share| 100.0 * share);
        found.add("cpu.number", scope, Unit::COUNT, Ok(f64::from(end.cpu)));
        found.add("cpu.busy", scope, Unit::SHARE, busy.ok_or("no time passed"));
    }
    waiting(&mut found, figures);
    kernel(&mut found, figures);
    route(&mut found, figures);
    pacing(&mut found, figures);
    found.0
}

fn packets(found: &mut Found, figures: &Figures) {
    let packets = &figures.packets;
    found.count("packets.sent", packets.sent);
    found.count("packets.received", packets.received);
    found.count("packets.lost", packets.lost);
    let reason = format!(
        "datagrams of {} bytes are too small to carry a number of {SMALLEST_NUMBERED}",
        figures.packet_size_bytes
    );
    let order = packets.order;
    found.count_or(
        "packets.reordered",
        order.map(|order| order.reordered),
        &reason,
    );
    found.count_or(
        "packets.duplicated",
        order.map(|order| order.duplicated),
        &reason,
    );
    found.count("packets.buffers", packets.buffers);
    if packets.strays > 0 {
        found.count("packets.strays", packets.strays);
    }
    if let Some(order) = order {
        if order.too_late > 0 {
            found.count("packets.too_late", order.too_late);
        }
        if order.foreign > 0 {
            found.count("packets.foreign", order.foreign);
        }
    }
}

fn waiting(found: &mut Found, figures: &Figures) {
    let waiting = &figures.waiting;
    let bytes = |value: u64| Ok(value as f64);
    found.add(
        "receiver.buffer",
        "receiver",
        Unit::BYTES,
        bytes(waiting.granted_buffer_bytes),
    );
    found.add(
        "receiver.nap",
        "receiver",
        Unit::NANOSECONDS,
        waiting.nap_nanoseconds.ok_or("this receiver blocks"),
    );
    found.count("receiver.naps", waiting.naps);
    found.count("receiver.spinning", u64::from(waiting.spinning));
}

fn kernel(found: &mut Found, figures: &Figures) {
    let kernel = &figures.kernel;
    let unreadable = "/proc/self/net cannot be read";
    found.count_or(
        "receiver.drops",
        kernel.socket_drops,
        "this kernel does not tell a socket's drops (SO_MEMINFO)",
    );
    found.count_or(
        "udp.receive_buffer_errors",
        kernel.receive_buffer_errors,
        unreadable,
    );
    found.count_or(
        "udp.send_buffer_errors",
        kernel.send_buffer_errors,
        unreadable,
    );
    found.count_or("ip.fragments_received", kernel.fragments, unreadable);
    found.count_or(
        "ip.reassembly_failures",
        kernel.reassembly_failures,
        unreadable,
    );
    found.count_or("interface.packets", kernel.interface_packets, unreadable);
    found.count("sender.refusals", kernel.refusals);
}

fn route(found: &mut Found, figures: &Figures) {
    let route = &figures.route;
    found.add("route.mtu", "run", Unit::BYTES, Ok(route.mtu_bytes as f64));
    found.count("route.fragments_per_packet", route.fragments_per_packet);
    found.count("sender.datagrams_per_buffer", route.datagrams_per_buffer);
    let class = match route.class {
        Class::A => 1.0,
        Class::B => 2.0,
        Class::C => 3.0,
        Class::D => 4.0,
    };
    found.add(
        "sender.class",
        "sender",
        Unit::new("A=1, B=2, C=3, D=4"),
        Ok(class),
    );
}

fn pacing(found: &mut Found, figures: &Figures) {
    if let Some(clock) = &figures.pacing_clock {
        let step = clock.step_nanoseconds.map(|step| step as f64);
        found.add(
            "pacer.clock_step",
            "sender",
            Unit::NANOSECONDS,
            step.ok_or("the pacing clock was not seen to move"),
        );
    }
    let Some(pacer) = &figures.pacer else {
        return;
    };
    found.add(
        "pacer.asked_rate",
        "sender",
        Unit::PACKETS_PER_SECOND,
        Ok(pacer.asked_packets_per_second),
    );
    match pacer.kind {
        PacerKind::Schedule {
            late,
            gap_nanoseconds,
            gaps_within_a_tenth,
        } => {
            found.count("pacer.late", late);
            let no_gap = "there was no second send";
            for (index, key) in ["pacer.gap_p01", "pacer.gap_p50", "pacer.gap_p99"]
                .into_iter()
                .enumerate()
            {
                let gap = gap_nanoseconds.map(|gaps| gaps[index] as f64);
                found.add(key, "sender", Unit::NANOSECONDS, gap.ok_or(no_gap));
            }
            found.add(
                "pacer.gaps_within_a_tenth",
                "sender",
                Unit::SHARE,
                gaps_within_a_tenth.map(|share| 100.0 * share).ok_or(no_gap),
            );
        }
        PacerKind::Iperf2 {
            microseconds_per_packet,
            waits,
            packets_per_wait,
            credited_per_wait,
            packets_per_wait_predicted,
        } => {
            found.count(
                "pacer.whole_microseconds_per_packet",
                microseconds_per_packet,
            );
            found.count("pacer.waits", waits);
            let unwaited = "it never waited";
            found.count_or("pacer.packets_per_wait", packets_per_wait, unwaited);
            found.count_or("pacer.credited_per_wait", credited_per_wait, unwaited);
            found.count_or(
                "pacer.packets_per_wait_predicted",
                packets_per_wait_predicted,
                if microseconds_per_packet == 0 {
                    "less than a microsecond per packet is none: it never waits"
                } else {
                    "the clock's step is shorter than the time per packet"
                },
            );
        }
    }
}

fn notes(figures: &Figures, seen: &Seen) -> Vec<String> {
    let mut notes = Vec::new();
    notes.extend(seen.sentence());
    if !figures.receiver_elsewhere && figures.sender.cpu == figures.receiver.cpu {
        notes.push(format!(
            "sender and receiver shared CPU {}: each figure is one of both together",
            figures.sender.cpu
        ));
    }
    notes.extend(figures.stopwatch_caveat.clone());
    let route = &figures.route;
    let buffers = match route.class {
        Class::A => None,
        Class::B => Some("cut before the link"),
        Class::C => Some("cut at the receiving socket"),
        Class::D => Some("never cut"),
    };
    if let Some(where_cut) = buffers {
        notes.push(format!(
            "datagrams went in buffers of up to {}, {where_cut} (class {:?}): not to be compared \
             with datagrams that each walk down the stack",
            route.datagrams_per_buffer, route.class
        ));
    }
    if route.class == Class::D {
        notes.push(format!(
            "no packet rate is shown: what was moved are {} buffers, {:.1} datagrams each",
            figures.packets.buffers,
            figures.packets.received as f64 / figures.packets.buffers.max(1) as f64
        ));
    }
    if route.fragments_per_packet > 1 {
        notes.push(format!(
            "the route's MTU is {} bytes: each datagram went as {} fragments",
            route.mtu_bytes, route.fragments_per_packet
        ));
    }
    notes.extend(coarse_clock(figures));
    notes
}

/// What is to be said where the pacing clock is too coarse for the schedule.
fn coarse_clock(figures: &Figures) -> Option<String> {
    let pacer = figures.pacer.as_ref()?;
    let PacerKind::Schedule { late, .. } = pacer.kind else {
        return None;
    };
    let step = figures.pacing_clock.as_ref()?.step_nanoseconds?;
    if step_is_fine(step, pacer.asked_packets_per_second) {
        return None;
    }
    Some(format!(
        "the pacing clock moves in steps of {:.1} us, more than a quarter of the gap of {:.1} us: \
         the rate holds, the gaps do not ({late} of {} datagrams were late)",
        step as f64 / 1e3,
        1e6 / pacer.asked_packets_per_second,
        figures.packets.sent
    ))
}
