//! `KNOBSTAT_NO_KNOBS=1` refuses every write to the machine's own settings, and two experiments
//! never run at once.

use std::process::Stdio;

use crate::support::machine::Machine;
use crate::support::pipe::{Pipe, watched};
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
    // Each of the first experiment's runs says that it is there, then waits to be let go.
    let [mut ready, mut go] = ["ready", "go"].map(|name| Pipe::new(&place, name));
    let slow = place.file(
        "slow.toml",
        &format!(
            "name = \"slow\"\n[workload]\nkind = \"command\"\ncommand = \"sh -c 'echo > {}; read answer < {}'\"\nwarmup_runs = 0\n[factors]\nclocksource = [\"tsc\", \"hpet\"]\n[design]\nreplicates = 1\n",
            ready.path.display(),
            go.path.display()
        ),
    );
    let mut first = place
        .knobstat_on(&machine)
        .args(["run", "--quiet"])
        .arg(&slow)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let watched = watched(&first);
    ready.hear(&watched);

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

    go.say();
    ready.hear(&watched);
    go.say();
    assert!(first.wait().unwrap().success());
    assert_eq!(machine.clock_source(), "tsc");
}
