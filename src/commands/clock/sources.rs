//! The clock sources: the one in force, and the others, selected only where that is asked for.
//!
//! Selecting goes through the agent, as in an experiment: read back, journalled, put back.

use std::os::fd::AsFd;

use knobstat_data::Level;
use knobstat_data::messages::{
    Availability, Begin, Describe, KnobState, Refusal, RefusalKind, Reply, Request, Restoration,
};
use knobstat_data::words::{ExperimentId, RequestId, Setting};
use knobstat_lab::engine::{RealWorld, World};
use knobstat_lab::target::{Interrupt, Opened, Session, Target, TargetError};
use knobstat_lab::targets::Watch;
use knobstat_load::workloads::clock::ClockFigures;
use knobstat_load::workloads::survey::Seen;
use knobstat_sys::poll::wait;
use knobstat_sys::root::Root;

use super::{NotSurveyed, OneSurvey, Surveys};
use crate::front;
use crate::output;
use crate::trouble::{Exit, Trouble};
use crate::watch::SignalWatch;

/// The knob that selects a clock source.
const KNOB: &str = "clocksource";

/// The clock sources of a machine, as far as they can be told.
pub(super) struct Sources {
    state: Option<KnobState>,
}

impl Sources {
    /// Of this machine, or of the laid-out one.
    pub(super) fn of(root: &Root) -> Self {
        Self {
            state: knobstat_knobs::state_of(root, KNOB),
        }
    }

    fn levels(&self) -> &[(Level, Availability)] {
        self.state.as_ref().map_or(&[], |state| &state.levels)
    }

    fn current(&self) -> Seen<String> {
        match &self.state {
            Some(state) => Seen::from(state.value.clone().map(|level| level.to_string())),
            None => Seen::unseen("the catalogue of knobs has no clock source"),
        }
    }

    /// The survey of the source in force; the others are named, each with why it was not selected.
    pub(super) fn in_force(
        &self,
        survey: impl Fn() -> Result<ClockFigures, Trouble>,
    ) -> Result<Surveys, Trouble> {
        let current = self.current();
        let not_surveyed = self
            .levels()
            .iter()
            .filter(|(level, _)| current.value() != Some(&level.to_string()))
            .map(|(level, availability)| NotSurveyed {
                clock_source: level.to_string(),
                why: match availability {
                    Availability::Available => {
                        "not selected, because --all-sources was not given".to_owned()
                    }
                    Availability::Unavailable { reason, .. } => reason.clone(),
                },
            })
            .collect();
        Ok(Surveys {
            caveats: Vec::new(),
            surveys: vec![OneSurvey {
                clock_source: current,
                figures: survey()?,
            }],
            not_surveyed,
        })
    }

    /// A survey of each source that can be selected, in the order of the kernel's list.
    ///
    /// # Errors
    /// Where none may be selected, and where the machine could not be put back.
    pub(super) fn each(
        &self,
        root: &Root,
        survey: impl Fn() -> Result<ClockFigures, Trouble> + Clone + Send + 'static,
    ) -> Result<Surveys, Trouble> {
        if let Some(state) = &self.state
            && let Availability::Unavailable { reason, remedy } = &state.settable
        {
            return Err(Trouble::request(
                format!("--all-sources cannot select a clock source: {reason}"),
                match remedy {
                    Some(remedy) => format!("To have it: {remedy}."),
                    None => "Leave it out to look at the one in force.".to_owned(),
                },
            ));
        }
        let (mut target, watch) = front::start_agent(root)?;
        let mut session = match target.open(&[]).map_err(|error| broken(&error))? {
            Opened::Session(session) => session,
            Opened::Suspended => {
                return Err(Trouble::new(
                    Exit::RunsFailed,
                    "the machine reboots",
                    "Start the survey again afterwards.",
                ));
            }
        };
        begin(session.as_mut(), self.levels()).map_err(|trouble| match watch.signal() {
            Some(signal) => ended_by(signal),
            None => trouble,
        })?;
        let mut surveys = Surveys {
            caveats: Vec::new(),
            surveys: Vec::new(),
            not_surveyed: Vec::new(),
        };
        let mut result = Ok(());
        for (level, availability) in self.levels() {
            if watch.signal().is_some() {
                break;
            }
            let unavailable = match availability {
                Availability::Available => select(session.as_mut(), level),
                Availability::Unavailable { reason, .. } => Ok(Some(reason.clone())),
            };
            match unavailable {
                Ok(None) => match unless_ended(survey.clone(), &watch) {
                    Some(Ok(figures)) => surveys.surveys.push(OneSurvey {
                        clock_source: Seen::Value(level.to_string()),
                        figures,
                    }),
                    Some(Err(trouble)) => result = Err(trouble),
                    None => break,
                },
                Ok(Some(why)) => surveys.not_surveyed.push(NotSurveyed {
                    clock_source: level.to_string(),
                    why,
                }),
                Err(trouble) => result = Err(trouble),
            }
            if result.is_err() {
                break;
            }
        }
        // Whatever came before, the machine is put back first.
        let restored = restore(session.as_mut());
        result?;
        restored?;
        match watch.signal() {
            None => Ok(surveys),
            Some(signal) => Err(ended_by(signal)),
        }
    }
}

