//! A session on a simulated machine: requests of the seam in, replies out.

use std::cell::RefCell;
use std::rc::Rc;

use knobstat_data::messages::{
    Availability, Begin, Describe, Description, LackingCell, Refusal, RefusalKind, Reply, Request,
    Restoration, RestoreFailure, RunSpec, SettingState, WantedWorkload,
};
use knobstat_data::observation::{KnobReading, Outcome, Settling, Taint};
use knobstat_data::words::{Level, Setting, sha256};
use knobstat_data::{Machine, RunResult};

use crate::disturbance::{Turned, meddle};
use crate::machine::MachineFile;
use crate::settings::{BOOT_KNOBS, Lacking, Settings};
use crate::simulator::Simulator;
use crate::workloads;

/// One boot of a simulated machine, and who speaks to it.
#[derive(Clone, Debug)]
pub struct Session {
    simulator: Rc<RefCell<Simulator>>,
    /// As the boot left it.
    booted: Settings,
    /// As it is now.
    settings: Settings,
    begun: bool,
    /// Knobs that were turned, in order.
    turned: Vec<String>,
    /// Levels that cannot be had again before the next boot, with the reason.
    lost: Vec<(Setting, String)>,
}

impl Session {
    /// Boots a machine with these settings; none means as its file says.
    ///
    /// # Errors
    /// When the machine has no such knob or level.
    pub fn boot(simulator: Rc<RefCell<Simulator>>, settings: &[Setting]) -> Result<Self, Lacking> {
        let booted = {
            let simulator = simulator.borrow();
            let machine = simulator.machine();
            settings
                .iter()
                .try_fold(Settings::of(machine), |booted, setting| {
                    booted.with(machine, &setting.factor, &setting.level.to_string())
                })?
        };
        Ok(Self {
            simulator,
            settings: booted.clone(),
            booted,
            begun: false,
            turned: Vec::new(),
            lost: Vec::new(),
        })
    }

    /// Answers a request.
    pub fn answer(&mut self, request: Request) -> Reply {
        match request {
            Request::Describe(describe) => Reply::Described(Box::new(self.describe(&describe))),
            Request::Begin(Begin { .. }) => {
                self.begun = true;
                Reply::Begun {
                    put_back: Vec::new(),
                }
            }
            Request::Restore => Reply::Restored(self.restore()),
            Request::Verify => Reply::Verified(
                self.turned
                    .iter()
                    .map(|knob| self.reading(knob, None))
                    .collect(),
            ),
            // Every boot of a simulated machine is a session of its own.
            Request::Boot(_) | Request::EndBoots => Reply::Refused(Refusal {
                kind: RefusalKind::Request,
                cause: "a simulated machine is not rebooted".to_owned(),
                remedy: "open another session on it".to_owned(),
            }),
            _ if !self.begun => Reply::Refused(Refusal {
                kind: RefusalKind::Protocol,
                cause: "the machine was not taken before it was used".to_owned(),
                remedy: "this is a fault of knobstat itself: report it".to_owned(),
            }),
            Request::Apply(settings) => self.apply(settings),
            Request::SetUp(_) | Request::TearDown(_) => Reply::Stepped,
            Request::Run(spec) => match self.run(&spec) {
                Ok(result) => Reply::Ran(Box::new(result)),
                Err(refusal) => Reply::Refused(refusal),
            },
        }
    }

    fn describe(&self, describe: &Describe) -> Description {
        let simulator = self.simulator.borrow();
        let machine = simulator.machine();
        let settings = describe
            .wanted
            .iter()
            .map(|setting| {
                let had = self.try_to_set(machine, &self.settings, setting);
                SettingState {
                    setting: setting.clone(),
                    availability: match had {
                        Ok(_) => Availability::Available,
                        Err(Lacking { reason, remedy }) => {
                            Availability::Unavailable { reason, remedy }
                        }
                    },
                }
            })
            .collect();
        Description {
            machine: fingerprint(machine, &self.settings, simulator.source()),
            settings,
            // The job stands for the command: none of its programs is started.
            hindrances: Vec::new(),
            lacking_cells: lacking_cells(machine, &describe.workload),
        }
    }

