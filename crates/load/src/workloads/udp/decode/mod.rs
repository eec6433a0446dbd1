//! From a run's figures to metrics, evidence and sentences. Pure.

mod evidence;
mod notes;

use knobstat_data::Metric;
use knobstat_data::observation::{Failure, Limit, MetricValue};

use self::evidence::evidence;
use self::notes::notes;
use super::super::{Ended, Yield, built_in};
use super::figures::{Class, End, EnergyFigures, Figures};
use super::schema;
use super::verdict::{Pace, Seen};

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

/// Who the limit was.
pub(super) fn limit(figures: &Figures) -> Limit {
    seen(figures).limit()
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
        lost: figures.packets.lost,
        interface_drops: kernel.interface.map_or(0, |interface| interface.dropped),
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
        Some(seconds) => per_second(packets.received_bytes, seconds).map(|bytes| 8.0 * bytes / 1e6),
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
        (
            schema::ENERGY_PER_PACKET,
            energy_per_packet(&figures.energy, packets.sent).ok(),
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

/// Microjoules for each of so many packets.
fn energy_per_packet(energy: &EnergyFigures, packets: u64) -> Result<f64, String> {
    let joules = energy.0.clone()?;
    if packets == 0 {
        return Err("there was no packet".to_owned());
    }
    Ok(joules * 1e6 / packets as f64)
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
