//! UDP through the program: levels that this machine or this way cannot take are left out with
//! their reason, and a pair of namespaces serves whoever may have one.

use crate::support::machine::Machine;
use crate::support::program::{Ended, Place, output};

/// A short experiment on these keys of the workload and these factors.
fn experiment(workload: &str, factors: &str) -> String {
    format!(
        "name = \"datagrams\"\n[workload]\nkind = \"udp\"\ncount = 200\n{workload}\n\
         [factors]\n{factors}\n[design]\nreplicates = 2\nseed = 6\n"
    )
}

/// Runs a short experiment.
fn run(workload: &str, factors: &str) -> Ended {
    run_in(&Place::new(), workload, factors)
}

fn run_in(place: &Place, workload: &str, factors: &str) -> Ended {
    let file = place.file("datagrams.toml", &experiment(workload, factors));
    output(
        place
            .knobstat_on(&Machine::desktop())
            .args(["run", "--quiet", "--json"])
            .arg(file),
    )
}

fn treatments(report: &serde_json::Value) -> &[serde_json::Value] {
    report["treatments"].as_array().expect("treatments")
}

#[test]
fn a_method_that_the_way_cannot_take_is_left_out_with_its_reason() {
    let report = run("", "method = [\"send\", \"sendmmsg\", \"tx_ring\"]")
        .must_exit(0)
        .json();
    let omitted = report["omitted"].as_array().expect("omitted");
    assert_eq!(omitted.len(), 1, "{omitted:?}");
    assert_eq!(omitted[0]["factor"], "method");
    assert_eq!(omitted[0]["level"], "tx_ring");
    let reason = omitted[0]["reason"].as_str().expect("a reason");
    assert!(reason.contains("interface"), "{reason}");
    assert_eq!(treatments(&report).len(), 2);
}

#[test]
fn a_cell_that_does_not_fit_is_left_out_and_its_levels_are_not() {
    let report = run(
        "bind = \"127.0.0.1\"",
        "method = [\"sendmmsg\", \"gso\"]\npacket_size = [0, 64]",
    )
    .must_exit(0)
    .json();
    assert_eq!(treatments(&report).len(), 3, "{report:#}");
}

#[test]
fn a_workload_that_cannot_be_had_at_all_is_refused_before_anything_runs() {
    let ended = run("method = \"af_xdp\"", "packet_size = [64, 128]").must_exit(2);
    assert!(ended.stderr().contains("veth"), "{}", ended.stderr());
}

#[test]
fn a_pair_of_namespaces_carries_every_datagram() {
    let ended = run(
        "endpoints = \"veth\"",
        "method = [\"sendmmsg\", \"af_xdp\"]",
    );
    if ended.code() == Some(2) && ended.stderr().contains("veth") {
        eprintln!("skipped: {}", ended.stderr());
        let is_root = rustix::process::geteuid().is_root();
        assert!(
            !is_root || std::env::var_os("KNOBSTAT_REQUIRE").is_none(),
            "root has no network namespaces"
        );
        return;
    }
    let report = ended.must_exit(0).json();
    for treatment in treatments(&report) {
        assert_eq!(treatment["metrics"]["loss"]["max"], 0.0, "{treatment:#}");
    }
}

/// A receiver that serves so many senders, and where it listens.
fn receiver(place: &Place, senders: u32) -> (std::process::Child, String) {
    use std::io::{BufRead, BufReader};
    let mut process = place
        .knobstat()
        .args([
            "udp",
            "recv",
            "--bind",
            "127.0.0.1",
            "--port",
            "0",
            "--json",
        ])
        .args(["--senders", &senders.to_string()])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("the receiver starts");
    let mut line = String::new();
    let output = process.stdout.as_mut().expect("its output");
    BufReader::new(output).read_line(&mut line).expect("a line");
    let event: serde_json::Value = serde_json::from_str(&line).expect("JSON");
    let address = event["address"].as_str().expect("an address").to_owned();
    (process, address)
}

#[test]
fn two_ends_give_one_result_as_json_even_of_empty_intervals() {
    let place = Place::new();
    let (mut process, address) = receiver(&place, 2);
    let json = output(
        place
            .knobstat()
            .args(["udp", "send", &address, "--rate", "4", "--count", "3"])
            .args(["--interval", "100ms", "--delays", "--json"]),
    )
    .must_exit(0)
    .json();
    assert_eq!(json["schema"], "knobstat.udp/1");
    assert_eq!(
        (&json["sent"], &json["received"], &json["lost"]),
        (&3.into(), &3.into(), &0.into())
    );
    assert_eq!(json["gaps"]["count"], 2);
    let intervals = json["intervals"].as_array().expect("intervals");
    assert!(intervals.iter().any(|interval| interval["received"] == 0));
    let small = output(
        place
            .knobstat()
            .args(["udp", "send", &address, "--packet-size", "1"])
            .args(["--count", "10", "--quiet", "--json"]),
    )
    .must_exit(0)
    .json();
    assert!(small["order"]["reordered"].is_null());
    assert!(small["order"]["reason"].is_string());
    assert!(small["gaps"]["nanoseconds"].is_null());
    assert!(process.wait().expect("the receiver ends").success());
}

