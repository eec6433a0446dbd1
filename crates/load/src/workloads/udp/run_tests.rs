//! The workload as a whole: short runs over the machine's own loopback interface, from parameters
//! to metrics. What they assert are relations; a loaded machine may lose, lag and reorder.

use std::time::Duration;

use knobstat_data::observation::{Limit, Times};
use knobstat_data::words::{BitRate, Bytes};
use knobstat_data::{Parameters, Value};

use super::super::{Ended, Yield};
use super::figures::{Class, Figures, PacerKind};
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

fn decoded(result: serde_json::Value) -> (Figures, Yield) {
    let figures = serde_json::from_value(result.clone()).unwrap();
    let ended = Ended {
        times: Times {
            stopwatch: "tsc".to_owned(),
            wall: Duration::from_secs(1),
            monotonic: Duration::from_secs(1),
            monotonic_raw: Duration::from_secs(1),
            boottime: Duration::from_secs(1),
            cpu: Duration::ZERO,
        },
        granularity: 1e-9,
        stdout: Ok(serde_json::json!({ "result": result })
            .to_string()
            .into_bytes()),
        stderr: Ok(Vec::new()),
    };
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

#[test]
fn a_count_of_ten_sends_exactly_ten_by_every_method_at_every_size() {
    for method in ["send", "sendmmsg", "gso", "io_uring"] {
        for bytes in [0, 1, 7, 8, 15, 1472, 1473, 65_507] {
            if method == "gso" && bytes == 0 {
                continue;
            }
            let (figures, yielded) = figures([
                ("method", text(method)),
                ("packet_size", size(bytes)),
                ("count", Value::Integer(10)),
            ]);
            assert_eq!(figures.packets.sent, 10, "{method} {bytes}");
            check(&figures, &yielded);
            assert_eq!(figures.packets.order.is_some(), bytes >= 8);
            let order = evidence(&yielded, "packets.reordered");
            assert_eq!(order.is_ok(), bytes >= 8, "{order:?}");
        }
    }
}

#[test]
fn both_receivers_count_what_arrives_within_a_duration() {
    for receiver in ["napping", "blocking"] {
        let (figures, yielded) = figures([
            ("receiver_method", text(receiver)),
            ("duration", Value::Duration(Duration::from_millis(50))),
        ]);
        check(&figures, &yielded);
        assert!(figures.packets.received > 0);
        assert_eq!(
            figures.waiting.nap_nanoseconds.is_some(),
            receiver == "napping"
        );
        let censored = yielded.metrics[0].limited_by.unwrap().censors();
        let dropped = figures.kernel.socket_drops.unwrap_or(0);
        assert_eq!(
            censored,
            dropped as f64 > 0.001 * figures.packets.sent as f64
        );
    }
}

#[test]
fn the_buffer_of_an_ordinary_user_loses_no_account_of_what_it_drops() {
    // What net.core.rmem_max is unless somebody raised it.
    const ORDINARY: u64 = 212_992;
    let (figures, yielded) = figures([
        ("receive_buffer", size(ORDINARY)),
        ("duration", Value::Duration(Duration::from_millis(100))),
    ]);
    check(&figures, &yielded);
    assert_eq!(figures.waiting.granted_buffer_bytes, 2 * ORDINARY);
    if let Some(drops) = figures.kernel.socket_drops {
        assert_eq!(figures.packets.lost, drops);
        let receiver = yielded.metrics[0].limited_by == Some(Limit::Receiver);
        assert_eq!(receiver, drops as f64 > 0.001 * figures.packets.sent as f64);
    }
}

#[test]
fn a_receiver_whose_buffer_holds_no_nap_spins() {
    let (figures, yielded) = figures([
        ("receive_buffer", size(16 << 10)),
        ("duration", Value::Duration(Duration::from_millis(50))),
    ]);
    check(&figures, &yielded);
    // Unless it would only keep its sender from the one CPU there is.
    assert_eq!(
        figures.waiting.spinning,
        figures.sender.cpu != figures.receiver.cpu
    );
    // At a rate of which half of the buffer holds a nap's worth it naps.
    let (slow, _) = self::figures([
        ("rate", Value::PacketRate(100.0)),
        ("count", Value::Integer(3)),
    ]);
    assert!(!slow.waiting.spinning);
}

#[test]
fn ipv6_and_a_code_point_make_no_difference_to_the_accounts() {
    if std::net::UdpSocket::bind("[::1]:0").is_err() {
        eprintln!("skipped: this machine has no IPv6 loopback address");
        return;
    }
    let (figures, yielded) = figures([
        ("bind", text("::1")),
        ("dscp", Value::Integer(46)),
        ("count", Value::Integer(100)),
    ]);
    assert_eq!(figures.packets.sent, 100);
    check(&figures, &yielded);
}

#[test]
fn a_schedule_sends_the_count_that_its_duration_holds_and_the_pacer_is_the_limit() {
    let (figures, yielded) = figures([
        ("rate", Value::PacketRate(2000.0)),
        ("duration", Value::Duration(Duration::from_millis(100))),
    ]);
    check(&figures, &yielded);
    assert!(figures.packets.sent <= 200);
    let Some(PacerKind::Schedule { late, .. }) = figures.pacer.map(|pacer| pacer.kind) else {
        panic!("no schedule in {figures:?}");
    };
    assert!(late <= figures.packets.sent);
    // A stall of this machine may have cost the rate, and so the verdict, but never the count.
    if figures.packets.lost == 0 && figures.sending_seconds < 0.1 {
        assert_eq!(figures.packets.sent, 200);
        assert_eq!(yielded.metrics[0].limited_by, Some(Limit::Pacer));
    }
}

#[test]
fn a_schedule_on_the_coarse_clock_says_that_its_gaps_do_not_hold() {
    let (figures, yielded) = figures([
        ("rate", Value::BitRate(BitRate(64.0 * 8.0 * 10_000.0))),
        ("pacing_clock", text("coarse")),
        ("count", Value::Integer(300)),
    ]);
    check(&figures, &yielded);
    assert_eq!(figures.packets.sent, 300);
    let step = figures.pacing_clock.unwrap().step_nanoseconds.unwrap();
    let said = yielded
        .notes
        .iter()
        .any(|note| note.contains("quarter of the gap"));
    assert_eq!(said, step > 25_000, "step {step}: {:?}", yielded.notes);
}

#[test]
fn additional_readings_are_made_by_the_sender_and_its_clock_is_described() {
    let (figures, yielded) = figures([
        ("clock_reads_per_packet", Value::Integer(2)),
        ("count", Value::Integer(1000)),
    ]);
    check(&figures, &yielded);
    assert!(evidence(&yielded, "pacer.clock_step").unwrap() > 0.0);
}

#[test]
fn under_the_coarse_clock_the_loop_of_2007_credits_a_step_of_packets_per_wait() {
    for (bytes, per_packet) in [(128, 1), (512, 4), (1280, 10)] {
        let (figures, yielded) = figures([
            ("method", text("send")),
            ("packet_size", size(bytes)),
            ("rate", Value::BitRate(BitRate(1e9))),
            ("pacer", text("iperf2-2007")),
            ("pacing_clock", text("coarse")),
            ("duration", Value::Duration(Duration::from_millis(300))),
        ]);
        check(&figures, &yielded);
        assert_eq!(
            evidence(&yielded, "pacer.whole_microseconds_per_packet"),
            Ok(f64::from(per_packet))
        );
        let clock = figures.pacing_clock.unwrap();
        let waits = evidence(&yielded, "pacer.waits").unwrap();
        if !clock.regular || waits < 3.0 {
            // A machine too loaded to see its own ticks.
            eprintln!("skipped at {bytes} B: {clock:?}, {waits} waits");
            continue;
        }
        let predicted = evidence(&yielded, "pacer.packets_per_wait_predicted").unwrap();
        let credited = evidence(&yielded, "pacer.credited_per_wait").unwrap();
        let packets = evidence(&yielded, "pacer.packets_per_wait").unwrap();
        // A tick that passes between a wait's end and the next packet makes a multiple of it.
        let steps = (credited / predicted).round();
        assert!(
            steps >= 1.0 && (credited / predicted / steps - 1.0).abs() < 0.02,
            "{bytes} B: {credited} against {predicted}"
        );
        assert!(packets >= credited);
        // A tick that passes while nothing is waited for lets one more datagram go.
        let ticks = evidence(&yielded, "pacer.steps_per_wait").unwrap();
        assert!(
            packets <= credited + ticks,
            "{packets}, {credited}, {ticks}"
        );
    }
}

/// The staircase of 2007, live: on a clock that stands still between ticks the rate is a whole number
/// of datagrams in a whole number of ticks, whatever the size.
#[test]
fn on_the_coarse_clock_the_rate_is_a_stair() {
    for (bytes, most_attempts) in [(128, 4), (512, 4), (1280, 40)] {
        let mut undisturbed = 0;
        let mut on_a_stair = false;
        for attempt in 0..most_attempts {
            if on_a_stair && attempt >= 4 {
                break;
            }
            let result = work(&parameters([
                ("method", text("send")),
                ("packet_size", size(bytes)),
                ("rate", Value::BitRate(BitRate(1e9))),
                ("pacer", text("iperf2-2007")),
                ("pacing_clock", text("coarse")),
                ("duration", Value::Duration(Duration::from_millis(200))),
            ]));
            let (figures, yielded) = match result {
                Ok(result) => decoded(result),
                // The sender did not get onto its CPU in all of the time.
                Err(error) => {
                    assert!(error.to_string().contains("nothing was sent"), "{error}");
                    continue;
                }
            };
            let Ok(share) = evidence(&yielded, "pacer.waits_as_predicted") else {
                continue;
            };
            on_a_stair |= share > 0.0;
            println!("{bytes} B: {share:.0} % of the waits as predicted");
            if share < 90.0 {
                continue;
            }
            undisturbed += 1;
            let sent = figures.packets.sent as f64 / figures.sending_seconds;
            let stair = evidence(&yielded, "pacer.staircase_rate").unwrap();
            println!("{bytes} B: {sent:.0} packets/s, the stair is {stair:.0}");
            // The last wait is cut short, and a tenth of the waits may be otherwise.
            assert!((sent / stair - 1.0).abs() < 0.15, "{sent} against {stair}");
            break;
        }
        // The datagrams of a wait take 1.5 ms at 1280 B, which a busy machine leaves alone now and
        // then; at 128 B they take 15 ms.
        assert!(
            on_a_stair || bytes < 1280,
            "{bytes} B: no wait in forty runs was as predicted"
        );
        if undisturbed == 0 {
            eprintln!("{bytes} B: this machine was too busy for a rate of whole stairs");
        }
    }
}

#[test]
fn at_64_bytes_the_loop_of_2007_has_no_time_to_wait_for() {
    let (figures, yielded) = figures([
        ("rate", Value::BitRate(BitRate(1e9))),
        ("pacer", text("iperf2-2007")),
        ("count", Value::Integer(1000)),
    ]);
    check(&figures, &yielded);
    assert_eq!(evidence(&yielded, "pacer.waits"), Ok(0.0));
    assert!(evidence(&yielded, "pacer.packets_per_wait").is_err());
}

#[test]
fn both_ends_on_one_cpu_are_said_to_be() {
    let (figures, yielded) = figures([
        ("sender_cpu", Value::Integer(0)),
        ("receiver_cpu", Value::Integer(0)),
        ("count", Value::Integer(100)),
    ]);
    check(&figures, &yielded);
    assert!(!figures.waiting.spinning);
    assert!(
        yielded
            .notes
            .iter()
            .any(|note| note.contains("shared CPU 0"))
    );
}

#[test]
fn buffers_that_are_cut_late_are_never_passed_off_as_packets() {
    let (figures, yielded) = figures([("method", text("gso")), ("count", Value::Integer(6400))]);
    check(&figures, &yielded);
    assert_eq!(evidence(&yielded, "sender.datagrams_per_buffer"), Ok(64.0));
    assert!(evidence(&yielded, "sender.class").unwrap() > 1.0);
    assert!(
        yielded
            .notes
            .iter()
            .any(|note| note.contains("not to be compared"))
    );
}

/// Whether this process, which has threads, can have a pair; a test that cannot be made says so.
fn can_have_a_pair() -> bool {
    let can = knobstat_sys::net::namespace::may_create();
    if !can {
        eprintln!("skipped: no network namespace can be made here by a process with threads");
    }
    can
}

#[test]
fn over_a_pair_every_method_sends_ten_of_ten_and_each_arrives_whole() {
    if !can_have_a_pair() {
        return;
    }
    for method in ["send", "sendmmsg", "gso", "io_uring", "tx_ring", "af_xdp"] {
        for bytes in [0, 1, 15, 1472, 1473, 65_507] {
            let goes_whole = matches!(method, "gso" | "tx_ring" | "af_xdp");
            if (method == "gso" && bytes == 0) || (goes_whole && bytes > 1472) {
                continue;
            }
            let (figures, yielded) = figures([
                ("method", text(method)),
                ("endpoints", text("veth")),
                ("packet_size", size(bytes)),
                ("count", Value::Integer(10)),
            ]);
            assert_eq!(figures.packets.sent, 10, "{method} {bytes}");
            assert_eq!(figures.packets.received, 10, "{method} {bytes}");
            assert_eq!(figures.packets.lost, 0);
            check(&figures, &yielded);
        }
    }
}

#[test]
fn a_frame_is_not_overwritten_before_it_was_read() {
    if !can_have_a_pair() {
        return;
    }
    for method in ["tx_ring", "af_xdp"] {
        let (figures, yielded) = figures([
            ("method", text(method)),
            ("endpoints", text("veth")),
            ("packet_size", size(1280)),
            ("count", Value::Integer(20_000)),
        ]);
        check(&figures, &yielded);
        let order = figures.packets.order.unwrap();
        assert_eq!(
            (order.duplicated, order.reordered, order.foreign),
            (0, 0, 0),
            "{method}"
        );
        if figures.kernel.socket_drops == Some(0) {
            assert_eq!(figures.packets.lost, 0, "{method}");
        }
    }
}

#[test]
fn beyond_the_mtu_of_a_pair_fragments_are_counted_and_what_goes_whole_is_refused() {
    if !can_have_a_pair() {
        return;
    }
    let (figures, yielded) = figures([
        ("endpoints", text("veth")),
        ("packet_size", size(1473)),
        ("count", Value::Integer(10)),
    ]);
    check(&figures, &yielded);
    assert_eq!(figures.route.fragments_per_packet, 2);
    assert_eq!(figures.kernel.fragments, Some(20));
    assert_eq!(figures.kernel.reassembly_failures, Some(0));
    assert!(
        yielded
            .notes
            .iter()
            .any(|note| note.contains("2 fragments"))
    );
    let refused = work(&parameters([
        ("endpoints", text("veth")),
        ("packet_size", size(65_508)),
    ]))
    .unwrap_err();
    assert!(refused.contains("0 to 65507"), "{refused}");
    for method in ["gso", "tx_ring", "af_xdp"] {
        let refused = work(&parameters([
            ("method", text(method)),
            ("endpoints", text("veth")),
            ("packet_size", size(1473)),
        ]))
        .unwrap_err();
        assert!(refused.contains("up to 1472"), "{refused}");
    }
}

#[test]
fn ipv6_with_a_scope_carries_as_much_over_a_pair() {
    if !can_have_a_pair() {
        return;
    }
    for (bind, bytes, fragments) in [
        ("2001:db8::1", 1452, 1),
        ("fe80::1", 1452, 1),
        ("fe80::1", 1453, 2),
    ] {
        let (figures, yielded) = figures([
            ("endpoints", text("veth")),
            ("bind", text(bind)),
            ("packet_size", size(bytes)),
            ("count", Value::Integer(10)),
        ]);
        check(&figures, &yielded);
        assert_eq!(figures.packets.received, 10, "{bind}");
        assert_eq!(figures.route.fragments_per_packet, fragments);
    }
}

#[test]
fn every_receiver_counts_every_flow() {
    for receiver in ["napping", "gro", "io_uring"] {
        for method in ["sendmmsg", "gso"] {
            let (figures, yielded) = figures([
                ("method", text(method)),
                ("receiver_method", text(receiver)),
                ("flows", Value::Integer(3)),
                ("count", Value::Integer(1000)),
            ]);
            if figures.route.class != Class::D {
                check(&figures, &yielded);
            }
            assert_eq!(figures.packets.sent, 1000, "{receiver} {method}");
            let order = figures.packets.order.unwrap();
            assert_eq!((order.foreign, order.duplicated), (0, 0));
        }
    }
}

#[test]
fn numbers_run_on_over_31_and_32_bits() {
    for first in [(1i64 << 31) - 10, (1 << 32) - 10] {
        let (figures, _) = figures([
            ("first_number", Value::Integer(first)),
            ("count", Value::Integer(1000)),
        ]);
        let order = figures.packets.order.unwrap();
        assert_eq!(figures.packets.sent, 1000);
        assert_eq!(
            (order.reordered, order.duplicated, order.foreign),
            (0, 0, 0)
        );
        assert_eq!(
            figures.packets.received + figures.packets.lost,
            figures.packets.sent
        );
    }
}

#[test]
fn frames_need_an_interface_of_their_own() {
    for method in ["tx_ring", "af_xdp"] {
        let refused = work(&parameters([("method", text(method))])).unwrap_err();
        assert!(refused.contains("veth"), "{refused}");
    }
}

#[test]
fn what_cannot_be_done_is_a_sentence() {
    let refused = work(&parameters([("sender_cpu", Value::Integer(4000))])).unwrap_err();
    assert!(refused.contains("sender_cpu = 4000"), "{refused}");
    let refused = work(&parameters([("packet_size", size(65_508))])).unwrap_err();
    assert!(refused.contains("0 to 65507"), "{refused}");
}
