//! How a receiver waits, and what its buffer holds.

use knobstat_data::observation::Limit;

use super::*;

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
