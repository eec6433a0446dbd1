//! Records made by hand: an experiment, its plan, and what every run is to have yielded.

use std::time::Duration;

use knobstat_data::experiment::{
    AnalysisChoice, Correction, Design, Factor, FactorKind, OnFailure, Order, Settle, TargetChoice,
    Unavailable, Workload,
};
use knobstat_data::observation::{Limit, MetricValue, RunResult, Times};
use knobstat_data::plan::{PlannedRun, draw};
use knobstat_data::vocabulary::Scope;
use knobstat_data::words::{RequestId, Setting, UnixTime};
use knobstat_data::{
    Attempt, AttemptId, Better, Experiment, ExperimentId, Level, Machine, Metric, Outcome, Ratio,
    Record, Treatment, Unit,
};

/// The kind of a factor that is a setting of the machine.
pub const KNOB: FactorKind = FactorKind::Knob(Scope::Runtime);

/// A record in the making.
pub struct Bench {
    pub experiment: Experiment,
    pub machine: Machine,
    pub seed: u64,
}

/// A throughput in Mbit/s.
pub fn throughput() -> Metric {
    Metric {
        name: "throughput".to_owned(),
        unit: Unit::MEGABITS_PER_SECOND,
        better: Better::Higher,
        self_timed: false,
    }
}

/// A time in seconds.
pub fn wall() -> Metric {
    Metric {
        name: "wall".to_owned(),
        unit: Unit::SECONDS,
        better: Better::Lower,
        self_timed: false,
    }
}

/// A run that went well and yielded this.
pub fn yielded(metric: &Metric, value: f64) -> RunResult {
    limited(metric, value, None)
}

/// A run that went well, its value held down by something.
pub fn limited(metric: &Metric, value: f64, limited_by: Option<Limit>) -> RunResult {
    RunResult {
        metrics: vec![MetricValue {
            metric: metric.clone(),
            value,
            limited_by,
            granularity: None,
        }],
        times: Some(Times {
            stopwatch: "tsc".to_owned(),
            wall: Duration::from_secs(3),
            monotonic: Duration::from_secs(3),
            monotonic_raw: Duration::from_secs(3),
            boottime: Duration::from_secs(3),
            cpu: Duration::from_secs(2),
        }),
        ..RunResult::bare(Outcome::Ok)
    }
}

impl Bench {
    /// An experiment of these factors, with the first level of each as its baseline.
    pub fn new(name: &str, factors: &[(&str, FactorKind, &[Level])], metric: Metric) -> Self {
        let factors: Vec<Factor> = factors
            .iter()
            .map(|(name, kind, levels)| Factor {
                name: (*name).to_owned(),
                levels: levels.to_vec(),
                kind: *kind,
            })
            .collect();
        let baseline = Treatment::new(
            factors
                .iter()
                .map(|factor| Setting::new(&factor.name, factor.levels[0].clone())),
        );
        Self {
            experiment: Experiment {
                name: name.to_owned(),
                description: None,
                tags: Vec::new(),
                workload: Workload {
                    kind: "command".to_owned(),
                    parameters: Default::default(),
                    commands: Default::default(),
                    templates: Default::default(),
                    varied: Default::default(),
                    warmup_runs: 0,
                    metrics: vec![metric.clone()],
                },
                factors,
                fixed: Vec::new(),
                own_knobs: Vec::new(),
                design: Design {
                    replicates: 3,
                    stop: None,
                    order: Order::RandomizedBlocks,
                    seed: None,
                    exclude: Vec::new(),
                    settle: Settle::AfterChange,
                    cool_below: None,
                    unavailable: Unavailable::Skip,
                    max_repeats: 3,
                    on_failure: OnFailure::Continue,
                },
                target: TargetChoice::Local,
                analysis: AnalysisChoice {
                    metric,
                    baseline,
                    confidence: Ratio(0.95),
                    margin: None,
                    correction: Correction::Holm,
                    trust_self_timed: false,
                },
            },
            machine: Machine {
                id: "0123456789abcdef".to_owned(),
                program_version: "0.1.0".to_owned(),
                ..Machine::default()
            },
            seed: 2007,
        }
    }

