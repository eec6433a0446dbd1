//! The events of a job, one after the other.
//!
//! Every CPU's tick interrupts the job or wakes the CPU; a wake-up takes the exit
//! latency of its idle state, then the handler works, then the governor chooses a state and the
//! entry latency passes. A core counts as asleep once all its threads are in states that do. The
//! package grants and withdraws frequencies by the number of cores awake (`package.rs`). Threads
//! of a core that work at the same time slow each other down.

use super::package::Package;
use super::{CoresError, CpuRun, JobRun, Load, MOST_EVENTS, idle};
use crate::machine::{Alignment, IdleState, MachineFile};
use crate::random::Random;
use crate::settings::Settings;

/// What a CPU is doing.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Doing {
    /// The job.
    Job,
    /// The handler of an interrupt.
    Handler,
    /// Going into an idle state; there at `until`.
    Entering { state: usize, until: f64 },
    /// In an idle state, from `from` on.
    Idle { state: usize, from: f64 },
    /// Coming out of an idle state; out at `until`. It draws little power until then.
    Waking { state: usize, until: f64 },
}

impl Doing {
    fn works(self) -> bool {
        matches!(self, Self::Job | Self::Handler)
    }
}

struct Cpu {
    core: usize,
    sibling: Option<usize>,
    has_job: bool,
    doing: Doing,
    /// Up to when its work is counted.
    counted: f64,
    /// What is left of the handler, in nanoseconds alone on the core.
    left: f64,
    /// When something happens to it next.
    next: f64,
    tick: f64,
    /// When it is woken by something else.
    other: f64,
    seen: CpuRun,
}

struct Core {
    asleep: bool,
    /// Nanoseconds awake, up to `counted`.
    awake: f64,
    counted: f64,
}

/// A job while it is simulated.
pub(super) struct Simulation<'a> {
    random: &'a mut Random,
    /// The idle states that are allowed.
    states: &'a [IdleState],
    cpus: Vec<Cpu>,
    cores: Vec<Core>,
    package: Package,
    load: Load,
    /// The share of the job that is left.
    job_left: f64,
    /// How long the whole job takes at the frequency in force, alone on its core.
    job_length: f64,
    shared_speed: f64,
    handler: f64,
    period: f64,
    idle_tick: bool,
    /// The mean time between other wake-ups of a CPU; absent where there are none.
    between_others: Option<f64>,
    events: u64,
}

impl<'a> Simulation<'a> {
    /// The beginning, with the job on the CPU at this place among those online.
    pub(super) fn new(
        machine: &'a MachineFile,
        settings: &Settings,
        load: Load,
        online: &[u32],
        place: usize,
        random: &'a mut Random,
    ) -> Self {
        let threads = machine.cores.threads_per_core.value as usize;
        let count = machine.cores.count.value as usize;
        let period = 1e9 / f64::from(settings.hz);
        let states = &machine.idle_states[..=settings.deepest];
        let others = machine.tick.other_wakes.value.0;
        let between_others = (others > 0.0).then(|| 1e9 / others);
        let phase = random.uniform() * period;
        let cpus = online
            .iter()
            .enumerate()
            .map(|(index, &number)| {
                let offset = match machine.tick.alignment.value {
                    Alignment::Together => 0.0,
                    Alignment::Spread => period * index as f64 / online.len() as f64,
                };
                let core = number as usize / threads;
                let sibling = online
                    .iter()
                    .position(|other| *other != number && *other as usize / threads == core);
                let other = between_others.map_or(f64::INFINITY, |mean| random.exponential(mean));
                let has_job = index == place;
                Cpu {
                    core,
                    sibling,
                    has_job,
                    doing: if has_job { Doing::Job } else { Doing::Handler },
                    counted: 0.0,
                    left: 0.0,
                    next: 0.0,
                    tick: (phase + offset) % period,
                    other,
                    seen: CpuRun {
                        cpu: number,
                        ticks: 0,
                        other_wakes: 0,
                        entries: vec![0; states.len()],
                        times: vec![0.0; states.len()],
                    },
                }
            })
            .collect();
        let base = machine.cores.base_frequency.value.0;
        let frequencies = match &machine.cores.turbo {
            Some(turbo) if settings.turbo => turbo.value.iter().map(|one| one.0).collect(),
            _ => vec![base; count],
        };
        let package = Package::new(
            frequencies,
            machine.cores.grant.value.0,
            machine.cores.withdraw.value.0,
        );
        let mut simulation = Self {
            random,
            states,
            cpus,
            cores: (0..count)
                .map(|_| Core {
                    asleep: false,
                    awake: 0.0,
                    counted: 0.0,
                })
                .collect(),
            job_length: load.cycles / package.frequency() + load.memory,
            package,
            load,
            job_left: 1.0,
            shared_speed: machine.cores.shared_speed.value.0,
            handler: machine.tick.handler.value.0,
            period,
            idle_tick: settings.idle_tick,
            between_others,
            events: 0,
        };
        for index in 0..simulation.cpus.len() {
            simulation.plan(index, 0.0);
        }
        simulation
    }

