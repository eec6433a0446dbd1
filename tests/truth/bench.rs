//! Carries simulated experiments out: the real parser, plan, engine, store, analysis and report,
//! on a simulated machine.

use std::cell::Cell;
use std::fmt::Write;
use std::io;
use std::path::Path;
use std::time::Duration;

use knobstat_data::words::UnixTime;
use knobstat_data::{Experiment, Record, Vocabulary};
use knobstat_lab::engine::{Assignment, Means, Silent, World, prepare};
use knobstat_lab::store::Store;
use knobstat_lab::target::NoInterrupt;
use knobstat_lab::targets::ModelTarget;
use knobstat_model::{MachineFile, Simulator};
use knobstat_report::Report;

use crate::situations::Situation;

/// Where the experiments of one situation are carried out.
pub struct Bench {
    experiment: Experiment,
    source: String,
    machine: MachineFile,
    machine_source: String,
    /// The true difference of turbo on against off, in seconds.
    difference: f64,
}

/// One experiment, carried out.
pub struct Ran {
    /// Its record as the store has it.
    pub record: Record,
    /// Its report.
    pub report: Report,
    /// The true difference of turbo on against off, in seconds.
    pub difference: f64,
}

/// Frequencies in gigahertz, and a job of a hundredth of a second.
const BASE: f64 = 3.0;
const TURBO: f64 = 3.03;
const WORK: f64 = 0.03;

impl Bench {
    pub fn new(situation: &Situation) -> Self {
        let machine_source = machine(situation.disturbance);
        let machine = MachineFile::parse(&machine_source, "machine.toml")
            .unwrap_or_else(|error| panic!("{error}"));
        let source = experiment(situation);
        let vocabulary = Vocabulary {
            knobs: knobstat_knobs::vocabulary(&knobstat_sys::root::Root::real()),
            workloads: knobstat_load::workloads::schemas(),
        };
        let experiment = Experiment::parse(&source, "experiment.toml", &vocabulary)
            .unwrap_or_else(|error| panic!("{error}"));
        Self {
            experiment,
            source,
            machine,
            machine_source,
            difference: WORK / TURBO - WORK / BASE,
        }
    }

    /// Carries one experiment out; its order and its noise come from the seed.
    pub fn run(&self, seed: u64) -> Ran {
        let mut store = Store::in_memory().expect("a store in memory");
        let id = self.carry_out(seed, &mut store).id;
        let record = store.record(&id).expect("a record");
        let report = Report::of(&record, &knobstat_analysis::analyse(&record));
        Ran {
            record,
            report,
            difference: self.difference,
        }
    }

    /// Carries one experiment out in a store on the disk: the record that the engine has, and the
    /// one that the store has after it was closed and opened again.
    pub fn run_durably(&self, seed: u64, path: &Path) -> (Record, Record) {
        let mut store = Store::open(path, None).expect("a store");
        let ran = self.carry_out(seed, &mut store);
        drop(store);
        let store = Store::open_existing(path).expect("the store again");
        let read = store.record(&ran.id).expect("a record");
        (ran, read)
    }

    fn carry_out(&self, seed: u64, store: &mut Store) -> Record {
        let mut experiment = self.experiment.clone();
        experiment.design.seed = Some(seed);
        let mut machine = self.machine.clone();
        machine.seed = seed;
        let mut target = ModelTarget::new(Simulator::new(machine, self.machine_source.clone()));
        let mut world = StillWorld {
            bits: Cell::new(seed << 32),
        };
        let judged = experiment.clone();
        let assignment = Assignment {
            experiment,
            source: self.source.clone(),
            anew: true,
            overwrite_others: false,
        };
        let prepared = prepare(assignment, &mut target, Some(store), &mut world)
            .unwrap_or_else(|error| panic!("{error}"));
        let plan = prepared.record().plan.clone();
        let ended = prepared.drive(Means {
            store,
            progress: &mut Silent,
            interrupt: &NoInterrupt,
            world: &mut world,
            enough: &|attempts| knobstat_analysis::stop::enough(&judged, &plan, attempts),
        });
        ended.result.unwrap_or_else(|error| panic!("{error}"));
        ended.record
    }
}

/// The experiment file of a situation.
fn experiment(situation: &Situation) -> String {
    format!(
        r#"
name = "{}"
[workload]
kind = "command"
command = "true"
warmup_runs = 0
[factors]
{}
[design]
{}
settle = "0s"
max_repeats = 10
[target]
kind = "model"
machine = "machine.toml"
[analysis]
{}
"#,
        situation.name, situation.factors, situation.design, situation.analysis
    )
}

/// The machine file of a situation: one core that does nothing but the job.
fn machine(disturbance: &str) -> String {
    let parameter = |value: &str| {
        format!("{{ value = {value}, how = \"assumed\", source = \"for this test\" }}")
    };
    let text = |value: &str| parameter(&format!("\"{value}\""));
    let mut source = format!(
        "name = \"a core with a known truth\"\nseed = 1\n[cores]\ncount = {}\nthreads_per_core = {}\nshared_speed = {}\nbase_frequency = {}\nturbo = {}\ngrant = {}\nwithdraw = {}\n",
        parameter("1"),
        parameter("1"),
        text("100%"),
        text(&format!("{BASE}GHz")),
        parameter(&format!("[\"{TURBO}GHz\"]")),
        text("0us"),
        text("0us"),
    );
    let _ = write!(
        source,
        "[[idle_states]]\nname = \"C1\"\nentry = {0}\nexit = {0}\nminimum_stay = {0}\nasleep = {1}\n[tick]\nhz = {2}\nhandler = {0}\nalignment = {3}\nother_wakes = {4}\nidle_tick = {5}\n",
        text("0us"),
        parameter("false"),
        parameter("[100]"),
        text("together"),
        text("0/s"),
        parameter("true"),
    );
    for clock in ["tsc", "hpet", "acpi_pm"] {
        let _ = write!(
            source,
            "[[clocks]]\nname = \"{clock}\"\nstep = {}\nread_cost = {}\n",
            text("1ns"),
            text("30ns"),
        );
    }
    let _ = write!(
        source,
        "[job]\nstands_for = \"a job of known length\"\nwork = {}\nmemory_share = {}\ncpu = {}\n[disturbance]\n",
        text(&format!("{}Mcycles", WORK * 1e3)),
        text("0%"),
        parameter("0"),
    );
    let mut daemon = None;
    for line in disturbance.lines() {
        let (name, value) = line.split_once(" = ").expect("name = value");
        match name {
            "daemon" => daemon = Some(value),
            "autocorrelation" => {
                let _ = writeln!(source, "{name} = {}", parameter(value));
            }
            _ => {
                let _ = writeln!(source, "{name} = {}", text(&format!("{value}%")));
            }
        }
    }
    if let Some(chance) = daemon {
        let _ = write!(
            source,
            "[[disturbance.daemons]]\nname = \"a daemon\"\nknob = \"turbo\"\nvalue = \"on\"\nchance = {}\n",
            text(&format!("{chance}%")),
        );
    }
    source
}

/// A world whose clock stands still and whose chance is counted.
struct StillWorld {
    bits: Cell<u64>,
}

impl World for StillWorld {
    fn now(&self) -> UnixTime {
        UnixTime(1_196_000_000_000)
    }

    fn elapsed(&self) -> Duration {
        Duration::ZERO
    }

    fn random(&mut self) -> io::Result<[u8; 16]> {
        self.bits.set(self.bits.get() + 1);
        Ok(u128::from(self.bits.get()).to_le_bytes())
    }
}