/// What `knobstat udp send` says of a run with these arguments, as JSON.
fn sent(place: &Place, address: &str, arguments: &[&str]) -> serde_json::Value {
    output(
        place
            .knobstat()
            .args(["udp", "send", address, "--json"])
            .args(arguments),
    )
    .must_exit(0)
    .json()
}

fn evidence<'a>(result: &'a serde_json::Value, key: &str) -> &'a serde_json::Value {
    let all = result["evidence"].as_array().expect("evidence");
    let found = all.iter().find(|evidence| evidence["key"] == key);
    found.unwrap_or_else(|| panic!("no evidence {key}"))
}

#[test]
fn datagrams_go_either_way_or_both_and_the_result_says_which() {
    let place = Place::new();
    let (mut process, address) = receiver(&place, 4);
    let reverse = sent(&place, &address, &["--reverse", "--count", "10"]);
    assert_eq!(reverse["direction"], "reverse");
    assert_eq!(
        (&reverse["sent"], &reverse["received"]),
        (&10.into(), &10.into())
    );
    let forward = sent(&place, &address, &["--count", "10"]);
    assert_eq!(forward["direction"], "forward");
    let both = ["--both", "--count", "100", "--rate", "2000"];
    let both = sent(&place, &address, &both);
    assert_eq!(both["direction"], "both");
    for direction in ["forward", "reverse"] {
        assert_eq!(both[direction]["direction"], direction);
        assert_eq!(both[direction]["sent"], 100);
        let received = both[direction]["received"].as_u64().expect("a count");
        let lost = both[direction]["lost"].as_u64().expect("a count");
        assert_eq!(received + lost, 100);
    }
    assert!(process.wait().expect("the receiver ends").success());
}

#[test]
fn numbers_may_begin_just_below_31_and_32_bits() {
    let place = Place::new();
    let (mut process, address) = receiver(&place, 4);
    for first in [(1u64 << 31) - 10, (1 << 32) - 10] {
        for way in [None, Some("--reverse")] {
            let first = first.to_string();
            let mut arguments = vec!["--first-number", &first, "--count", "100"];
            arguments.extend(way);
            let result = sent(&place, &address, &arguments);
            assert_eq!(result["received"], 100, "{first}: {result:#}");
            assert_eq!(result["order"]["reordered"], 0, "{first}");
            assert_eq!(result["order"]["duplicated"], 0, "{first}");
            assert_eq!(evidence(&result, "packets.lost")["value"], 0.0);
        }
    }
    assert!(process.wait().expect("the receiver ends").success());
}

#[test]
fn what_is_done_about_missed_times_is_a_choice_and_in_the_result() {
    let place = Place::new();
    let (mut process, address) = receiver(&place, 2);
    // More than any sender can do.
    let fast = ["--rate", "1e9", "--duration", "50ms", "--method", "send"];
    let catching_up = sent(&place, &address, &fast);
    assert_eq!(evidence(&catching_up, "pacer.catch_up")["value"], 1.0);
    assert_eq!(evidence(&catching_up, "pacer.skipped")["value"], 0.0);
    let giving_up = [&fast[..], &["--no-catch-up"]].concat();
    let giving_up = sent(&place, &address, &giving_up);
    assert_eq!(evidence(&giving_up, "pacer.catch_up")["value"], 0.0);
    assert_eq!(evidence(&giving_up, "pacer.late")["value"], 0.0);
    let skipped = evidence(&giving_up, "pacer.skipped")["value"].as_f64();
    assert!(skipped.expect("a count") > 0.0, "{giving_up:#}");
    assert!(process.wait().expect("the receiver ends").success());
}

#[test]
fn energy_is_a_number_or_a_reason_at_both_ends() {
    let place = Place::new();
    let (mut process, address) = receiver(&place, 1);
    let result = sent(&place, &address, &["--count", "100"]);
    let all = result["evidence"].as_array().expect("evidence");
    let energy: Vec<_> = all
        .iter()
        .filter(|evidence| evidence["key"] == "energy.per_packet")
        .collect();
    let scopes: Vec<_> = energy.iter().map(|evidence| &evidence["scope"]).collect();
    assert_eq!(scopes, ["sender", "receiver"]);
    for evidence in energy {
        assert_ne!(
            evidence["value"].is_number(),
            evidence["reason"].is_string(),
            "{evidence}"
        );
    }
    assert!(process.wait().expect("the receiver ends").success());
}

#[test]
fn an_experiment_can_have_its_receiver_elsewhere() {
    let place = Place::new();
    let (mut process, address) = receiver(&place, 4);
    let endpoints = format!("endpoints = {{ receiver = \"{address}\" }}");
    let report = run_in(&place, &endpoints, "packet_size = [64, 128]")
        .must_exit(0)
        .json();
    assert_eq!(treatments(&report).len(), 2);
    assert!(process.wait().expect("the receiver ends").success());
}

#[test]
fn a_receiver_that_is_not_there_is_a_sentence() {
    let place = Place::new();
    let ended = output(
        place
            .knobstat()
            .args(["udp", "send", "127.0.0.1:1", "--count", "1"]),
    )
    .must_exit(1);
    assert!(
        ended.stderr().contains("knobstat udp recv"),
        "{}",
        ended.stderr()
    );
}
