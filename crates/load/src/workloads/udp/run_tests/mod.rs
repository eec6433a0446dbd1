//! The workload as a whole: short runs over the machine's own loopback interface, from parameters
//! to metrics. What they assert are relations; a loaded machine may lose, lag and reorder.

mod counts;
mod of_2007;
mod pair;
mod receiving;
mod schedule;

use std::time::Duration;

use knobstat_data::words::Bytes;
use knobstat_data::{Parameters, Value};

use super::super::Yield;
use super::super::built_in::ended;
use super::availability::lacks;
use super::figures::Figures;
use super::{decode, work};

fn parameters<const N: usize>(given: [(&str, Value); N]) -> Parameters {
    given
        .map(|(name, value)| (name.to_owned(), value))
        .into_iter()
        .collect()
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

fn size(bytes: u64) -> Value {
    Value::Size(Bytes(bytes))
}

fn figures<const N: usize>(given: [(&str, Value); N]) -> (Figures, Yield) {
    decoded(work(&parameters(given)).unwrap())
}

/// Whether these can be had here: a kernel or a container may refuse io_uring.
fn can_be_had<const N: usize>(given: [(&str, Value); N]) -> bool {
    let lack = lacks(&parameters(given));
    if let Some(lack) = &lack {
        eprintln!("skipped: {lack:?}");
    }
    lack.is_none()
}

fn decoded(result: serde_json::Value) -> (Figures, Yield) {
    let figures = serde_json::from_value(result.clone()).unwrap();
    let ended = ended(&serde_json::json!({ "result": result }).to_string());
    (figures, decode::decode(&ended))
}

/// What holds of every run.
fn check(figures: &Figures, yielded: &Yield) {
    let packets = &figures.packets;
    let duplicated = packets.order.map_or(0, |order| order.duplicated);
    assert!(packets.lost <= packets.sent, "{packets:?}");
    assert_eq!(
        packets.received - duplicated + packets.lost,
        packets.sent,
        "{packets:?}"
    );
    assert_eq!(
        packets.received_bytes,
        packets.received * figures.packet_size_bytes
    );
    assert_eq!(yielded.failure, None);
    let metric = |name: &str| {
        let found = yielded
            .metrics
            .iter()
            .find(|value| value.metric.name == name);
        found.unwrap_or_else(|| panic!("no metric {name}")).value
    };
    assert_eq!(yielded.metrics[0].metric.name, "throughput");
    assert!((0.0..=100.0).contains(&metric("loss")));
    assert!(metric("sent_rate") > 0.0);
    assert!(metric("received_rate") <= metric("sent_rate") * (1.0 + 1e-9) || duplicated > 0);
    assert!(metric("throughput") >= 0.0);
    let megabits = metric("received_rate") * 8.0 * figures.packet_size_bytes as f64 / 1e6;
    assert!((metric("throughput") - megabits).abs() <= 1e-9 * megabits);
}

fn evidence(yielded: &Yield, key: &str) -> Result<f64, String> {
    yielded
        .evidence
        .iter()
        .find(|evidence| evidence.key == key)
        .unwrap_or_else(|| panic!("no evidence {key}"))
        .value
        .clone()
}
