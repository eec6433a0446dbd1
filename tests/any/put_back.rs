//! The machine is always put back: after success, failure, every signal, and the death of any of
//! the three processes.

use std::os::unix::process::ExitStatusExt;
use std::process::Command;

use crate::support::endless::Endless;
use crate::support::guardian::guardian_of;
use crate::support::machine::Machine;
use crate::support::processes::{children, kill, wait_until_gone};
use crate::support::program::{Place, output};

fn start(place: &Place, machine: &Machine) -> Endless {
    let tables = "[factors]\nclocksource = [\"hpet\", \"acpi_pm\"]\ncstate = [\"C1\", \"C3\"]\n[fixed]\nturbo = \"off\"";
    let running = Endless::start(place, machine, "", tables);
    assert_ne!(
        machine.clock_source(),
        "tsc",
        "the knobs are turned while it runs"
    );
    running
}

/// Starts it and kills the program, the agent and the guardian, so that nobody is left to put the
/// machine back.
fn start_and_kill_all_three(place: &Place, machine: &Machine) {
    let mut running = start(place, machine);
    let agent = children(running.front.id())[0];
    let guardian = guardian_of(machine.path()).expect("a guardian");
    for pid in [guardian, agent, running.front.id() as i32] {
        kill("KILL", pid);
    }
    running.front.wait().unwrap();
    for pid in [guardian, agent, running.workload] {
        wait_until_gone(pid);
    }
}

#[test]
fn signals_end_the_run_and_put_everything_back() {
    for (signal, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        let (place, machine) = (Place::new(), Machine::desktop());
        let before = machine.bytes();
        let mut running = start(&place, &machine);
        running.signal(signal);
        let said = running.said();
        let status = running.front.wait().unwrap();
        assert_eq!(status.code(), Some(code), "{signal}: {said}");
        assert!(said.contains("continue"), "{said}");
        wait_until_gone(running.workload);
        assert_eq!(machine.bytes(), before, "{signal}");
    }
}

#[test]
fn a_front_that_is_killed_leaves_nothing_behind() {
    let (place, machine) = (Place::new(), Machine::desktop());
    let before = machine.bytes();
    let mut running = start(&place, &machine);
    let agent = children(running.front.id())[0];
    running.signal("KILL");
    assert_eq!(running.front.wait().unwrap().signal(), Some(9));
    wait_until_gone(running.workload);
    wait_until_gone(agent);
    assert_eq!(machine.bytes(), before);
}

#[test]
fn an_agent_that_is_killed_is_avenged_by_its_guardian() {
    let (place, machine) = (Place::new(), Machine::desktop());
    let before = machine.bytes();
    let mut running = start(&place, &machine);
    let agent = children(running.front.id())[0];
    let guardian = guardian_of(machine.path()).expect("a guardian");
    kill("KILL", agent);
    let said = running.said();
    assert_ne!(running.front.wait().unwrap().code(), Some(0), "{said}");
    wait_until_gone(guardian);
    wait_until_gone(running.workload);
    assert_eq!(machine.bytes(), before);
    let left = output(place.knobstat_on(&machine).arg("restore")).must_exit(0);
    assert!(left.stdout().contains("othing"), "{}", left.stdout());
}

#[test]
fn when_all_three_are_killed_the_journal_is_enough() {
    let (place, machine) = (Place::new(), Machine::desktop());
    let before = machine.bytes();
    start_and_kill_all_three(&place, &machine);
    assert_ne!(machine.bytes(), before, "nobody was left to put it back");

    let dry = output(place.knobstat_on(&machine).args(["restore", "--dry-run"])).must_exit(0);
    assert!(dry.stdout().contains("tsc"), "{}", dry.stdout());
    assert_ne!(machine.bytes(), before, "a dry run changes nothing");
    output(place.knobstat_on(&machine).arg("restore")).must_exit(0);
    assert_eq!(machine.bytes(), before);
    output(place.knobstat_on(&machine).arg("restore")).must_exit(0);
    assert_eq!(machine.bytes(), before, "once is enough");
}