    /// The settings with one of them changed.
    fn try_to_set(
        &self,
        machine: &MachineFile,
        settings: &Settings,
        setting: &Setting,
    ) -> Result<Settings, Lacking> {
        if let Some((_, reason)) = self.lost.iter().find(|(lost, _)| lost == setting) {
            return Err(Lacking {
                reason: reason.clone(),
                remedy: Some("it can be had again after the next boot".to_owned()),
            });
        }
        settings.with(machine, &setting.factor, &setting.level.to_string())
    }

    fn apply(&mut self, settings: Vec<Setting>) -> Reply {
        let simulator = Rc::clone(&self.simulator);
        let simulator = simulator.borrow();
        let mut after = self.settings.clone();
        for setting in &settings {
            match self.try_to_set(simulator.machine(), &after, setting) {
                Ok(changed) => after = changed,
                Err(Lacking { reason, remedy }) => {
                    return Reply::Refused(Refusal {
                        kind: RefusalKind::Setting,
                        cause: format!("{setting} cannot be set: {reason}"),
                        remedy: remedy.unwrap_or_else(|| "leave the level out".to_owned()),
                    });
                }
            }
        }
        let changed = after != self.settings;
        self.settings = after;
        for setting in &settings {
            if !self.turned.contains(&setting.factor) {
                self.turned.push(setting.factor.clone());
            }
        }
        drop(simulator);
        Reply::Applied {
            readings: settings
                .iter()
                .map(|setting| self.reading(&setting.factor, Some(&setting.level)))
                .collect(),
            changed,
        }
    }

    fn reading(&self, knob: &str, asked: Option<&Level>) -> KnobReading {
        let simulator = self.simulator.borrow();
        KnobReading {
            knob: knob.to_owned(),
            asked: asked.cloned(),
            read: self
                .settings
                .level(simulator.machine(), knob)
                .ok_or_else(|| format!("a model has no knob {knob}")),
        }
    }

    fn readings(&self, spec: &RunSpec) -> Vec<KnobReading> {
        spec.knobs
            .iter()
            .map(|setting| self.reading(&setting.factor, Some(&setting.level)))
            .collect()
    }

    fn run(&mut self, spec: &RunSpec) -> Result<RunResult, Refusal> {
        self.hold_at_boot(spec)?;
        let before = self.readings(spec);
        let (ran, meddled) = {
            let mut simulator = self.simulator.borrow_mut();
            let (factor, mut random) = simulator.next_run();
            let machine = simulator.machine();
            let was = self.settings.clone();
            let meddled = meddle(machine, &mut self.settings, &mut random);
            for turned in meddled.iter().filter(|turned| turned.for_good) {
                if let Some(level) = was.level(machine, &turned.knob) {
                    let reason = format!("{level} was given up by {}", turned.who);
                    self.lost
                        .push((Setting::new(turned.knob.clone(), level), reason));
                }
            }
            let ran = workloads::run(machine, &self.settings, spec, factor, &mut random);
            (ran, meddled)
        };
        let after = self.readings(spec);
        let taints = taints(&before, &after, &meddled);
        let mut result = RunResult::bare(Outcome::Ok);
        match ran {
            Ok(ran) => {
                result.metrics = ran.metrics;
                result.evidence = ran.evidence;
                result.times = Some(ran.times);
                result.notes = ran.notes;
                if !taints.is_empty() {
                    result.outcome = Outcome::Tainted(taints);
                }
            }
            Err(failure) => result.outcome = Outcome::Failed(failure),
        }
        result.before = before;
        result.after = after;
        result.settling = Settling {
            knobs_changed: spec.knobs_changed,
            waited: spec.settle,
            temperature: None,
            still_hot: false,
        };
        Ok(result)
    }

    /// What is fixed for the whole experiment and needs a boot was never asked of this boot: the
    /// machine is taken to have been booted so.
    fn hold_at_boot(&mut self, spec: &RunSpec) -> Result<(), Refusal> {
        let simulator = self.simulator.borrow();
        for setting in &spec.knobs {
            if !BOOT_KNOBS.contains(&setting.factor.as_str()) {
                continue;
            }
            let level = setting.level.to_string();
            let held = self
                .settings
                .with(simulator.machine(), &setting.factor, &level);
            match held {
                Ok(held) => self.settings = held,
                Err(Lacking { reason, .. }) => {
                    return Err(Refusal {
                        kind: RefusalKind::Setting,
                        cause: format!("{setting} cannot be had: {reason}"),
                        remedy: "leave the level out".to_owned(),
                    });
                }
            }
        }
        Ok(())
    }

