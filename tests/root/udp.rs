//! UDP where it takes root to see: what the kernel grants an ordinary user and what it is said to have
//! granted, and what stands in the packets themselves.

use std::io::{self, BufRead, BufReader};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use knobstat_sys::net::netlink::RouteSocket;
use knobstat_sys::net::{Namespace, namespace};
use rustix::net::{
    AddressFamily, RecvFlags, SocketFlags, SocketType, eth, recv, socket_with, sockopt,
};

use crate::Test;
use crate::needs::Need;
use crate::support::install::install;
use crate::support::limit::MARK;
use crate::support::program::{Place, output};

/// The tests of this group.
pub const TESTS: &[Test] = &[
    (
        "a_buffer_that_an_ordinary_user_is_not_granted_is_said",
        &[Need::Root, Need::Nobody],
        a_buffer_that_an_ordinary_user_is_not_granted_is_said,
    ),
    (
        "an_ordinary_users_receiver_accounts_for_what_its_buffer_did_not_hold",
        &[Need::Root, Need::Nobody],
        an_ordinary_users_receiver_accounts_for_what_its_buffer_did_not_hold,
    ),
    (
        "a_pair_needs_no_root_where_there_are_user_namespaces",
        &[Need::Root, Need::Nobody],
        a_pair_needs_no_root_where_there_are_user_namespaces,
    ),
    (
        "a_code_point_stands_in_every_packet",
        &[Need::Root],
        a_code_point_stands_in_every_packet,
    ),
];

/// What an ordinary user is granted unless somebody raised it, in bytes.
const ORDINARY: u64 = 212_992;

/// The program as nobody. A copy of it, where nobody may reach the original.
fn as_nobody(place: &Place) -> Command {
    use std::os::unix::fs::PermissionsExt;
    let copy = place.path().join("knobstat");
    if !copy.exists() {
        install(Path::new(env!("CARGO_BIN_EXE_knobstat")), &copy);
        let everybody = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(place.path(), everybody).unwrap();
    }
    let mut command = Command::new("setpriv");
    command
        .args(["--reuid=nobody", "--regid=65534", "--clear-groups"])
        .arg(copy)
        .env("KNOBSTAT_NO_KNOBS", "1")
        .env(MARK, place.path())
        .stdin(Stdio::null());
    command
}

/// The result of the workload as nobody, with these parameters as JSON.
fn workload(place: &Place, parameters: &str) -> Result<serde_json::Value, String> {
    result_of(as_nobody(place), parameters)
}

fn result_of(mut program: Command, parameters: &str) -> Result<serde_json::Value, String> {
    let ended = output(program.args(["workload", "udp", parameters]));
    let mut printed = ended.json();
    match printed["error"].as_str() {
        Some(reason) => Err(reason.to_owned()),
        None => Ok(printed["result"].take()),
    }
}

/// A receiver that serves so many senders, and where it listens.
fn receiver(mut program: Command, bind: &str, senders: u32) -> (Child, String) {
    let mut receiver = program
        .args(["udp", "recv", "--bind", bind, "--port", "0", "--json"])
        .args(["--senders", &senders.to_string()])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(receiver.stdout.as_mut().unwrap())
        .read_line(&mut line)
        .unwrap();
    let event: serde_json::Value = serde_json::from_str(&line).unwrap();
    let address = event["address"].as_str().unwrap().to_owned();
    (receiver, address)
}

fn a_buffer_that_an_ordinary_user_is_not_granted_is_said() {
    let place = Place::new();
    let limit = std::fs::read_to_string("/proc/sys/net/core/rmem_max").unwrap();
    let limit: u64 = limit.trim().parse().unwrap();
    let asked = (2 * limit).min(512 << 20);
    let (mut receiver, address) = receiver(as_nobody(&place), "127.0.0.1", 1);
    let result = output(
        place
            .knobstat()
            .args(["udp", "send", &address, "--count", "100", "--json"])
            .args(["--receive-buffer", &asked.to_string()]),
    )
    .must_exit(0)
    .json();
    assert!(receiver.wait().unwrap().success());
    let notes = result["notes"].as_array().unwrap();
    let said = |note: &serde_json::Value| note.as_str().unwrap().contains("net.core.rmem_max");
    assert!(notes.iter().any(said), "{notes:?}");
    let evidence = result["evidence"].as_array().unwrap();
    let buffer = evidence
        .iter()
        .find(|evidence| evidence["key"] == "receiver.buffer");
    assert_eq!(buffer.unwrap()["value"], (2 * limit) as f64);
}

fn an_ordinary_users_receiver_accounts_for_what_its_buffer_did_not_hold() {
    let place = Place::new();
    let parameters = format!(
        r#"{{"duration": {{"Duration": {{"secs": 0, "nanos": 300000000}}}}, "receive_buffer": {{"Size": {ORDINARY}}}}}"#
    );
    let result = workload(&place, &parameters).unwrap();
    let packets = &result["packets"];
    let count = |value: &serde_json::Value| value.as_u64().unwrap();
    assert_eq!(
        count(&packets["received"]) - count(&packets["order"]["duplicated"])
            + count(&packets["lost"]),
        count(&packets["sent"])
    );
    assert_eq!(result["waiting"]["granted_buffer_bytes"], 2 * ORDINARY);
    // What is lost on one machine is lost at that buffer, and the kernel's count says so.
    assert_eq!(result["kernel"]["socket_drops"], packets["lost"]);
}

