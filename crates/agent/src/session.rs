//! What the agent does with each request of a session: asks the knobs, asks the executor.

use std::os::fd::BorrowedFd;
use std::os::unix::process::parent_id;
use std::time::Duration;

use knobstat_data::Evidence;
use knobstat_data::messages::{
    Availability, Begin, Boot, Describe, Description, Refusal, RefusalKind, Reply, Request,
    Restoration, RestoreFailure, RunSpec, SettingState,
};
use knobstat_data::observation::{Failure, Outcome, RunResult, Taint};
use knobstat_data::words::Setting;
use knobstat_knobs::boot_entry::{Boots, Ordered, Standing};
use knobstat_knobs::{Knobs, Options, Refused, StateDirectory, System};
use knobstat_load::evidence::control_group::Groups;
use knobstat_load::run::{Executor, ExecutorError, SpawnSettings, StepError, hindrances};
use knobstat_sys::clock::Stopwatch;
use knobstat_sys::root::Root;
use knobstat_sys::{poll, user};

use crate::watched::{Watched, stopped, suspend};
use crate::{describe, effects, reboot};

/// One session: from the first description of the machine to the last restoration.
pub struct Session {
    root: Root,
    /// Calibrated once, while the clock source is still the machine's own.
    stopwatch: Option<Stopwatch>,
    knobs: Option<Knobs>,
    executor: Option<Executor>,
    /// Every setting that was applied, as it was asked for last.
    applied: Vec<Setting>,
    /// The settings that the experiment wants and that can be had here without a reboot.
    wanted: Vec<Setting>,
    /// What was seen of them, to be told with the next run.
    effects: Vec<Evidence>,
    /// The treatments whose setup was done and whose teardown was not, the latest last.
    set_up: Vec<RunSpec>,
    /// Whether the last answer told of values that were left alone.
    told: bool,
    /// How the machine is to be started anew when the conversation is over.
    restart: Option<Ordered>,
}

impl Session {
    /// A session on the machine beneath a root; nothing is read yet.
    pub fn new(root: Root) -> Self {
        Self {
            root,
            stopwatch: None,
            knobs: None,
            executor: None,
            applied: Vec::new(),
            wanted: Vec::new(),
            effects: Vec::new(),
            set_up: Vec::new(),
            told: false,
            restart: None,
        }
    }