fn ended_by(signal: i32) -> Trouble {
    Trouble::new(
        Exit::Signal(signal),
        format!("ended by signal {signal}; the clock source is what it was"),
        "",
    )
}

/// The survey, made on a thread of its own so that a signal is heard meanwhile; `None` where one
/// came. The thread is then left to the end of the program.
fn unless_ended(
    survey: impl FnOnce() -> Result<ClockFigures, Trouble> + Send + 'static,
    watch: &SignalWatch,
) -> Option<Result<ClockFigures, Trouble>> {
    // One that came while the source was selected is no longer heard by waiting.
    if watch.signal().is_some() {
        return None;
    }
    let broken = |error: std::io::Error| {
        Trouble::new(
            Exit::RunsFailed,
            format!("the survey cannot be made beside the wait for signals ({error})"),
            "Raise the limits of open files and of processes (ulimit -n, ulimit -u).",
        )
    };
    let (done, working) = match std::io::pipe() {
        Ok(pipe) => pipe,
        Err(error) => return Some(Err(broken(error))),
    };
    let surveying = std::thread::Builder::new().spawn(move || {
        let figures = survey();
        drop(working);
        figures
    });
    let surveying = match surveying {
        Ok(surveying) => surveying,
        Err(error) => return Some(Err(broken(error))),
    };
    // The pipe hangs up when the survey is made, or its thread ends in another way.
    if let Err(error) = wait(&[done.as_fd(), watch.descriptor()], None) {
        return Some(Err(broken(error)));
    }
    if watch.signal().is_some() {
        return None;
    }
    Some(surveying.join().unwrap_or_else(|_| {
        Err(Trouble::new(
            Exit::RunsFailed,
            "the survey ended in the midst of its work",
            "",
        ))
    }))
}

/// Takes the machine.
fn begin(session: &mut dyn Session, levels: &[(Level, Availability)]) -> Result<(), Trouble> {
    let wanted = levels
        .iter()
        .map(|(level, _)| Setting::new(KNOB, level.clone()))
        .collect();
    let described = ask(
        session,
        Request::Describe(Describe {
            own_knobs: Vec::new(),
            wanted,
            starts: Vec::new(),
            workload: knobstat_data::messages::WantedWorkload::default(),
            may_reboot: None,
        }),
    )?;
    let Reply::Described(description) = described else {
        return Err(unexpected());
    };
    let random = RealWorld::new().random().map_err(|error| {
        Trouble::new(
            Exit::RunsFailed,
            format!("the system gives no random bits ({error})"),
            "",
        )
    })?;
    let request = RequestId::of("survey of the clock sources", &description.machine.id);
    let begin = Request::Begin(Begin {
        experiment: ExperimentId::of(&request, random),
        overwrite_others: false,
    });
    match ask(session, begin)? {
        Reply::Begun { put_back } => {
            for sentence in put_back {
                output::message(&format!("knobstat: {sentence}"));
            }
            Ok(())
        }
        _ => Err(unexpected()),
    }
}

/// Selects a source; why it is not in force afterwards, where it is not.
fn select(session: &mut dyn Session, level: &Level) -> Result<Option<String>, Trouble> {
    let setting = Setting::new(KNOB, level.clone());
    let reply = session
        .call(Request::Apply(vec![setting]))
        .map_err(|error| broken(&error))?;
    match reply {
        Reply::Applied { readings, .. } => Ok(readings
            .iter()
            .find(|reading| reading.read.as_ref() != Ok(level))
            .map(|reading| match &reading.read {
                Ok(found) => format!("the kernel kept {found}"),
                Err(why) => why.clone(),
            })),
        Reply::Refused(refusal) if refusal.kind == RefusalKind::Setting => Ok(Some(refusal.cause)),
        Reply::Refused(refusal) => Err(refused(refusal)),
        _ => Err(unexpected()),
    }
}

/// Puts the machine back.
fn restore(session: &mut dyn Session) -> Result<(), Trouble> {
    let Reply::Restored(Restoration {
        left_alone, failed, ..
    }) = ask(session, Request::Restore)?
    else {
        return Err(unexpected());
    };
    for sentence in left_alone {
        output::message(&format!("knobstat: {sentence}"));
    }
    match failed.first() {
        None => Ok(()),
        Some(failure) => Err(Trouble::new(
            Exit::NotPutBack,
            failure.reason.clone(),
            format!("Type: {}", failure.command),
        )),
    }
}

fn ask(session: &mut dyn Session, request: Request) -> Result<Reply, Trouble> {
    match session.call(request).map_err(|error| broken(&error))? {
        Reply::Refused(refusal) => Err(refused(refusal)),
        reply => Ok(reply),
    }
}

fn refused(refusal: Refusal) -> Trouble {
    let exit = match refusal.kind {
        RefusalKind::Busy => Exit::Busy,
        RefusalKind::Disk => Exit::Disk,
        RefusalKind::Restore => Exit::NotPutBack,
        _ => Exit::Request,
    };
    Trouble::new(exit, refusal.cause, refusal.remedy)
}

fn broken(error: &TargetError) -> Trouble {
    Trouble::new(Exit::RunsFailed, error.to_string(), "")
}

fn unexpected() -> Trouble {
    Trouble::new(
        Exit::RunsFailed,
        "the agent answered something else than what it was asked",
        "Start the survey again; `knobstat restore` says whether anything is left to be put back.",
    )
}