fn a_pair_needs_no_root_where_there_are_user_namespaces() {
    let place = Place::new();
    for method in ["sendmmsg", "tx_ring"] {
        let parameters = format!(
            r#"{{"endpoints": {{"Text": "veth"}}, "method": {{"Text": "{method}"}}, "count": {{"Integer": 100}}}}"#
        );
        match workload(&place, &parameters) {
            Ok(result) => {
                assert_eq!(result["packets"]["sent"], 100, "{method}");
                assert_eq!(result["packets"]["received"], 100, "{method}");
            }
            // A machine may forbid them; then that is what is said.
            Err(reason) => assert!(reason.contains("user namespaces"), "{reason}"),
        }
    }
}

/// A payload that nothing but the datagrams of a run has.
const PAYLOAD: usize = 777;

/// The packets of a network namespace, as they pass its interfaces.
struct Wire(OwnedFd);

impl Wire {
    fn of_this_namespace() -> io::Result<Self> {
        let wire = socket_with(
            AddressFamily::PACKET,
            SocketType::DGRAM,
            SocketFlags::NONBLOCK | SocketFlags::CLOEXEC,
            Some(eth::ALL),
        )?;
        // Room for all that the two ends ask each other before their datagrams.
        sockopt::set_socket_recv_buffer_size_force(&wire, 8 << 20)?;
        Ok(Self(wire))
    }

    /// The traffic class of each UDP packet whose payload is one of ours or several, since it was
    /// last asked (RFC 791, RFC 8200).
    fn traffic_classes(&self) -> Vec<u8> {
        let mut packet = vec![0; 1 << 16];
        let mut found = Vec::new();
        while let Ok((length, _)) = recv(&self.0, &mut packet[..], RecvFlags::empty()) {
            let (class, protocol, header) = match packet[0] >> 4 {
                4 => (packet[1], packet[9], 20),
                _ => (packet[0] << 4 | packet[1] >> 4, packet[6], 40),
            };
            let payload = length.saturating_sub(header + 8);
            if protocol == 17 && payload > 0 && payload.is_multiple_of(PAYLOAD) {
                found.push(class);
            }
        }
        found
    }
}

fn a_code_point_stands_in_every_packet() {
    if !namespace::may_create() {
        eprintln!("skipped: root may make no network namespace here");
        return;
    }
    let place = Place::new();
    let namespace = Namespace::create().unwrap();
    // What is started by this thread is where it is.
    namespace
        .within(|| {
            RouteSocket::open()?.bring_up("lo")?;
            let wire = Wire::of_this_namespace()?;
            let has_ipv6 = std::net::UdpSocket::bind("[::1]:0").is_ok();
            let addresses = ["127.0.0.1", "::1"];
            for bind in &addresses[..1 + usize::from(has_ipv6)] {
                of_the_workload(&place, &wire, bind);
            }
            for bind in &["127.0.0.1", "::"][..1 + usize::from(has_ipv6)] {
                between_two_ends(&place, &wire, bind);
            }
            Ok(())
        })
        .unwrap();
}

fn of_the_workload(place: &Place, wire: &Wire, bind: &str) {
    for method in ["send", "sendmmsg", "gso", "io_uring"] {
        for code_point in [46, 0] {
            let parameters = format!(
                r#"{{"bind": {{"Text": "{bind}"}}, "method": {{"Text": "{method}"}},
                    "packet_size": {{"Size": {PAYLOAD}}}, "count": {{"Integer": 10}},
                    "dscp": {{"Integer": {code_point}}}}}"#
            );
            match result_of(place.knobstat(), &parameters) {
                Ok(result) => assert_eq!(result["packets"]["sent"], 10),
                Err(reason) if method == "io_uring" => {
                    eprintln!("skipped: {reason}");
                    continue;
                }
                Err(reason) => panic!("{bind}, {method}: {reason}"),
            }
            must_be(
                &wire.traffic_classes(),
                code_point,
                &format!("{bind}, {method}"),
            );
        }
    }
}

fn between_two_ends(place: &Place, wire: &Wire, bind: &str) {
    let (mut receiver, address) = receiver(place.knobstat(), bind, 4);
    let port = address.rsplit(':').next().unwrap();
    let address = format!("127.0.0.1:{port}");
    for direction in [&[][..], &["--reverse"]] {
        for code_point in [46, 0] {
            output(
                place
                    .knobstat()
                    .args(["udp", "send", &address, "--count", "10", "--json"])
                    .args(["--packet-size", &PAYLOAD.to_string()])
                    .args(["--dscp", &code_point.to_string()])
                    .args(direction),
            )
            .must_exit(0);
            let what = format!("{bind}, {direction:?}");
            must_be(&wire.traffic_classes(), code_point, &what);
        }
    }
    assert!(receiver.wait().unwrap().success());
}

fn must_be(classes: &[u8], code_point: u8, what: &str) {
    assert!(!classes.is_empty(), "{what}: nothing was seen");
    // The lower two bits are congestion notification's.
    assert!(
        classes.iter().all(|class| class >> 2 == code_point),
        "{what}: {classes:?}"
    );
}