    /// Answers a request. A descriptor of `interrupts` that becomes readable or hangs up breaks
    /// off what is under way.
    ///
    /// A request shows that the answer before it was heard.
    pub fn answer(&mut self, request: Request, interrupts: &[BorrowedFd<'_>]) -> Reply {
        if std::mem::take(&mut self.told)
            && let Some(knobs) = &self.knobs
        {
            knobs.heard();
        }
        let answer = match request {
            Request::Describe(describe) => self.describe(describe),
            Request::Begin(begin) => self.begin(&begin, interrupts),
            Request::Apply(settings) => self.apply(settings),
            Request::SetUp(spec) => self.set_up(&spec, interrupts),
            Request::Run(spec) => self.run(&spec, interrupts),
            Request::TearDown(spec) => self.tear_down(&spec, interrupts),
            Request::Verify => self.verify(),
            Request::Restore => {
                let restoration = self.end();
                self.told = !restoration.left_alone.is_empty();
                Ok(Reply::Restored(restoration))
            }
            Request::Boot(boot) => self.boot(&boot),
            Request::EndBoots => self.end_boots(),
        };
        answer.unwrap_or_else(Reply::Refused)
    }

    fn describe(&mut self, describe: Describe) -> Result<Reply, Refusal> {
        let state = StateDirectory::of(&self.root).map_err(|error| {
            refusal(RefusalKind::Disk, &error.to_string(), "set XDG_STATE_HOME")
        })?;
        let stopwatch = self.stopwatch.get_or_insert_with(Stopwatch::calibrated);
        let name = stopwatch.to_string();
        let workload_user = user::behind_sudo(|name| std::env::var_os(name))
            .ok()
            .flatten()
            .and_then(|user| user.name);
        let knobs = Knobs::new(
            self.root.clone(),
            describe.own_knobs,
            state,
            Options {
                system: System::of(&self.root),
                ..Options::default()
            },
        );
        let mut settings: Vec<SettingState> = describe
            .wanted
            .iter()
            .map(|setting| SettingState {
                availability: knobs.availability(setting, &describe.wanted),
                setting: setting.clone(),
            })
            .collect();
        self.wanted = settings
            .iter()
            .filter(|state| state.availability == Availability::Available)
            .map(|state| state.setting.clone())
            .collect();
        if let Some(may) = describe.may_reboot {
            reboot::make_available(&self.root, may, &mut settings)?;
        }
        self.knobs = Some(knobs);
        Ok(Reply::Described(Box::new(Description {
            machine: describe::machine(&self.root, name, workload_user),
            settings,
            hindrances: hindrances(&describe.starts),
            lacking_cells: describe::lacking_cells(&describe.workload),
        })))
    }

    fn begin(&mut self, begin: &Begin, interrupts: &[BorrowedFd<'_>]) -> Result<Reply, Refusal> {
        let stopwatch = self.stopwatch.clone().ok_or_else(not_begun)?;
        let knobs = self.knobs.as_mut().ok_or_else(not_begun)?;
        let mut executor =
            Executor::new(&self.root, &begin.experiment, stopwatch).map_err(|error| {
                let remedy = match error {
                    ExecutorError::Directory(_) => "start it in a directory that is there",
                    ExecutorError::User(_) | ExecutorError::System(_) => "try again",
                };
                refusal(RefusalKind::Step, &error.to_string(), remedy)
            })?;
        // A group is made in a file system of the kernel: a change of this machine like any other.
        executor.use_groups(match Refused::from_environment() {
            Refused(true) => Groups::none("KNOBSTAT_NO_KNOBS refuses to make a control group"),
            Refused(false) => Groups::of_this_machine(),
        });
        knobs.set_overwrite_others(begin.overwrite_others);
        let put_back = knobs
            .begin(&begin.experiment)
            .map_err(|error| Refusal::from(&error))?;
        executor.watch(
            [
                ("front", Some(parent_id())),
                ("guardian", knobs.guardian_pid()),
            ]
            .into_iter()
            .filter_map(|(name, pid)| Some((name, pid?))),
        );
        self.told = !put_back.is_empty();
        self.executor = Some(executor);
        self.look_for_effects(interrupts);
        Ok(Reply::Begun { put_back })
    }

    /// Looks once for the effect of every level that is wanted, each beside what holds for the whole
    /// experiment and nothing that was set for another, and puts the machine back. What cannot be
    /// seen is no reason not to begin: it is told with its reason.
    fn look_for_effects(&mut self, interrupts: &[BorrowedFd<'_>]) {
        let (Some(knobs), Some(stopwatch)) = (&mut self.knobs, &self.stopwatch) else {
            return;
        };
        let is_real = self.root.is_real();
        for look in effects::looks(&self.wanted) {
            if poll::wait(interrupts, Some(Duration::ZERO)).is_ok_and(|ready| !ready.timed_out()) {
                break;
            }
            if is_real {
                if look.is_first_of_factor {
                    // What cannot be put back stays in the journal, and is tried again at the end.
                    let _ = knobs.restore();
                }
                if let Err(error) = knobs.apply(&look.settings) {
                    self.effects
                        .push(effects::unseen(look.of, error.to_string()));
                    continue;
                }
            }
            self.effects
                .extend(effects::look(&self.root, stopwatch, look.check, look.of));
        }
        if is_real {
            let _ = knobs.restore();
        }
    }

    fn apply(&mut self, settings: Vec<Setting>) -> Result<Reply, Refusal> {
        let knobs = self.knobs.as_mut().ok_or_else(not_begun)?;
        let applied = knobs
            .apply(&settings)
            .map_err(|error| Refusal::from(&error))?;
        for setting in settings {
            self.applied.retain(|known| known.factor != setting.factor);
            self.applied.push(setting);
        }
        Ok(Reply::Applied {
            readings: applied.readings,
            changed: applied.changed,
        })
    }

    fn set_up(&mut self, spec: &RunSpec, interrupts: &[BorrowedFd<'_>]) -> Result<Reply, Refusal> {
        let executor = self.executor.as_mut().ok_or_else(not_begun)?;
        executor
            .set_up(spec, interrupts)
            .map_err(|error| step_refusal("setup", error))?;
        self.set_up.push(spec.clone());
        Ok(Reply::Stepped)
    }

    fn tear_down(
        &mut self,
        spec: &RunSpec,
        interrupts: &[BorrowedFd<'_>],
    ) -> Result<Reply, Refusal> {
        let executor = self.executor.as_mut().ok_or_else(not_begun)?;
        self.set_up
            .retain(|known| known.parameters != spec.parameters);
        executor
            .tear_down(spec, interrupts)
            .map_err(|error| step_refusal("teardown", error))?;
        Ok(Reply::Stepped)
    }

    fn run(&mut self, spec: &RunSpec, interrupts: &[BorrowedFd<'_>]) -> Result<Reply, Refusal> {
        let executor = self.executor.as_mut().ok_or_else(not_begun)?;
        let knobs = self.knobs.as_ref().ok_or_else(not_begun)?;
        let spawn = SpawnSettings {
            no_aslr: knobs.spawn_settings().disable_address_randomization,
            cpus: None,
        };
        let mut watched = Vec::with_capacity(2);
        let mut result = executor.run(spec, &spawn, interrupts, || {
            watched.push(Watched::read(&self.root));
            knobs.read(&spec.knobs)
        });
        judge(&mut result, knobs, &watched);
        result.evidence.append(&mut self.effects);
        Ok(Reply::Ran(Box::new(result)))
    }

    /// Sees to it that the machine is in a boot, now or after the conversation.
    fn boot(&mut self, boot: &Boot) -> Result<Reply, Refusal> {
        let standing = Boots::of(&self.root).and_then(|boots| boots.be_in(boot));
        match standing.map_err(|error| Refusal::from(&error))? {
            Standing::Here => Ok(Reply::Booted),
            Standing::Ordered(ordered) => {
                self.restart = Some(ordered);
                Ok(Reply::Rebooting)
            }
        }
    }

    fn end_boots(&mut self) -> Result<Reply, Refusal> {
        let ended = Boots::of(&self.root).and_then(|boots| boots.end());
        let ended = ended.map_err(|error| Refusal::from(&error))?;
        self.restart = ended.restart;
        Ok(Reply::BootsEnded(ended.sentences))
    }

    /// Starts the machine anew, where that was asked for. Where it cannot be, the next start of
    /// the program asks again.
    pub fn restart(&mut self) {
        if let Some(ordered) = self.restart.take() {
            let _ = ordered.restart.perform(&self.root);
        }
    }

    fn verify(&self) -> Result<Reply, Refusal> {
        let knobs = self.knobs.as_ref().ok_or_else(not_begun)?;
        Ok(Reply::Verified(knobs.read(&self.applied)))
    }

    /// Puts everything back and gives the machine up.
    pub fn end(&mut self) -> Restoration {
        self.applied.clear();
        if let Some(mut executor) = self.executor.take() {
            // An interruption leaves treatments set up. Whether a teardown works out then, the
            // settings go back all the same.
            for spec in self.set_up.drain(..).rev() {
                let _ = executor.tear_down_in_haste(&spec);
            }
        }
        let Some(knobs) = self.knobs.as_mut() else {
            return Restoration::default();
        };
        knobs.release().unwrap_or_else(|error| Restoration {
            failed: vec![RestoreFailure {
                reason: error.to_string(),
                command: "knobstat restore".to_owned(),
            }],
            ..Restoration::default()
        })
    }
}

/// A run whose settings did not hold is tainted, whatever it measured. One that failed for a
/// reason of its own, or was broken off, stays what it is.
fn judge(result: &mut RunResult, knobs: &Knobs, watched: &[Watched]) {
    if result.outcome != Outcome::Ok {
        return;
    }
    let mut taints: Vec<Taint> = knobs.taints(&result.before, &result.after);
    if let [before, after] = watched {
        let turned: Vec<String> = result
            .before
            .iter()
            .map(|reading| reading.knob.clone())
            .collect();
        taints.extend(before.changes(after, &turned));
    }
    taints.extend(result.times.as_ref().and_then(suspend));
    taints.extend(result.times.as_ref().and_then(stopped));
    if !taints.is_empty() {
        result.outcome = Outcome::Tainted(taints);
    }
}

fn refusal(kind: RefusalKind, cause: &str, remedy: &str) -> Refusal {
    Refusal {
        kind,
        cause: cause.to_owned(),
        remedy: remedy.to_owned(),
    }
}

fn not_begun() -> Refusal {
    refusal(
        RefusalKind::Protocol,
        "the machine was neither described nor taken for an experiment",
        "use the same knobstat on both sides",
    )
}

fn step_refusal(step: &str, error: StepError) -> Refusal {
    let cause = match error {
        StepError::Interrupted => format!("{step} was interrupted"),
        StepError::Failed(Failure::Step { step, reason }) => format!("{step} failed: {reason}"),
        StepError::Failed(Failure::Start { reason }) => format!("{step} failed: {reason}"),
        StepError::Failed(other) => format!("{step} failed: {other:?}"),
    };
    refusal(
        RefusalKind::Step,
        &cause,
        "run the step by hand to see what it says",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_out_of_turn_is_refused_and_changes_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let mut session = Session::new(Root::laid_out(directory.path()).unwrap());
        for request in [
            Request::Begin(Begin {
                experiment: "0123456789ab".parse().unwrap(),
                overwrite_others: false,
            }),
            Request::Apply(vec![Setting::new("thp", "never")]),
            Request::Verify,
        ] {
            let Reply::Refused(refusal) = session.answer(request, &[]) else {
                panic!("it was not refused");
            };
            assert_eq!(refusal.kind, RefusalKind::Protocol);
        }
        assert_eq!(session.end(), Restoration::default());
    }
}