    fn restore(&mut self) -> Restoration {
        let simulator = self.simulator.borrow();
        let machine = simulator.machine();
        let mut restoration = Restoration::default();
        let mut settings = self.settings.clone();
        for knob in self.turned.drain(..).rev() {
            let Some(level) = self.booted.level(machine, &knob) else {
                continue;
            };
            let setting = Setting::new(knob.clone(), level);
            let lost = self.lost.iter().find(|(lost, _)| *lost == setting);
            match (
                lost,
                settings.with(machine, &knob, &setting.level.to_string()),
            ) {
                (Some((_, reason)), _) => restoration
                    .left_alone
                    .push(format!("{knob} is left as it is: {reason}")),
                (None, Ok(back)) if back == settings => {}
                (None, Ok(back)) => {
                    settings = back;
                    restoration.put_back.push(setting.to_string());
                }
                (None, Err(lacking)) => restoration.failed.push(RestoreFailure {
                    reason: format!("{setting} could not be put back: {}", lacking.reason),
                    command: "boot the model again".to_owned(),
                }),
            }
        }
        self.settings = settings;
        self.begun = false;
        restoration
    }
}

/// Those of a workload's sets of parameters that the machine file has no figures for.
fn lacking_cells(machine: &MachineFile, wanted: &WantedWorkload) -> Vec<LackingCell> {
    wanted
        .cells
        .iter()
        .enumerate()
        .filter_map(|(index, parameters)| {
            let lack = workloads::lacks(machine, &wanted.kind, parameters)?;
            Some(LackingCell {
                index,
                parameter: lack.parameter.to_owned(),
                reason: lack.reason,
                remedy: lack.remedy,
            })
        })
        .collect()
}

/// The knobs that are not as they were asked for, before or after the run, and whose doing it was.
fn taints(before: &[KnobReading], after: &[KnobReading], meddled: &[Turned]) -> Vec<Taint> {
    let text = |read: &Result<Level, String>| match read {
        Ok(level) => level.to_string(),
        Err(reason) => format!("unreadable: {reason}"),
    };
    before
        .iter()
        .zip(after)
        .filter_map(|(before, after)| {
            let expected = before.asked.clone().map_or_else(|| before.read.clone(), Ok);
            let wrong = [before, after]
                .into_iter()
                .find(|reading| reading.read != expected)?;
            let who = meddled.iter().find(|turned| turned.knob == before.knob);
            Some(Taint {
                knob: before.knob.clone(),
                expected: text(&expected),
                found: text(&wrong.read),
                cause: who.map(|turned| turned.who.clone()),
            })
        })
        .collect()
}

/// The machine as a report shows it.
fn fingerprint(machine: &MachineFile, settings: &Settings, source: &str) -> Machine {
    Machine {
        id: sha256(&format!("knobstat model {source}")),
        host: None,
        cpu: machine.processor.clone(),
        vendor: None,
        cpus_online: Some(match machine.cpus() {
            1 => "0".to_owned(),
            cpus => format!("0-{}", cpus - 1),
        }),
        kernel: machine.kernel.clone(),
        architecture: None,
        command_line: None,
        hz: Some(settings.hz),
        clock_source: machine
            .clocks
            .get(settings.clock)
            .map(|clock| clock.name.clone()),
        clock_sources: machine
            .clocks
            .iter()
            .map(|clock| clock.name.clone())
            .collect(),
        governor: None,
        virtualization: Some(Machine::simulated_as(&machine.name)),
        guest: None,
        memory: None,
        boot_id: None,
        stopwatch: Some("the simulation's own time".to_owned()),
        root: false,
        laid_out: false,
        program_version: env!("CARGO_PKG_VERSION").to_owned(),
        workload_user: None,
        other_owners: machine
            .disturbance
            .daemons
            .iter()
            .map(|daemon| daemon.name.clone())
            .collect(),
        real_time_percent: None,
    }
}

#[cfg(test)]
mod tests;