#[test]
fn the_next_run_puts_back_what_was_left_before_it_begins() {
    let (place, machine) = (Place::new(), Machine::desktop());
    let before = machine.bytes();
    start_and_kill_all_three(&place, &machine);
    let file = place.file(
        "next.toml",
        "name = \"next\"\n[workload]\nkind = \"command\"\ncommand = \"true\"\nwarmup_runs = 0\n[factors]\nthp = [\"always\", \"never\"]\n[design]\nreplicates = 2\n",
    );
    let ended = output(place.knobstat_on(&machine).arg("run").arg(file)).must_exit(0);
    assert!(ended.stderr().contains("back to tsc"), "{}", ended.stderr());
    assert_eq!(machine.bytes(), before);
}

#[test]
fn a_value_that_somebody_else_wrote_is_left_and_named() {
    let (place, machine) = (Place::new(), Machine::desktop());
    let mut running = start(&place, &machine);
    let turbo = "sys/devices/system/cpu/intel_pstate/no_turbo";
    assert_eq!(machine.read(turbo).trim(), "1");
    let source = "sys/devices/system/clocksource/clocksource0/current_clocksource";
    machine.write(source, "kvm-clock\n");
    running.signal("TERM");
    let said = running.said();
    running.front.wait().unwrap();
    assert_eq!(machine.read(source), "kvm-clock\n", "{said}");
    assert!(said.contains("kvm-clock"), "{said}");
    assert_eq!(machine.read(turbo).trim(), "0", "what was ours is put back");
}

#[test]
fn a_treatment_that_was_set_up_is_torn_down_when_the_run_is_broken_off() {
    let (place, machine) = (Place::new(), Machine::desktop());
    let there = place.path().join("there");
    let steps = format!(
        "setup = \"mkdir {0}\"\nteardown = \"rmdir {0}\"",
        there.display()
    );
    let tables = "[factors]\nthp = [\"always\", \"never\"]";
    let mut running = Endless::start(&place, &machine, &steps, tables);
    assert!(there.exists(), "the treatment is set up");
    running.signal("INT");
    assert_eq!(running.front.wait().unwrap().code(), Some(130));
    assert!(!there.exists(), "and torn down");
}

#[test]
fn a_unit_that_puts_back_at_boot_is_written_whole_and_enabled() {
    let (place, machine) = (Place::new(), Machine::desktop());
    let without = output(place.knobstat_on(&machine).args(["restore", "--install"])).must_exit(2);
    assert!(
        without.stderr().contains("systemd is not here"),
        "{}",
        without.stderr()
    );

    std::fs::create_dir_all(machine.path().join("etc/systemd/system")).unwrap();
    for _ in 0..2 {
        output(place.knobstat_on(&machine).args(["restore", "--install"])).must_exit(0);
        let unit = machine.read("etc/systemd/system/knobstat-restore.service");
        let program = format!("ExecStart=\"{}\" restore\n", env!("CARGO_BIN_EXE_knobstat"));
        assert!(unit.contains(&program), "{unit}");
        assert!(
            unit.ends_with("[Install]\nWantedBy=multi-user.target\n"),
            "{unit}"
        );
        let enabled = "etc/systemd/system/multi-user.target.wants/knobstat-restore.service";
        assert_eq!(machine.read(enabled), unit, "the link leads to it");
    }
}

#[test]
fn a_dry_run_prints_commands_that_do_what_restore_would() {
    let (place, machine) = (Place::new(), Machine::desktop());
    let before = machine.bytes();
    start_and_kill_all_three(&place, &machine);
    let dry = output(place.knobstat_on(&machine).args(["restore", "--dry-run"])).must_exit(0);
    let arguments = ["restore", "--dry-run", "--json"];
    let planned = output(place.knobstat_on(&machine).args(arguments)).must_exit(0);
    let planned = planned.json();
    assert_eq!(planned["dry_run"], true);
    let commands = planned["put_back"].as_array().unwrap().iter();
    let commands: Vec<&str> = commands.filter_map(|command| command.as_str()).collect();
    assert_eq!(commands, dry.stdout().lines().collect::<Vec<_>>());

    let typed = Command::new("sh").args(["-ec", &dry.stdout()]).status();
    assert!(typed.unwrap().success(), "{}", dry.stdout());
    assert_eq!(machine.bytes(), before);
    let restored = output(place.knobstat_on(&machine).args(["restore", "--json"])).must_exit(0);
    let restored = restored.json();
    assert_eq!(restored["schema"], "knobstat.restore/1");
    assert_eq!(restored["failed"], serde_json::json!([]));
    assert_eq!(machine.bytes(), before);
}