    /// Simulates until the job is done, and says when that was.
    pub(super) fn run(&mut self) -> Result<f64, CoresError> {
        loop {
            self.events += 1;
            if self.events > MOST_EVENTS {
                return Err(CoresError::TooLong);
            }
            let (mut moment, mut who) = (self.package.due(), None);
            for (index, cpu) in self.cpus.iter().enumerate() {
                if cpu.next < moment {
                    (moment, who) = (cpu.next, Some(index));
                }
            }
            let Some(index) = who else {
                self.change_frequency(moment);
                continue;
            };
            if self.happens(index, moment) {
                return Ok(moment);
            }
        }
    }

    /// What is due on a CPU happens; true when the job is done.
    fn happens(&mut self, index: usize, now: f64) -> bool {
        match self.cpus[index].doing {
            Doing::Job => {
                if self.cpus[index].tick <= now {
                    self.take_interrupts(index, now);
                    self.become_doing(index, now, Doing::Handler);
                } else {
                    self.count(index, now);
                    return true;
                }
            }
            Doing::Handler => {
                if self.cpus[index].has_job {
                    self.become_doing(index, now, Doing::Job);
                } else {
                    let until_timer = self.wake_time(index) - now;
                    let state = idle::choose(self.states, until_timer);
                    let until = now + self.states[state].entry.value.0;
                    self.become_doing(index, now, Doing::Entering { state, until });
                }
            }
            Doing::Entering { state, until } => {
                // What comes while the CPU is on its way in has to wait until it is there.
                let cpu = &mut self.cpus[index];
                cpu.seen.entries[state] += 1;
                self.become_doing(index, now, Doing::Idle { state, from: until });
            }
            Doing::Idle { state, from } => {
                self.cpus[index].seen.times[state] += now - from;
                let until = now + self.states[state].exit.value.0;
                self.become_doing(index, now, Doing::Waking { state, until });
            }
            Doing::Waking { .. } => {
                self.take_interrupts(index, now);
                self.become_doing(index, now, Doing::Handler);
            }
        }
        false
    }

    /// When an idle CPU is woken next.
    fn wake_time(&self, index: usize) -> f64 {
        let cpu = &self.cpus[index];
        if self.idle_tick {
            cpu.tick.min(cpu.other)
        } else {
            cpu.other
        }
    }

    /// Takes what has come up to now; the handler has that much to do.
    fn take_interrupts(&mut self, index: usize, now: f64) {
        let ticks_come = self.cpus[index].has_job || self.idle_tick;
        let cpu = &mut self.cpus[index];
        cpu.left = 0.0;
        if ticks_come && cpu.tick <= now {
            cpu.seen.ticks += 1;
            cpu.tick += self.period;
            cpu.left += self.handler;
        }
        if let Some(mean) = self.between_others.filter(|_| cpu.other <= now) {
            cpu.seen.other_wakes += 1;
            cpu.left += self.handler;
            cpu.other = now + self.random.exponential(mean);
        }
    }

