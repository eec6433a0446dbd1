//! What the two posts published, and what a model says of the same cells.

use knobstat_model::cores::{self, JobRun};
use knobstat_model::network::{self, LinkRun, Pacer, Quota};
use knobstat_model::{MachineFile, Random, Settings, clocks};

pub const CORE_I7_870: &str = include_str!("../../machines/core-i7-870.toml");
pub const OPTERON_TG3: &str = include_str!("../../machines/opteron-tg3.toml");

/// A treatment of the 2010 post: the C-states allowed, the idle tick, and the average of its eight
/// runs in seconds.
pub struct Treatment {
    pub cstate: &'static str,
    pub idletick: &'static str,
    pub average: f64,
}

const fn treatment(cstate: &'static str, idletick: &'static str, average: f64) -> Treatment {
    Treatment {
        cstate,
        idletick,
        average,
    }
}

pub const TREATMENTS: [Treatment; 6] = [
    treatment("C1", "on", 12.03125),
    treatment("C2", "on", 11.61125),
    treatment("C3", "on", 11.52375),
    treatment("C1", "off", 11.915),
    treatment("C2", "off", 10.74875),
    treatment("C3", "off", 10.785),
];

/// The model's run of a treatment of the 2010 post, without noise.
pub fn job(machine: &MachineFile, settings: &[(&str, &str)]) -> JobRun {
    let mut chosen = Settings::of(machine);
    for (knob, level) in settings {
        chosen = chosen
            .with(machine, knob, level)
            .expect("a level of the model");
    }
    let job = machine.job.as_ref().expect("a job");
    let load = cores::Load::of(machine, job, job.cpu.value, 1.0);
    cores::run(machine, &chosen, load, &mut Random::of_run(machine.seed, 0)).expect("a run")
}

/// A cell of the 2007 tables: Mbit/s, three runs.
pub struct Cell {
    pub clock: &'static str,
    pub hz: u32,
    pub size: u32,
    pub runs: [f64; 3],
}

impl Cell {
    pub fn mean(&self) -> f64 {
        self.runs.iter().sum::<f64>() / 3.0
    }
}

pub const SIZES: [u32; 4] = [64, 128, 512, 1280];
pub const CLOCKS: [&str; 3] = ["jiffies", "tsc", "acpi_pm"];

/// By tick rate, then size, then clock source.
const RUNS: [[[[f64; 3]; 3]; 4]; 2] = [
    [
        [
            [141.0, 145.0, 142.0],
            [131.0, 136.0, 130.0],
            [103.0, 104.0, 110.0],
        ],
        [
            [256.0, 256.0, 256.0],
            [274.0, 260.0, 269.0],
            [216.0, 206.0, 220.0],
        ],
        [
            [513.0, 513.0, 513.0],
            [886.0, 886.0, 886.0],
            [828.0, 814.0, 806.0],
        ],
        [
            [684.0, 684.0, 684.0],
            [951.0, 951.0, 951.0],
            [951.0, 951.0, 951.0],
        ],
    ],
    [
        [
            [145.0, 135.0, 135.0],
            [131.0, 137.0, 139.0],
            [110.0, 110.0, 108.0],
        ],
        [
            [257.0, 257.0, 257.0],
            [270.0, 264.0, 250.0],
            [218.0, 216.0, 217.0],
        ],
        [
            [819.0, 776.0, 819.0],
            [886.0, 886.0, 886.0],
            [841.0, 824.0, 846.0],
        ],
        [
            [855.0, 855.0, 855.0],
            [951.0, 950.0, 951.0],
            [951.0, 951.0, 951.0],
        ],
    ],
];

/// The 24 cells.
pub fn cells() -> Vec<Cell> {
    let mut cells = Vec::new();
    for (hz, of_rate) in [250, 1000].into_iter().zip(RUNS) {
        for (size, of_size) in SIZES.into_iter().zip(of_rate) {
            for (clock, runs) in CLOCKS.into_iter().zip(of_size) {
                cells.push(Cell {
                    clock,
                    hz,
                    size,
                    runs,
                });
            }
        }
    }
    cells
}

/// The model's run of a cell of the 2007 tables, without noise: three seconds at an asked rate of
/// 1 Gbit/s, one reading of the clock for each datagram, which is the pacer's.
pub fn sending(machine: &MachineFile, clock: &str, hz: u32, size: u32) -> LinkRun {
    let reading = clocks::Reading::of(machine.clock(clock).expect("a clock"), hz, 0.5);
    let load = network::Load {
        bytes: f64::from(size),
        method: "send".to_owned(),
        quota: Quota::For(3e9),
        pacing: Some((Pacer::Iperf2, 1e9 / (8.0 * f64::from(size)))),
        reads_per_packet: 0,
        slowness: 1.0,
    };
    let network = machine.network.as_ref().expect("a network");
    network::run(network, reading, &load).expect("a run")
}

/// Payload received, in Mbit/s.
pub fn throughput(run: &LinkRun, size: u32) -> f64 {
    run.received as f64 * f64::from(size) * 8.0 / run.receiving * 1e3
}
