//! UDP through the program: levels that this machine or this way cannot take are left out with
//! their reason, and a pair of namespaces serves whoever may have one.

use crate::support::program::{Place, output};

/// A short experiment on these keys of the workload and these factors.
fn experiment(workload: &str, factors: &str) -> String {
    format!(
        "name = \"datagrams\"\n[workload]\nkind = \"udp\"\ncount = 200\n{workload}\n\
         [factors]\n{factors}\n[design]\nreplicates = 2\nseed = 6\n"
    )
}

#[test]
fn a_method_that_the_way_cannot_take_is_left_out_with_its_reason() {
    let place = Place::new();
    let file = place.file(
        "method.toml",
        &experiment("", "method = [\"send\", \"sendmmsg\", \"tx_ring\"]"),
    );
    let report = output(
        place
            .knobstat()
            .args(["run", "--quiet", "--json"])
            .arg(file),
    )
    .must_exit(0)
    .json();
    let omitted = report["omitted"].as_array().expect("omitted");
    assert_eq!(omitted.len(), 1, "{omitted:?}");
    assert_eq!(omitted[0]["factor"], "method");
    assert_eq!(omitted[0]["level"], "tx_ring");
    let reason = omitted[0]["reason"].as_str().expect("a reason");
    assert!(reason.contains("interface"), "{reason}");
    assert_eq!(
        report["treatments"].as_array().expect("treatments").len(),
        2
    );
}

#[test]
fn a_cell_that_does_not_fit_is_left_out_and_its_levels_are_not() {
    let place = Place::new();
    let file = place.file(
        "sizes.toml",
        &experiment(
            "bind = \"127.0.0.1\"",
            "method = [\"sendmmsg\", \"gso\"]\npacket_size = [0, 64]",
        ),
    );
    let report = output(
        place
            .knobstat()
            .args(["run", "--quiet", "--json"])
            .arg(file),
    )
    .must_exit(0)
    .json();
    assert_eq!(
        report["treatments"].as_array().expect("treatments").len(),
        3,
        "{report:#}"
    );
}

#[test]
fn a_workload_that_cannot_be_had_at_all_is_refused_before_anything_runs() {
    let place = Place::new();
    let file = place.file(
        "frames.toml",
        &experiment("method = \"af_xdp\"", "packet_size = [64, 128]"),
    );
    let ended = output(place.knobstat().args(["run", "--quiet"]).arg(file)).must_exit(2);
    assert!(ended.stderr().contains("veth"), "{}", ended.stderr());
}

#[test]
fn a_pair_of_namespaces_carries_every_datagram() {
    let place = Place::new();
    let file = place.file(
        "pair.toml",
        &experiment(
            "endpoints = \"veth\"",
            "method = [\"sendmmsg\", \"af_xdp\"]",
        ),
    );
    let ended = output(
        place
            .knobstat()
            .args(["run", "--quiet", "--json"])
            .arg(file),
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
    for treatment in report["treatments"].as_array().expect("treatments") {
        assert_eq!(treatment["metrics"]["loss"]["max"], 0.0, "{treatment:#}");
    }
}