    /// Compares with this one level, everything else held equal.
    pub fn against(mut self, factor: &str, level: &str) -> Self {
        self.experiment.analysis.baseline = Treatment::new([Setting::new(factor, level)]);
        self
    }

    /// This many blocks.
    pub fn blocks(mut self, replicates: u32) -> Self {
        self.experiment.design.replicates = replicates;
        self
    }

    /// The record of the experiment, done: what each run yields is asked for in the order of
    /// execution, by its treatment and block; a run without an answer was not made.
    pub fn record(self, mut cell: impl FnMut(&Treatment, usize) -> Option<RunResult>) -> Record {
        let request = RequestId::of(&self.experiment.name, &self.machine.id);
        let id = ExperimentId::of(&request, [7; 16]);
        let plan = draw(&self.experiment, &id, self.seed);
        let mut attempts = Vec::new();
        for run in plan.runs() {
            let treatment = &plan.treatments[run.treatment].treatment;
            let Some(result) = cell(treatment, run.block) else {
                continue;
            };
            attempts.push(attempt(&run, attempts.len(), result));
        }
        Record {
            id,
            request,
            experiment: self.experiment,
            source: String::new(),
            machine: self.machine,
            plan,
            omitted: Vec::new(),
            started: UnixTime(1_196_000_000_000),
            finished: Some(UnixTime(1_196_000_600_000)),
            attempts,
        }
    }
}

/// The attempt at a run, at this place in the order of execution.
pub fn attempt(run: &PlannedRun, place: usize, result: RunResult) -> Attempt {
    let sequence = place as u64;
    let mut random = [0; 16];
    random[..8].copy_from_slice(&sequence.to_le_bytes());
    Attempt {
        id: AttemptId::from_random(random),
        run: run.id.clone(),
        block: run.block,
        boot: run.boot,
        treatment: run.treatment,
        warmup: run.warmup,
        sequence,
        started: UnixTime(1_196_000_000_000 + 5000 * sequence as i64),
        finished: UnixTime(1_196_000_003_000 + 5000 * sequence as i64),
        result,
    }
}

/// Levels of text.
pub fn texts(levels: &[&str]) -> Vec<Level> {
    levels.iter().map(|level| Level::text(*level)).collect()
}

/// Whole numbers as levels.
pub fn numbers(levels: &[i64]) -> Vec<Level> {
    levels.iter().copied().map(Level::Integer).collect()
}

