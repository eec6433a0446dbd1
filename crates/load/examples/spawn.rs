//! Runs a program over and over as the agent runs a command, for `bench/spawn/run`.
//!
//! `spawn RUNS PROGRAM` prints the wall time that each run reports, in nanoseconds, one a line;
//! then, each summed over all runs, in microseconds: `cpu`, the harness's own CPU time from clone
//! to reap; `evidence`, the time that it took to take and to decode the evidence.

use std::process::ExitCode;
use std::time::Duration;

use knobstat_data::messages::RunSpec;
use knobstat_data::observation::Outcome;
use knobstat_data::words::RequestId;
use knobstat_data::{ExperimentId, Parameters, RunResult, Value};
use knobstat_load::run::{Executor, SpawnSettings};
use knobstat_sys::clock::Stopwatch;
use knobstat_sys::root::Root;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("spawn: {reason}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), String> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [runs, program] = arguments.as_slice() else {
        return Err("usage: spawn RUNS PROGRAM".to_owned());
    };
    let runs: u32 = runs.parse().map_err(|_| "RUNS is no number".to_owned())?;
    let experiment = ExperimentId::of(&RequestId::of("bench", "spawn"), [0; 16]);
    let mut executor = Executor::new(&Root::real(), &experiment, Stopwatch::calibrated())
        .map_err(|error| error.to_string())?;
    let words = Value::List(vec![Value::Text(program.clone())]);
    let spec = RunSpec {
        run: "0a".parse().map_err(|_| "no run".to_owned())?,
        workload: "command".to_owned(),
        parameters: Parameters::from([("command".to_owned(), words)]),
        metrics: Vec::new(),
        knobs: Vec::new(),
        settle: Duration::ZERO,
        knobs_changed: false,
        cool_below: None,
    };
    let mut walls = Vec::new();
    let (mut cpu, mut evidence) = (0.0, 0.0);
    for _ in 0..runs {
        let result = executor.run(&spec, &SpawnSettings::default(), &[], Vec::new);
        let times = match (&result.outcome, &result.times) {
            (Outcome::Ok, Some(times)) => times,
            (outcome, _) => return Err(format!("a run came to {outcome:?}")),
        };
        walls.push(times.wall.as_nanos());
        cpu += seconds(&result, "harness.cpu_time");
        evidence += seconds(&result, "evidence.taking") + seconds(&result, "evidence.decoding");
    }
    for wall in walls {
        println!("{wall}");
    }
    println!("cpu {:.0}", cpu * 1e6);
    println!("evidence {:.0}", evidence * 1e6);
    Ok(())
}

fn seconds(result: &RunResult, key: &str) -> f64 {
    let found = result.evidence.iter().find(|one| one.key == key);
    found.and_then(|one| one.value.clone().ok()).unwrap_or(0.0)
}
