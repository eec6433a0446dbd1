use super::*;
use crate::MachineFile;

const MACHINE: &str = include_str!("../../machines/opteron-tg3.toml");

fn machine() -> MachineFile {
    MachineFile::parse(MACHINE, "opteron-tg3.toml").unwrap()
}

fn load(bytes: f64) -> Load {
    Load {
        bytes,
        method: "send".to_owned(),
        quota: Quota::For(1e8),
        pacing: None,
        reads_per_packet: 0,
        slowness: 1.0,
    }
}

fn run_on(machine: &MachineFile, clock: &str, load: &Load) -> LinkRun {
    let clock = Reading::of(machine.clock(clock).unwrap(), 1000, 0.0);
    run(machine.network.as_ref().unwrap(), clock, load).unwrap()
}

/// Unpaced, the sender is limited by its own costs or by the wire, whichever takes longer.
#[test]
fn the_slower_of_sender_and_wire_decides() {
    let machine = machine();
    for bytes in [64.0, 256.0, 1400.0] {
        let ran = run_on(&machine, "tsc", &load(bytes));
        let wire = (bytes + 66.0) * 8.0;
        let sender = 3550.0 + 0.3 * bytes;
        let expected = 1e8 / f64::max(wire, sender);
        let received = ran.received as f64;
        assert!(
            (received / expected - 1.0).abs() < 0.01,
            "{bytes}: {received} {expected}"
        );
        assert_eq!(ran.refusals > 0, wire > sender);
    }
}

#[test]
fn readings_cost_what_the_clock_costs() {
    let machine = machine();
    let with_reads = Load {
        reads_per_packet: 2,
        quota: Quota::Count(1000),
        ..load(64.0)
    };
    let ran = run_on(&machine, "acpi_pm", &with_reads);
    let each = 3550.0 + 0.3 * 64.0 + 2.0 * 1220.0;
    assert!((ran.sending - 1000.0 * each).abs() < 1.0);
    assert_eq!(ran.sent, 1000);
}

#[test]
fn a_schedule_is_kept_to_the_datagram() {
    let machine = machine();
    let paced = Load {
        pacing: Some((Pacer::Schedule, 10_000.0)),
        ..load(64.0)
    };
    let ran = run_on(&machine, "tsc", &paced);
    assert_eq!(ran.sent, 1000);
    let keeping = ran.keeping.unwrap();
    assert_eq!(keeping.late, 0);
    assert!(keeping.gaps_within_a_tenth.unwrap() > 0.99);
}

/// By a clock that moves once a millisecond ten datagrams are due at once.
#[test]
fn a_coarse_clock_bunches_a_schedule() {
    let machine = machine();
    let paced = Load {
        pacing: Some((Pacer::Schedule, 10_000.0)),
        ..load(64.0)
    };
    let ran = run_on(&machine, "jiffies", &paced);
    assert!(ran.keeping.unwrap().late > 800, "{ran:?}");
}

#[test]
fn a_slow_receiver_drops_and_nothing_is_counted_twice() {
    let mut machine = machine();
    let network = machine.network.as_mut().unwrap();
    network.receiver.per_packet.value.0 = 20_000.0;
    network.receiver.buffer.value.0 = 30_000.0;
    let ran = run_on(&machine, "tsc", &load(64.0));
    assert!(ran.received < ran.sent);
    let expected = 1e8 / 20_000.0 + 101.0;
    assert!(
        (ran.received as f64 / expected - 1.0).abs() < 0.02,
        "{}",
        ran.received
    );
}

#[test]
fn what_the_file_does_not_know_is_refused() {
    let machine = machine();
    let network = machine.network.as_ref().unwrap();
    let clock = Reading::of(machine.clock("tsc").unwrap(), 1000, 0.0);
    let gso = Load {
        method: "gso".to_owned(),
        ..load(64.0)
    };
    assert!(matches!(
        run(network, clock, &gso),
        Err(NetworkError::NoMethod { .. })
    ));
    assert!(matches!(
        run(network, clock, &load(1473.0)),
        Err(NetworkError::TooLarge { .. })
    ));
}
