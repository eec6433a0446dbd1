//! `KNOBSTAT_NO_KNOBS=1` refuses every write to the machine's own settings, and two experiments
//! never run at once.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use crate::support::machine::Machine;
use crate::support::program::{Place, output};

/// The machine's own settings that an experiment could turn.
fn settings() -> Vec<(String, String)> {
    let paths = [
        "/sys/kernel/mm/transparent_hugepage/enabled",
        "/sys/devices/system/clocksource/clocksource0/current_clocksource",
        "/proc/sys/kernel/randomize_va_space",
        "/proc/sys/vm/swappiness",
    ];
    paths
        .into_iter()
        .filter_map(|path| Some((path.to_owned(), std::fs::read_to_string(path).ok()?)))
        .collect()
}

#[test]
fn no_setting_of_the_machine_itself_is_written() {
    let place = Place::new();
    let before = settings();
    let swappiness = std::fs::read_to_string("/proc/sys/vm/swappiness").unwrap_or_default();
    let other = if swappiness.trim() == "61" {
        "62"
    } else {
        "61"
    };
    let file = place.file(
        "own.toml",
        &format!(
            "name = \"own\"\n[workload]\nkind = \"command\"\ncommand = \"true\"\n[factors]\n\"sysctl:vm.swappiness\" = [{}, {other}]\nthp = [\"always\", \"madvise\", \"never\"]\n[design]\nreplicates = 2\n",
            swappiness.trim()
        ),
    );
    let ended = output(place.knobstat().args(["run", "--yes"]).arg(file));
    let said = ended.stdout() + &ended.stderr();
    assert!(said.contains("KNOBSTAT_NO_KNOBS"), "{said}");
    assert_eq!(settings(), before);
}

#[test]
fn a_second_experiment_is_refused_with_the_first_ones_id() {
    let (place, machine) = (Place::new(), Machine::desktop());
    let gate = place.path().join("gate");
    let made = std::process::Command::new("mkfifo")
        .arg(&gate)
        .status()
        .unwrap();
    assert!(made.success());
    // The first experiment's workload says that it runs, then waits for the gate.
    let ready = place.path().join("ready");
    assert!(
        std::process::Command::new("mkfifo")
            .arg(&ready)
            .status()
            .unwrap()
            .success()
    );
    let slow = place.file(
        "slow.toml",
        &format!(
            "name = \"slow\"\n[workload]\nkind = \"command\"\ncommand = \"sh -c 'echo > {}; cat {}'\"\nwarmup_runs = 0\n[factors]\nclocksource = [\"tsc\", \"hpet\"]\n[design]\nreplicates = 1\n",
            ready.display(),
            gate.display()
        ),
    );
    let mut first = place
        .knobstat_on(&machine)
        .args(["run", "--quiet"])
        .arg(&slow)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(std::fs::File::open(&ready).unwrap())
        .read_line(&mut line)
        .unwrap();

    let other = place.file(
        "other.toml",
        "name = \"other\"\n[workload]\nkind = \"command\"\ncommand = \"true\"\n[factors]\nthp = [\"always\", \"never\"]\n",
    );
    let refused = output(place.knobstat_on(&machine).arg("run").arg(other)).must_exit(5);
    let list = output(place.knobstat().args(["list", "--json"]))
        .must_exit(0)
        .json();
    let id = list[0]["id"].as_str().expect("the first one's id");
    assert!(
        refused.stderr().contains(id),
        "{id} is missing in {}",
        refused.stderr()
    );

    std::fs::write(&gate, "").unwrap();
    let mut line = String::new();
    BufReader::new(std::fs::File::open(&ready).unwrap())
        .read_line(&mut line)
        .unwrap();
    std::fs::write(&gate, "").unwrap();
    assert!(first.wait().unwrap().success());
    assert_eq!(machine.clock_source(), "tsc");
}
