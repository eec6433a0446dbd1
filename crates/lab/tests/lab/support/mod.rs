//! Experiments, attempts and a reproducible chance for the tests of this crate.

use std::collections::BTreeMap;
use std::time::Duration;

use knobstat_data::experiment::{
    AnalysisChoice, Correction, Design, Factor, FactorKind, OnFailure, Order, Settle, TargetChoice,
    Unavailable, Workload,
};
use knobstat_data::observation::{
    Evidence, KnobReading, Limit, MetricValue, Outcome, Settling, Times,
};
use knobstat_data::plan::{self, PlannedRun};
use knobstat_data::vocabulary::Scope;
use knobstat_data::words::{
    AttemptId, Better, Bytes, Celsius, ExperimentId, Level, Metric, Parameters, Ratio, RequestId,
    Treatment, Unit, UnixTime, Value,
};
use knobstat_data::{Attempt, Experiment, Machine, Record, RunResult};

/// The metric of every experiment here.
pub fn wall() -> Metric {
    Metric {
        name: "wall".to_owned(),
        unit: Unit::SECONDS,
        better: Better::Lower,
        self_timed: false,
    }
}

/// An experiment with one knob that is turned at once.
pub fn experiment(levels: &[&str], replicates: u32, warmup_runs: u32) -> Experiment {
    Experiment {
        name: "clock sources".to_owned(),
        description: None,
        tags: vec!["test".to_owned()],
        workload: Workload {
            kind: "command".to_owned(),
            parameters: Parameters::from([
                (
                    "command".to_owned(),
                    Value::List(vec![Value::Text("true".to_owned())]),
                ),
                ("cpus".to_owned(), Value::Size(Bytes(1))),
            ]),
            varied: BTreeMap::new(),
            templates: Vec::new(),
            commands: vec!["command".to_owned()],
            warmup_runs,
            metrics: vec![wall()],
        },
        factors: vec![factor("clocksource", levels, Scope::Runtime)],
        fixed: Vec::new(),
        own_knobs: Vec::new(),
        design: Design {
            replicates,
            stop: None,
            order: Order::RandomizedBlocks,
            seed: Some(2007),
            exclude: Vec::new(),
            settle: Settle::AfterChange,
            cool_below: None,
            unavailable: Unavailable::Skip,
            max_repeats: 3,
            on_failure: OnFailure::Continue,
        },
        target: TargetChoice::Local,
        analysis: AnalysisChoice {
            metric: wall(),
            baseline: Treatment::default(),
            confidence: Ratio::from_percent(95.0),
            margin: None,
            correction: Correction::Holm,
            trust_self_timed: false,
        },
    }
}

/// A knob with these levels.
pub fn factor(name: &str, levels: &[&str], scope: Scope) -> Factor {
    Factor {
        name: name.to_owned(),
        levels: levels.iter().map(|&level| Level::from(level)).collect(),
        kind: FactorKind::Knob(scope),
    }
}

/// The identity of an experiment that is told apart by one byte.
pub fn id(byte: u8) -> ExperimentId {
    ExperimentId::of(&RequestId::of("test", "machine"), [byte; 16])
}

/// The record of an experiment that nothing was run of yet.
pub fn record(experiment: Experiment, byte: u8) -> Record {
    let id = id(byte);
    Record {
        request: RequestId::of("test", "machine"),
        source: "name = \"clock sources\"\n".to_owned(),
        machine: Machine {
            id: "machine".to_owned(),
            host: Some("host".to_owned()),
            ..Machine::default()
        },
        plan: plan::draw(&experiment, &id, 2007),
        id,
        experiment,
        omitted: Vec::new(),
        started: UnixTime(1_196_000_000_000),
        finished: None,
        attempts: Vec::new(),
    }
}

/// The bits of the `number`th identity.
pub fn bits(number: u64) -> [u8; 16] {
    u128::from(number).to_le_bytes()
}

/// An attempt at a run with an outcome and nothing else.
pub fn attempt(run: &PlannedRun, sequence: u64, outcome: Outcome) -> Attempt {
    Attempt {
        id: AttemptId::from_random(bits(sequence)),
        run: run.id.clone(),
        block: run.block,
        boot: run.boot,
        treatment: run.treatment,
        warmup: run.warmup,
        sequence,
        started: UnixTime(1_196_000_000_000 + 1000 * sequence as i64),
        finished: UnixTime(1_196_000_000_900 + 1000 * sequence as i64),
        result: RunResult::bare(outcome),
    }
}

/// A result with something in every field.
pub fn full_result(outcome: Outcome, value: f64) -> RunResult {
    RunResult {
        outcome,
        metrics: vec![
            MetricValue {
                metric: wall(),
                value,
                limited_by: None,
                granularity: Some(1e-9),
            },
            MetricValue {
                metric: Metric {
                    name: "throughput, \"raw\"".to_owned(),
                    unit: Unit::MEGABITS_PER_SECOND,
                    better: Better::Higher,
                    self_timed: true,
                },
                value: value / 3.0,
                limited_by: Some(Limit::Receiver),
                granularity: None,
            },
        ],
        evidence: vec![
            Evidence {
                key: "cpu.user".to_owned(),
                scope: "run".to_owned(),
                unit: Unit::SECONDS,
                value: Ok(0.1 + value),
            },
            Evidence {
                key: "package.energy".to_owned(),
                scope: "package0".to_owned(),
                unit: Unit::new("J"),
                value: Err("needs root,\nor a newer kernel".to_owned()),
            },
        ],
        times: Some(Times {
            stopwatch: "tsc".to_owned(),
            wall: Duration::from_nanos(1_234_567_890),
            monotonic: Duration::from_nanos(1_234_567_891),
            monotonic_raw: Duration::from_nanos(1_234_567_892),
            boottime: Duration::from_nanos(1_234_567_893),
            cpu: Duration::from_nanos(1),
        }),
        before: vec![KnobReading {
            knob: "clocksource".to_owned(),
            asked: Some(Level::from("tsc")),
            read: Ok(Level::from("tsc")),
        }],
        after: vec![
            KnobReading {
                knob: "clocksource".to_owned(),
                asked: None,
                read: Err("it cannot be read".to_owned()),
            },
            KnobReading {
                knob: "hz".to_owned(),
                asked: Some(Level::Number(0.1)),
                read: Ok(Level::Integer(i64::MIN)),
            },
        ],
        settling: Settling {
            knobs_changed: true,
            waited: Duration::from_millis(200),
            temperature: Some(Celsius(48.3)),
            still_hot: true,
        },
        notes: vec!["2 processes were left and ended".to_owned()],
    }
}
