//! Decoding, on figures that no machine need produce.

use knobstat_data::observation::Limit;
use serde_json::{Value, json};

use super::super::Yield;
use super::decode::yield_of;
use super::figures::Figures;

/// A clean run of 1000 datagrams of 64 bytes within 10 ms, changed at one place.
fn figures(at: &str, value: Value) -> Figures {
    let mut figures = json!({
        "packet_size_bytes": 64,
        "packets": {
            "sent": 1000, "received": 1000, "received_bytes": 64_000, "lost": 0,
            "buffers": 1000, "strays": 0,
            "order": { "reordered": 0, "duplicated": 0, "too_late": 0, "foreign": 0 },
        },
        "stopwatch": "tsc",
        "stopwatch_caveat": null,
        "stopwatch_granularity_nanoseconds": 10.0,
        "sending_seconds": 0.01,
        "receiving_seconds": 0.01,
        "sender": { "cpu": 0, "cpu_nanoseconds": 1e7, "wall_nanoseconds": 1e7 },
        "receiver": { "cpu": 1, "cpu_nanoseconds": 2e6, "wall_nanoseconds": 1e7 },
        "ends_apart": false,
        "waiting": {
            "nap_nanoseconds": 210_000.0, "naps": 40, "spinning": false,
            "asked_buffer_bytes": 4_194_304, "granted_buffer_bytes": 8_388_608,
        },
        "kernel": {
            "socket_drops": 0, "receive_buffer_errors": 0, "send_buffer_errors": 0,
            "fragments": 0, "reassembly_failures": 0, "interface": { "packets": 1000, "dropped": 0 },
            "refusals": 0,
        },
        "route": {
            "mtu_bytes": 65_536, "fragments_per_packet": 1, "datagrams_per_buffer": 1,
            "class": "A",
        },
        "pacer": null,
        "pacing_clock": null,
        "energy": { "Ok": 0.05 },
        "receiver_energy": null,
    });
    *figures.pointer_mut(at).unwrap() = value;
    serde_json::from_value(figures).unwrap()
}

fn metric(yielded: &Yield, name: &str) -> Option<f64> {
    yielded
        .metrics
        .iter()
        .find(|value| value.metric.name == name)
        .map(|value| value.value)
}

#[test]
fn a_clean_run_yields_every_metric_of_the_schema_and_nothing_to_say() {
    let yielded = yield_of(&figures("/packets/lost", json!(0)));
    let values: Vec<_> = yielded
        .metrics
        .iter()
        .map(|value| (value.metric.name.as_str(), value.value))
        .collect();
    assert_eq!(
        values,
        [
            ("throughput", 51.2),
            ("received_rate", 100_000.0),
            ("sent_rate", 100_000.0),
            ("loss", 0.0),
            ("cpu_per_packet", 10_000.0),
            ("receiver_cpu_per_packet", 2_000.0),
            ("energy_per_packet", 50.0),
        ]
    );
    assert_eq!(yielded.metrics[0].limited_by, Some(Limit::Sender));
    assert!(yielded.metrics.iter().all(|value| !value.metric.self_timed));
    assert_eq!(yielded.notes, [""; 0]);
}

#[test]
fn a_run_of_which_nothing_arrived_is_a_run() {
    let mut nothing = figures("/receiving_seconds", Value::Null);
    nothing.packets.received = 0;
    nothing.packets.received_bytes = 0;
    nothing.packets.lost = 1000;
    let yielded = yield_of(&nothing);
    assert_eq!(metric(&yielded, "throughput"), Some(0.0));
    assert_eq!(metric(&yielded, "loss"), Some(100.0));
    assert_eq!(metric(&yielded, "receiver_cpu_per_packet"), None);
}

#[test]
fn without_time_there_is_no_rate() {
    let mut instant = figures("/sending_seconds", json!(0.0));
    instant.receiving_seconds = Some(0.0);
    let yielded = yield_of(&instant);
    assert_eq!(metric(&yielded, "throughput"), None);
    assert_eq!(metric(&yielded, "loss"), Some(0.0));
}

#[test]
fn a_stopwatch_read_through_the_clock_source_makes_rates_self_timed() {
    let yielded = yield_of(&figures(
        "/stopwatch_caveat",
        json!("through the clock source"),
    ));
    let self_timed: Vec<_> = yielded
        .metrics
        .iter()
        .filter(|value| value.metric.self_timed)
        .map(|value| value.metric.name.as_str())
        .collect();
    assert_eq!(self_timed, ["throughput", "received_rate", "sent_rate"]);
    assert_eq!(yielded.notes, ["through the clock source"]);
}

