//! What was sent, received and lost: exact, whatever the method, the size and the receiver.

use super::super::figures::Class;
use super::*;

#[test]
fn a_count_of_ten_sends_exactly_ten_by_every_method_at_every_size() {
    for method in ["send", "sendmmsg", "gso", "io_uring"] {
        if !can_be_had([("method", text(method))]) {
            continue;
        }
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
fn every_receiver_counts_every_flow() {
    for receiver in ["napping", "gro", "io_uring"] {
        if !can_be_had([("receiver_method", text(receiver))]) {
            continue;
        }
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
fn every_receiver_counts_datagrams_of_nothing_and_of_the_largest_size() {
    for receiver in ["napping", "blocking", "gro", "io_uring"] {
        if !can_be_had([("receiver_method", text(receiver))]) {
            continue;
        }
        for bytes in [0, 1, 65_507] {
            let (figures, yielded) = figures([
                ("receiver_method", text(receiver)),
                ("packet_size", size(bytes)),
                ("count", Value::Integer(10)),
            ]);
            check(&figures, &yielded);
            assert!(figures.packets.received > 0, "{receiver} {bytes}");
            // What is lost on one machine is lost at the socket's buffer.
            if let Some(drops) = figures.kernel.socket_drops {
                assert_eq!(figures.packets.lost, drops, "{receiver} {bytes}");
            }
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

#[test]
fn what_cannot_be_done_is_a_sentence() {
    let refused = work(&parameters([("sender_cpu", Value::Integer(4000))])).unwrap_err();
    assert!(refused.contains("sender_cpu = 4000"), "{refused}");
    let refused = work(&parameters([("packet_size", size(65_508))])).unwrap_err();
    assert!(refused.contains("0 to 65507"), "{refused}");
}
