//! Nothing finer than the step of a clock is claimed from its readings: runs are timed by
//! CLOCK_REALTIME_COARSE, which moves at the tick as the `jiffies` clock source does, and the
//! program is asked what differs.

use rustix::time::{ClockId, Timespec, clock_getres, clock_gettime};
use serde_json::json;

use crate::support::machine::Machine;
use crate::support::program::{Place, output};

fn nanoseconds(time: Timespec) -> i64 {
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

fn coarse() -> i64 {
    nanoseconds(clock_gettime(ClockId::RealtimeCoarse))
}

fn fine() -> i64 {
    nanoseconds(clock_gettime(ClockId::MonotonicRaw))
}

fn step() -> i64 {
    nanoseconds(clock_getres(ClockId::RealtimeCoarse))
}

/// Waits for the coarse clock to move; returns the fine clock's time just after.
fn edge() -> i64 {
    let before = coarse();
    while coarse() == before {
        std::hint::spin_loop();
    }
    fine()
}

/// How long something took, in nanoseconds.
#[derive(Clone, Copy, Debug)]
struct Took {
    by_the_coarse_clock: i64,
    truly: i64,
}

/// Something that begins so many tenths of a step after the coarse clock has moved, and ends when
/// it has moved so many times more. Tried again where another task got in between, so that it
/// truly took what was meant.
fn timed(tenths_after_a_step: i64, moves: i64) -> Took {
    let late = step() * tenths_after_a_step / 10;
    let meant = moves * step() - late;
    for _ in 0..1000 {
        let begin = edge() + late;
        while fine() < begin {
            std::hint::spin_loop();
        }
        let (coarse_start, start) = (coarse(), fine());
        for _ in 0..moves {
            edge();
        }
        let took = Took {
            by_the_coarse_clock: coarse() - coarse_start,
            truly: fine() - start,
        };
        if took.by_the_coarse_clock == moves * step() && (took.truly - meant).abs() < step() / 4 {
            return took;
        }
    }
    panic!("this machine was too busy for a thousand times");
}

/// What the program says of runs that took this, with the coarse clock as their stopwatch.
fn judged(place: &Place, name: &str, a: (i64, i64), b: (i64, i64)) -> serde_json::Value {
    let machine = Machine::desktop();
    let file = place.file(
        &format!("{name}.toml"),
        &format!(
            "name = \"{name}\"\n[workload]\nkind = \"command\"\ncommand = \"true\"\nwarmup_runs = 0\n[factors]\nclocksource = [\"tsc\", \"hpet\"]\n[design]\nreplicates = 8\nsettle = \"0s\"\n"
        ),
    );
    let report = output(
        place
            .knobstat_on(&machine)
            .args(["run", "--json", "--quiet"])
            .arg(file),
    )
    .must_exit(0)
    .json();
    let id = report["experiment"]["id"].as_str().unwrap();
    let mut export = output(place.knobstat().args(["export", id]))
        .must_exit(0)
        .json();
    let treatments = export["record"]["plan"]["treatments"].clone();
    for attempt in export["record"]["attempts"].as_array_mut().unwrap() {
        let treatment = &treatments[attempt["treatment"].as_u64().unwrap() as usize];
        let is_baseline = treatment.to_string().contains("tsc");
        let (tenths, moves) = if is_baseline { a } else { b };
        let took = timed(tenths, moves);
        println!("{name}: {took:?}");
        for metric in attempt["result"]["metrics"].as_array_mut().unwrap() {
            metric["value"] = json!(took.by_the_coarse_clock as f64 / 1e9);
            metric["granularity"] = json!(step() as f64 / 1e9);
        }
    }
    let file = place.file(&format!("{name}.json"), &export.to_string());
    let store = place.path().join(format!("{name}.store"));
    let in_a_store_of_its_own = |arguments: &[&str]| {
        output(place.knobstat().args(arguments).arg("--store").arg(&store)).must_exit(0)
    };
    in_a_store_of_its_own(&["import", &file.to_string_lossy()]);
    let report = in_a_store_of_its_own(&["report", id, "--json"]).json();
    report["comparisons"][0].clone()
}

#[test]
fn a_difference_within_the_step_of_the_clock_is_not_claimed() {
    let place = Place::new();
    // A step against a step and a tenth: by the coarse clock, one step against two, every time.
    let found = judged(&place, "within", (0, 1), (9, 2));
    println!("{}", found["sentence"]);
    assert_eq!(found["difference"].as_f64(), Some(step() as f64 / 1e9));
    assert_eq!(found["verdict"], "undecided", "{found}");

    // A step against six: that is beyond what a step can hide.
    let found = judged(&place, "beyond", (0, 1), (0, 6));
    println!("{}", found["sentence"]);
    assert_eq!(found["verdict"], "different", "{found}");
}