/// The figures of "clock sources revisited" (netdev, 2007): packet size, clock source, Mbit/s.
pub type Figures = [(i64, [(&'static str, [f64; 3]); 3]); 4];

/// At HZ=250.
pub const HZ_250: Figures = [
    (
        64,
        [
            ("jiffies", [141., 145., 142.]),
            ("tsc", [131., 136., 130.]),
            ("acpi_pm", [103., 104., 110.]),
        ],
    ),
    (
        128,
        [
            ("jiffies", [256., 256., 256.]),
            ("tsc", [274., 260., 269.]),
            ("acpi_pm", [216., 206., 220.]),
        ],
    ),
    (
        512,
        [
            ("jiffies", [513., 513., 513.]),
            ("tsc", [886., 886., 886.]),
            ("acpi_pm", [828., 814., 806.]),
        ],
    ),
    (
        1280,
        [
            ("jiffies", [684., 684., 684.]),
            ("tsc", [951., 951., 951.]),
            ("acpi_pm", [951., 951., 951.]),
        ],
    ),
];

/// At HZ=1000.
pub const HZ_1000: Figures = [
    (
        64,
        [
            ("jiffies", [145., 135., 135.]),
            ("tsc", [131., 137., 139.]),
            ("acpi_pm", [110., 110., 108.]),
        ],
    ),
    (
        128,
        [
            ("jiffies", [257., 257., 257.]),
            ("tsc", [270., 264., 250.]),
            ("acpi_pm", [218., 216., 217.]),
        ],
    ),
    (
        512,
        [
            ("jiffies", [819., 776., 819.]),
            ("tsc", [886., 886., 886.]),
            ("acpi_pm", [841., 824., 846.]),
        ],
    ),
    (
        1280,
        [
            ("jiffies", [855., 855., 855.]),
            ("tsc", [951., 950., 951.]),
            ("acpi_pm", [951., 951., 951.]),
        ],
    ),
];

/// The 2007 experiment; its packets of 512 and 1280 bytes are at line rate by tsc, and so are
/// those of 1280 by acpi_pm.
pub fn clock_sources(figures: &Figures) -> Record {
    let metric = throughput();
    let bench = Bench::new(
        "clock sources revisited",
        &[
            ("clocksource", KNOB, &texts(&["jiffies", "tsc", "acpi_pm"])),
            (
                "packet_size",
                FactorKind::Parameter,
                &numbers(&[64, 128, 512, 1280]),
            ),
        ],
        metric.clone(),
    )
    .against("clocksource", "jiffies");
    bench.record(|treatment, block| {
        let level = |factor| treatment.level(factor).unwrap().to_string();
        let (size, clock) = (level("packet_size"), level("clocksource"));
        let (_, row) = figures.iter().find(|(of, _)| of.to_string() == size)?;
        let (_, values) = row.iter().find(|(of, _)| *of == clock)?;
        let value = values[block];
        let line_rate = [("512", 886.), ("1280", 950.), ("1280", 951.)];
        let link = line_rate
            .contains(&(size.as_str(), value))
            .then_some(Limit::Link);
        Some(limited(&metric, value, link))
    })
}

/// The 2010 experiment, "TurboBoost in practice": its recovered values, one a line.
const TURBO_BOOST: [(&str, &str, &str); 6] = [
    ("C1", "1", include_str!("../data/turboboost/x.txt")),
    ("C2", "1", include_str!("../data/turboboost/plus.txt")),
    ("C3", "1", include_str!("../data/turboboost/star.txt")),
    ("C1", "0", include_str!("../data/turboboost/pct.txt")),
    ("C2", "0", include_str!("../data/turboboost/hash.txt")),
    ("C3", "0", include_str!("../data/turboboost/at.txt")),
];

/// For each treatment, which of its sorted values each block has: permutations drawn once.
const DEALT: [[usize; 8]; 6] = [
    [3, 6, 0, 5, 1, 7, 2, 4],
    [7, 2, 5, 0, 4, 6, 1, 3],
    [1, 4, 7, 2, 6, 0, 3, 5],
    [5, 0, 3, 6, 2, 4, 7, 1],
    [2, 7, 4, 1, 3, 5, 0, 6],
    [6, 1, 2, 4, 0, 3, 5, 7],
];

/// The 2010 experiment, its values dealt to the blocks.
pub fn turbo_boost() -> Record {
    let metric = wall();
    let bench = Bench::new(
        "TurboBoost in practice",
        &[
            ("cstate", KNOB, &texts(&["C1", "C2", "C3"])),
            ("idletick", KNOB, &texts(&["1", "0"])),
        ],
        metric.clone(),
    )
    .blocks(8);
    bench.record(|treatment, block| {
        let level = |factor| treatment.level(factor).unwrap().to_string();
        let (_, _, text) = TURBO_BOOST.iter().find(|(cstate, idletick, _)| {
            *cstate == level("cstate") && *idletick == level("idletick")
        })?;
        let values: Vec<f64> = text
            .lines()
            .map(|line| line.trim().parse().unwrap())
            .collect();
        // The order of the runs is not known, and the files are sorted: dealt out as they stand,
        // all treatments would seem to rise together. Each has its own fixed order instead.
        let treatment_number = TURBO_BOOST.iter().position(|(cstate, idletick, _)| {
            *cstate == level("cstate") && *idletick == level("idletick")
        })?;
        let place = DEALT[treatment_number][block];
        Some(yielded(&metric, values[place]))
    })
}