    /// A CPU does something else from now on.
    fn become_doing(&mut self, index: usize, now: f64, doing: Doing) {
        let sibling = self.cpus[index].sibling;
        let changes_speed = self.cpus[index].doing.works() != doing.works();
        self.count(index, now);
        if let (Some(sibling), true) = (sibling, changes_speed) {
            self.count(sibling, now);
        }
        self.cpus[index].doing = doing;
        self.plan(index, now);
        if let (Some(sibling), true) = (sibling, changes_speed) {
            self.plan(sibling, now);
        }
        self.count_core(index, now);
    }

    /// Counts the work that a CPU did up to now.
    fn count(&mut self, index: usize, now: f64) {
        let speed = self.speed(index);
        let cpu = &mut self.cpus[index];
        let worked = (now - cpu.counted) * speed;
        cpu.counted = now;
        match cpu.doing {
            Doing::Job => self.job_left -= worked / self.job_length,
            Doing::Handler => cpu.left -= worked,
            _ => {}
        }
    }

    fn speed(&self, index: usize) -> f64 {
        match self.cpus[index].sibling {
            Some(sibling) if self.cpus[sibling].doing.works() => self.shared_speed,
            _ => 1.0,
        }
    }

    /// Plans what happens to a CPU next; its work is counted up to now.
    fn plan(&mut self, index: usize, now: f64) {
        let speed = self.speed(index);
        let cpu = &self.cpus[index];
        let next = match cpu.doing {
            Doing::Job => {
                let done = now + self.job_left.max(0.0) * self.job_length / speed;
                cpu.tick.min(done)
            }
            Doing::Handler => now + cpu.left.max(0.0) / speed,
            Doing::Entering { until, .. } | Doing::Waking { until, .. } => until,
            Doing::Idle { .. } => self.wake_time(index),
        };
        self.cpus[index].next = next.max(now);
    }

    /// Whether the core of a CPU is asleep now, and what that means for the package.
    fn count_core(&mut self, index: usize, now: f64) {
        let is_asleep = |cpu: &Cpu| match cpu.doing {
            Doing::Idle { state, .. } | Doing::Waking { state, .. } => {
                self.states[state].asleep.value
            }
            _ => false,
        };
        let cpu = &self.cpus[index];
        let asleep = is_asleep(cpu)
            && cpu
                .sibling
                .is_none_or(|sibling| is_asleep(&self.cpus[sibling]));
        let core = &mut self.cores[cpu.core];
        if core.asleep == asleep {
            return;
        }
        core.count(now);
        core.asleep = asleep;
        let awake = self.cores.iter().filter(|core| !core.asleep).count();
        self.package.awake(now, awake);
    }

    fn change_frequency(&mut self, now: f64) {
        let job = self.cpus.iter().position(|cpu| cpu.has_job);
        if let Some(job) = job {
            self.count(job, now);
            self.package.change(now);
            self.job_length = self.load.cycles / self.package.frequency() + self.load.memory;
            self.plan(job, now);
        }
    }

    /// What came of it, when the job was done at `wall`.
    pub(super) fn conclude(mut self, wall: f64) -> JobRun {
        let job_core = self
            .cpus
            .iter()
            .find(|cpu| cpu.has_job)
            .map_or(0, |cpu| cpu.core);
        let mut awake = 0.0;
        for (index, core) in self.cores.iter_mut().enumerate() {
            core.count(wall);
            if index != job_core {
                awake += core.awake;
            }
        }
        let idle_cores = self.cores.len() - 1;
        JobRun {
            wall,
            mean_frequency: self.package.mean(wall),
            idle_cores_awake: if idle_cores > 0 && wall > 0.0 {
                awake / (wall * idle_cores as f64)
            } else {
                0.0
            },
            cpus: self
                .cpus
                .into_iter()
                .map(|mut cpu| {
                    if let Doing::Idle { state, from } = cpu.doing {
                        cpu.seen.times[state] += (wall - from).max(0.0);
                    }
                    cpu.seen
                })
                .collect(),
            events: self.events,
        }
    }
}

impl Core {
    fn count(&mut self, now: f64) {
        if !self.asleep {
            self.awake += now - self.counted;
        }
        self.counted = now;
    }
}
