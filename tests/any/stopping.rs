//! `design.stop`: an experiment ends when enough is known, and says why.

use crate::support::machine::Machine;
use crate::support::program::{Ended, Place, output};

/// A command whose figure depends on its level, with a spread that the run's own count makes: no
/// clock is in it, so that a run of this test is like any other.
const FILE: &str = r#"
name = "until it is known"

[workload]
kind = "command"
command = "sh {script} {size}"
warmup_runs = 0

[workload.metrics.speed]
regex = "speed ([0-9.]+)"
unit = "points"
better = "higher"
self_timed = false

[factors]
size = [100, {other}]

[design]
stop = { margin = "1%", max_replicates = {most} }
seed = 7
settle = "0s"

[analysis]
metric = "speed"
"#;

/// Prints the level plus a fixed sequence of tenths, one further with every run.
const SCRIPT: &str = r#"
count=$(cat "$0.count" 2>/dev/null || echo 0)
echo $((count + 1)) > "$0.count"
echo "speed $1.$((count * 7 % 10))"
"#;

fn run(place: &Place, other: &str, most: u32, arguments: &[&str]) -> Ended {
    let script = place.file("script.sh", SCRIPT);
    let file = FILE
        .replace("{script}", &script.display().to_string())
        .replace("[100, {other}]", &format!("[100, {other}]"))
        .replace("{most}", &most.to_string());
    let file = place.file("experiment.toml", &file);
    let mut command = place.knobstat_on(&Machine::desktop());
    output(command.arg("run").arg(file).args(arguments))
}
