//! The result of `knobstat udp send` as JSON: absent values are null with a reason beside them, and
//! every number is finite.

use knobstat_data::Evidence;
use knobstat_load::workloads::udp::ends::{Buckets, SoFar, TwoEnds};
use serde_json::{Map, Value as Json, json};

use super::QUANTILES;

/// The version of what is printed.
pub(super) const SCHEMA: &str = "knobstat.udp/1";

const NOT_ASKED: &str = "not measured: --delays was not given, or nothing arrived";

/// One direction.
pub(super) fn of(ends: &TwoEnds, intervals: &[SoFar]) -> Json {
    let mut metrics = Map::new();
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
        .filter(|so_far| so_far.direction == ends.direction)
        .map(interval)
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
    let evidence: Vec<Json> = ends.evidence.iter().map(evidence).collect();
    json!({
        "schema": SCHEMA,
        "direction": ends.direction,
        "sent": ends.sent,
        "received": ends.received,
        "lost": ends.lost,
        "order": order,
        "class": ends.class.to_string(),
        "datagrams_per_buffer": ends.datagrams_per_buffer,
        "limited_by": ends.limit,
        "metrics": metrics,
        "intervals": intervals,
        "clock_offset": offset,
        "round_trip": quantiles(Some(&ends.round_trip), "no question was answered"),
        "one_way": quantiles(ends.one_way.as_ref(), NOT_ASKED),
        "gaps": quantiles(ends.gaps.as_ref(), NOT_ASKED),
        "evidence": evidence,
        "notes": ends.notes,
    })
}

/// Both directions.
pub(super) fn of_both([forward, reverse]: &[TwoEnds; 2], intervals: &[SoFar]) -> Json {
    json!({
        "schema": SCHEMA,
        "direction": "both",
        "forward": of(forward, intervals),
        "reverse": of(reverse, intervals),
    })
}

fn interval(so_far: &SoFar) -> Json {
    let mut interval = json!({
        "seconds": so_far.seconds,
        "received": so_far.received,
        "received_bytes": so_far.received_bytes,
        "received_rate": so_far.packets_per_second(),
        "throughput": so_far.megabits_per_second(),
    });
    if so_far.packets_per_second().is_none() {
        interval["reason"] = json!(if so_far.length > 0.0 {
            "buffers were moved uncut: that is no packet rate"
        } else {
            "the interval has no length"
        });
    }
    interval
}

fn evidence(evidence: &Evidence) -> Json {
    let mut json = json!({
        "key": evidence.key,
        "scope": evidence.scope,
        "unit": evidence.unit.to_string(),
        "value": evidence.value.as_ref().ok().filter(|value| value.is_finite()),
    });
    if let Err(reason) = &evidence.value {
        json["reason"] = json!(reason);
    }
    json
}

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
