//! The result of `knobstat udp send` for a person, and the lines meanwhile.

use std::fmt::Write as _;

use knobstat_load::workloads::udp::ends::{Buckets, Direction, SoFar, TwoEnds};

use super::super::survey::time;
use super::QUANTILES;
use crate::arguments::UdpSend;

/// Which way the datagrams go, seen from here.
pub(super) fn way(direction: Direction) -> &'static str {
    match direction {
        Direction::Forward => "to the receiver",
        Direction::Reverse => "from the receiver",
    }
}

/// A line of what has come so far, and how far that is: `total` datagrams since the beginning.
pub(super) fn interval(so_far: &SoFar, total: u64, arguments: &UdpSend) -> String {
    let mut line = match arguments.count {
        Some(count) => format!("{:8.2} s  {total} of {count}", so_far.seconds),
        None => format!(
            "{:8.2} of {} s",
            so_far.seconds,
            arguments.duration.as_secs_f64()
        ),
    };
    let _ = write!(line, "  {:>12} received", so_far.received);
    if let Some(rate) = so_far.packets_per_second() {
        let _ = write!(line, "  {rate:>12.0} packets/s");
    }
    if let Some(throughput) = so_far.megabits_per_second() {
        let _ = write!(line, "  {throughput:>12.2} Mbit/s");
    }
    if arguments.both {
        let _ = write!(line, "  {}", way(so_far.direction));
    }
    line
}

/// One direction.
pub(super) fn of(ends: &TwoEnds) -> String {
    let share = 100.0 * ends.lost as f64 / ends.sent.max(1) as f64;
    let mut lines = vec![format!(
        "received {} of {} datagrams {}, lost {} ({share:.2} %){}",
        ends.received,
        ends.sent,
        way(ends.direction),
        ends.lost,
        match ends.order {
            Some((reordered, duplicated)) =>
                format!(", reordered {reordered}, duplicated {duplicated}"),
            None => ", order unknown: datagrams below 8 bytes carry no number".to_owned(),
        }
    )];
    lines.push(format!(
        "class {}, {}",
        ends.class,
        match ends.datagrams_per_buffer {
            0 | 1 => "one datagram a buffer".to_owned(),
            most => format!("up to {most} datagrams a buffer"),
        }
    ));
    for value in &ends.metrics {
        let limit = value
            .limited_by
            .map(|limit| format!("  (limited by the {})", limit.word()))
            .unwrap_or_default();
        lines.push(format!(
            "{:24} {:>14.2} {}{limit}",
            value.metric.name, value.value, value.metric.unit
        ));
    }
    lines.extend(pacer(ends));
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

/// What the pacer did, where there was one.
fn pacer(ends: &TwoEnds) -> Option<String> {
    let found = |key: &str| {
        let evidence = ends.evidence.iter().find(|evidence| evidence.key == key)?;
        evidence.value.as_ref().ok().copied()
    };
    let (asked, late) = (found("pacer.asked_rate")?, found("pacer.late")?);
    let passed = if found("pacer.catch_up")? > 0.0 {
        format!("{late} went when the next was due, to catch up")
    } else {
        format!("{} times were given up", found("pacer.skipped")?)
    };
    let gaps = found("pacer.gaps_within_a_tenth")
        .map(|share| format!("; {share:.1} % of the gaps within a tenth"))
        .unwrap_or_default();
    Some(format!("paced at {asked} packets/s: {passed}{gaps}"))
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