#[test]
fn the_receivers_drops_mark_every_rate() {
    let yielded = yield_of(&figures("/kernel/socket_drops", json!(20)));
    for name in ["throughput", "received_rate", "sent_rate"] {
        let value = yielded
            .metrics
            .iter()
            .find(|value| value.metric.name == name)
            .unwrap();
        assert_eq!(value.limited_by, Some(Limit::Receiver), "{name}");
    }
    assert!(yielded.notes[0].contains("2.00 %"), "{:?}", yielded.notes);
    // Where the socket does not tell, the namespace does.
    let mut old_kernel = figures("/kernel/socket_drops", Value::Null);
    old_kernel.kernel.receive_buffer_errors = Some(20);
    assert_eq!(
        yield_of(&old_kernel).metrics[0].limited_by,
        Some(Limit::Receiver)
    );
}

#[test]
fn without_a_counter_the_energy_is_a_reason() {
    let yielded = yield_of(&figures("/energy", json!({ "Err": "no counter" })));
    assert_eq!(metric(&yielded, "energy_per_packet"), None);
    let evidence = yielded
        .evidence
        .iter()
        .find(|evidence| evidence.key == "energy.per_packet");
    assert_eq!(evidence.unwrap().value, Err("no counter".to_owned()));
}

#[test]
fn what_was_lost_on_the_way_marks_every_rate() {
    let mut losing = figures("/packets/lost", json!(30));
    losing.packets.received = 970;
    losing.kernel.interface = losing.kernel.interface.map(|mut counted| {
        counted.dropped = 30;
        counted
    });
    let yielded = yield_of(&losing);
    assert_eq!(yielded.metrics[0].limited_by, Some(Limit::Link));
    assert!(
        yielded.notes[0].contains("3.00 % of the datagrams were lost on the way, 30 of them"),
        "{:?}",
        yielded.notes
    );
}

#[test]
fn a_buffer_smaller_than_asked_for_is_said_with_what_to_do() {
    let yielded = yield_of(&figures("/waiting/granted_buffer_bytes", json!(425_984)));
    assert!(
        yielded.notes[0].contains("416 KiB in place of 8192"),
        "{:?}",
        yielded.notes
    );
    assert!(yielded.notes[0].contains("net.core.rmem_max"));
}

#[test]
fn a_schedule_says_what_it_does_about_times_that_have_passed() {
    let pacer = json!({
        "asked_packets_per_second": 1e5,
        "kind": { "Schedule": {
            "catch_up": false, "late": 0, "skipped": 7,
            "gap_nanoseconds": null, "gaps_within_a_tenth": null,
        } },
    });
    let mut skipping = figures("/pacer", pacer);
    skipping.pacing_clock = serde_json::from_value(json!({
        "step_nanoseconds": 4_000_000, "regular": true,
    }))
    .unwrap();
    let yielded = yield_of(&skipping);
    let value = |key: &str| {
        let found = yielded.evidence.iter().find(|found| found.key == key);
        found.unwrap().value.clone()
    };
    assert_eq!(value("pacer.catch_up"), Ok(0.0));
    assert_eq!(value("pacer.skipped"), Ok(7.0));
    let notes = &yielded.notes;
    assert!(
        notes
            .iter()
            .any(|note| note.contains("7 times were given up")),
        "{notes:?}"
    );
}

#[test]
fn fragments_and_buffers_are_said() {
    let yielded = yield_of(&figures("/route/fragments_per_packet", json!(3)));
    assert!(
        yielded.notes[0].contains("3 fragments"),
        "{:?}",
        yielded.notes
    );
    let mut buffers = figures("/route/class", json!("C"));
    buffers.route.datagrams_per_buffer = 64;
    let notes = yield_of(&buffers).notes;
    assert!(notes[0].contains("class C"), "{notes:?}");
}

#[test]
fn what_is_never_cut_has_no_packet_rate_anywhere() {
    let mut uncut = figures("/route/class", json!("D"));
    uncut.route.datagrams_per_buffer = 64;
    uncut.packets.buffers = 16;
    let yielded = yield_of(&uncut);
    let names: Vec<_> = yielded
        .metrics
        .iter()
        .map(|value| value.metric.name.as_str())
        .collect();
    assert_eq!(names, ["throughput", "loss"]);
    assert!(
        yielded
            .evidence
            .iter()
            .all(|evidence| evidence.unit != knobstat_data::Unit::PACKETS_PER_SECOND)
    );
    let notes = yielded.notes;
    assert!(
        notes.iter().any(|note| note.contains("16 buffers")),
        "{notes:?}"
    );
}
