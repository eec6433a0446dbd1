//! Two ends in two network namespaces, as between two hosts.

use std::os::fd::AsFd;

use knobstat_sys::net::Namespace;
use knobstat_sys::net::namespace::may_create;
use knobstat_sys::net::netlink::RouteSocket;

use super::*;
use crate::workloads::udp::{decode, figures::Figures};

/// Two namespaces, the second with a secondary address; nothing where none can be had.
fn two_hosts() -> Option<(Namespace, Namespace)> {
    if !may_create() {
        eprintln!("skipped: no network namespace can be made here by a process with threads");
        return None;
    }
    let (one, other) = (Namespace::create().unwrap(), Namespace::create().unwrap());
    let set_up = |interface: &str, addresses: &[&str]| {
        let route = RouteSocket::open()?;
        for address in addresses {
            let address: std::net::IpAddr = address.parse().unwrap();
            route.add_address(interface, address, if address.is_ipv4() { 24 } else { 64 })?;
        }
        route.bring_up(interface)
    };
    one.within(|| {
        let ends = (("a", [2, 0, 0, 0, 0, 1]), ("b", [2, 0, 0, 0, 0, 2]));
        RouteSocket::open()?.add_pair(ends.0, ends.1, other.as_fd(), 1500)?;
        set_up("a", &["192.0.2.1", "fe80::1"])
    })
    .unwrap();
    other
        .within(|| set_up("b", &["192.0.2.2", "192.0.2.3", "fe80::2"]))
        .unwrap();
    Some((one, other))
}

#[test]
fn a_receiver_answers_from_the_address_that_it_was_asked_at() {
    let Some((one, other)) = two_hosts() else {
        return;
    };
    let (at, _events) = other
        .within(|| Ok(serving_at("0.0.0.0:0", 2, None)))
        .unwrap();
    for address in ["192.0.2.3", "192.0.2.2"] {
        let asked = SocketAddr::new(address.parse().unwrap(), at.port());
        // A flow's socket is connected: an answer from another address would not be heard.
        let ends = one
            .within(|| {
                send(&request(asked, 64, 100), Direction::Forward, &|_| {})
                    .map_err(std::io::Error::other)
            })
            .unwrap();
        assert_eq!((ends.sent, ends.received), (100, 100), "{address}");
        assert!(ends.offset.is_some(), "{address}");
    }
}

#[test]
fn the_workload_has_its_receiver_at_another_host() {
    let Some((one, other)) = two_hosts() else {
        return;
    };
    let (at, _events) = other
        .within(|| Ok(serving_at("192.0.2.2:0", 1, None)))
        .unwrap();
    let receiver = Value::Table([("receiver".to_owned(), Value::Text(at.to_string()))].into());
    let mut parameters = request(at, 1472, 100).parameters;
    parameters.insert("endpoints".to_owned(), receiver);
    let result = one
        .within(|| crate::workloads::udp::work(&parameters).map_err(std::io::Error::other))
        .unwrap();
    assert_eq!(result["packets"]["received"], 100);
    assert_eq!(result["route"]["mtu_bytes"], 1500);
    assert_eq!(result["ends_apart"], true);
    // The pair's interface at the receiver's host took them, and nothing was dropped.
    let interface = &result["kernel"]["interface"];
    assert!(interface["packets"].as_u64() >= Some(100), "{interface}");
    assert_eq!(interface["dropped"], 0);
    // Where one of them cannot tell, no count is made up.
    let mut figures: Figures = serde_json::from_value(result).unwrap();
    figures.kernel.interface = None;
    for key in ["interface.packets", "interface.dropped"] {
        let evidence = decode::yield_of(&figures).evidence;
        let found = evidence.iter().find(|evidence| evidence.key == key);
        let reason = found.unwrap().value.as_ref().unwrap_err();
        assert!(reason.contains("other machine"), "{key}: {reason}");
    }
}

#[test]
fn the_address_that_proved_itself_gets_what_comes_back_and_no_other() {
    let Some((one, other)) = two_hosts() else {
        return;
    };
    let (at, _events) = other
        .within(|| Ok(serving_at("0.0.0.0:0", 1, None)))
        .unwrap();
    let asked = SocketAddr::new("192.0.2.3".parse().unwrap(), at.port());
    let ends = one
        .within(|| {
            let asked = request(asked, 1200, 100);
            send(&asked, Direction::Reverse, &|_| {}).map_err(std::io::Error::other)
        })
        .unwrap();
    // This end's sockets are connected to that address: what came from another would be lost.
    assert_eq!((ends.sent, ends.received), (100, 100));
}

#[test]
fn an_address_of_the_link_alone_is_reached_by_its_scope() {
    let Some((one, other)) = two_hosts() else {
        return;
    };
    let (at, _events) = other.within(|| Ok(serving_at("[::]:0", 1, None))).unwrap();
    let mut asked = request(at, 64, 100);
    asked.receiver = format!("[fe80::2%a]:{}", at.port());
    // IPv6 takes up to a second to believe in a new interface: the connection is tried again.
    let sent = (0..100).find_map(|_| {
        one.within(|| send(&asked, Direction::Forward, &|_| {}).map_err(std::io::Error::other))
            .ok()
    });
    assert_eq!(sent.unwrap().received, 100);
}

#[test]
fn an_ipv4_peer_of_a_receiver_that_hears_both_gets_ipv4_datagrams() {
    let Some((one, other)) = two_hosts() else {
        return;
    };
    let (at, _events) = other.within(|| Ok(serving_at("[::]:0", 2, None))).unwrap();
    let asked = SocketAddr::new("192.0.2.2".parse().unwrap(), at.port());
    // What fits a packet of IPv4 and none of IPv6, and what fits neither.
    for (size, fragments) in [(1472, 1.0), (1473, 2.0)] {
        let mut asked = request(asked, size, 10);
        let mark = ("dscp".to_owned(), Value::Integer(46));
        asked.parameters.extend([mark]);
        let ends = one
            .within(|| send(&asked, Direction::Reverse, &|_| {}).map_err(std::io::Error::other))
            .unwrap();
        assert_eq!((ends.sent, ends.received), (10, 10), "{size}");
        let key = "route.fragments_per_packet";
        let found = ends.evidence.iter().find(|evidence| evidence.key == key);
        assert_eq!(found.unwrap().value, Ok(fragments), "{size}");
    }
}
