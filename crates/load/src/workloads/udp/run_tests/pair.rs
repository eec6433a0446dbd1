//! Over a pair of interfaces between two network namespaces.

use super::*;

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
fn frames_need_an_interface_of_their_own() {
    for method in ["tx_ring", "af_xdp"] {
        let refused = work(&parameters([("method", text(method))])).unwrap_err();
        assert!(refused.contains("veth"), "{refused}");
    }
}
