//! UDP as an ordinary user: what the kernel grants, and what it is said to have granted.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use crate::Test;
use crate::needs::Need;
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
];

/// What an ordinary user is granted unless somebody raised it, in bytes.
const ORDINARY: u64 = 212_992;

/// The program as nobody. A copy of it, where nobody may reach the original.
fn as_nobody(place: &Place) -> Command {
    use std::os::unix::fs::PermissionsExt;
    let copy = place.path().join("knobstat");
    if !copy.exists() {
        std::fs::copy(env!("CARGO_BIN_EXE_knobstat"), &copy).unwrap();
        let everybody = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(place.path(), everybody.clone()).unwrap();
        std::fs::set_permissions(&copy, everybody).unwrap();
    }
    let mut command = Command::new("setpriv");
    command
        .args(["--reuid=nobody", "--regid=65534", "--clear-groups"])
        .arg(copy)
        .env("KNOBSTAT_NO_KNOBS", "1")
        .stdin(Stdio::null());
    command
}

/// The result of the workload as nobody, with these parameters as JSON.
fn workload(place: &Place, parameters: &str) -> Result<serde_json::Value, String> {
    let ended = output(as_nobody(place).args(["workload", "udp", parameters]));
    let mut printed = ended.json();
    match printed["error"].as_str() {
        Some(reason) => Err(reason.to_owned()),
        None => Ok(printed["result"].take()),
    }
}

fn a_buffer_that_an_ordinary_user_is_not_granted_is_said() {
    let place = Place::new();
    let limit = std::fs::read_to_string("/proc/sys/net/core/rmem_max").unwrap();
    let limit: u64 = limit.trim().parse().unwrap();
    let asked = (2 * limit).min(512 << 20);
    let mut receiver = as_nobody(&place)
        .args(["udp", "recv", "--bind", "127.0.0.1", "--port", "0"])
        .args(["--senders", "1", "--json"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(receiver.stdout.as_mut().unwrap())
        .read_line(&mut line)
        .unwrap();
    let event: serde_json::Value = serde_json::from_str(&line).unwrap();
    let address = event["address"].as_str().unwrap();
    let result = output(
        place
            .knobstat()
            .args(["udp", "send", address, "--count", "100", "--json"])
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
