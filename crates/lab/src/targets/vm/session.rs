//! The conversation with one guest.

use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::rc::Rc;
use std::time::{Duration, Instant};

use knobstat_data::experiment::VirtualMachine;
use knobstat_data::machine::GuestMachine;
use knobstat_data::messages::{
    Availability, Describe, Description, END, Header, Reply, Request, Restoration, RunSpec,
    SettingState, decode, encode, header,
};
use knobstat_data::observation::KnobReading;
use knobstat_data::words::{Parameters, Setting, Value};

use super::Boots;
use crate::guest::{Guest, Ready, ready};
use crate::target::{Session, TargetError};
use crate::targets::Watch;

/// Emulated, a second of a guest takes no longer than this many of ours, on any host.
const SLOWEST: u32 = 100;

/// A step around runs is its author's, and nothing tells how long it may take: one that is not
/// done after so long is taken for a guest that hangs.
const LONGEST_STEP: Duration = Duration::from_secs(60 * 60 * 24);

/// Longer than any wait.
const FOR_EVER: Duration = Duration::from_secs(60 * 60 * 24 * 365);

/// What was asked of the boot.
pub(super) struct Asked {
    /// Its settings, in the words of the experiment.
    pub settings: Vec<Setting>,
    /// The knobs that are decided at boot.
    pub at_boot: Vec<String>,
    /// Those of them that differ from boot to boot.
    pub varies: Vec<String>,
    /// What other boots there are.
    pub boots: Boots,
    /// The machine.
    pub machine: VirtualMachine,
}

/// A conversation with one guest.
pub(super) struct VmSession<W> {
    guest: Guest,
    watch: Rc<W>,
    asked: Asked,
    /// Whether the guest was asked to end.
    ended: bool,
    /// Whether it is gone: everything that it was is undone.
    lost: bool,
}

impl<W: Watch> VmSession<W> {
    pub(super) fn new(guest: Guest, watch: Rc<W>, asked: Asked) -> Self {
        Self {
            guest,
            watch,
            asked,
            ended: false,
            lost: false,
        }
    }

    fn describe(&mut self, describe: &Describe) -> Result<Reply, TargetError> {
        let at_boot = self.asked.at_boot.clone();
        let at_boot = |setting: &Setting| at_boot.contains(&setting.factor);
        // The guest is asked for what can be turned while it runs, and whether it came up as it
        // was booted.
        let booted = self.asked.settings.iter();
        let wanted: Vec<Setting> = describe
            .wanted
            .iter()
            .filter(|setting| !at_boot(setting))
            .chain(booted)
            .map(|setting| self.asked.boots.in_guest(setting))
            .collect();
        let in_guest = Describe {
            wanted,
            ..describe.clone()
        };
        let reply = self.ask(&Request::Describe(in_guest), None)?;
        let Reply::Described(mut description) = reply else {
            return Ok(reply);
        };
        let of_boot = description.settings.split_off(
            description
                .settings
                .len()
                .saturating_sub(self.asked.settings.len()),
        );
        if let Some(reason) = otherwise(&of_boot) {
            return Err(self.lose(format!(
                "the guest did not come up as it was booted: {reason}"
            )));
        }
        let mut running = std::mem::take(&mut description.settings).into_iter();
        description.settings = describe
            .wanted
            .iter()
            .filter_map(|setting| {
                if at_boot(setting) {
                    Some(SettingState {
                        setting: setting.clone(),
                        availability: self.asked.boots.availability(setting),
                    })
                } else {
                    running.next()
                }
            })
            .collect();
        self.name(&mut description);
        Ok(Reply::Described(description))
    }

    /// The guest's fingerprint: the same for every boot of the same machine.
    fn name(&self, description: &mut Description) {
        let machine = &self.asked.machine;
        let kernel = self.asked.boots.kernel_name();
        description.machine.id = format!(
            "guest {kernel} {} cpus {} bytes {} {}",
            machine.cpus,
            machine.memory.0,
            machine.time.word(),
            machine.accelerator.word()
        );
        // What differs from boot to boot is a level and no property of the machine.
        let varies = |name: &str| self.asked.varies.iter().any(|factor| factor == name);
        if varies("hz") || varies("kernel") {
            description.machine.hz = None;
            description.machine.kernel = None;
        }
        description.machine.host = Some("a guest".to_owned());
        description.machine.guest = Some(GuestMachine {
            time: machine.time,
            accelerator: machine.accelerator,
        });
    }

    fn in_guest(&self, mut spec: RunSpec) -> RunSpec {
        for knob in &mut spec.knobs {
            *knob = self.asked.boots.in_guest(knob);
        }
        spec
    }

    /// The readings in the words of the experiment.
    fn out_of_guest(&self, readings: &mut [KnobReading]) {
        for reading in readings {
            let asked = self
                .asked
                .settings
                .iter()
                .find(|setting| setting.factor == reading.knob);
            if let (Some(level), Some(setting)) = (&reading.asked, asked)
                && self.asked.boots.in_guest(setting).level == *level
            {
                if reading.read.as_ref() == Ok(level) {
                    reading.read = Ok(setting.level.clone());
                }
                reading.asked = Some(setting.level.clone());
            }
        }
    }

    fn ask(&mut self, request: &Request, longest: Option<Duration>) -> Result<Reply, TargetError> {
        if !self.ended {
            let frame = encode(request)?;
            if self.guest.frames().write_all(&frame).is_err() {
                return Err(self.lose("the guest cannot be spoken to any more".to_owned()));
            }
        }
        let deadline = longest.map(|longest| Instant::now() + longest);
        let mut head = Header::default();
        self.read(&mut head, deadline)?;
        let length = header(head)?;
        let mut body = vec![0; length];
        self.read(&mut body, deadline)?;
        Ok(decode(&body)?)
    }

    /// Reads so many bytes; a signal meanwhile asks the guest to end, and a second one ends it.
    fn read(&mut self, bytes: &mut [u8], deadline: Option<Instant>) -> Result<(), TargetError> {
        let mut filled = 0;
        while filled < bytes.len() {
            let left = deadline.map_or(FOR_EVER, |deadline| {
                deadline.saturating_duration_since(Instant::now())
            });
            if left.is_zero() {
                return Err(self.lose("the guest did not answer in time".to_owned()));
            }
            let signals = self.watch.descriptor();
            let stream = self.guest.frames();
            match ready(stream.as_fd(), Some(signals), left)? {
                Ready::Nothing => {}
                Ready::Signal => {
                    self.watch.take();
                    if self.ended {
                        self.lost = true;
                        self.guest.end();
                        return Err(TargetError::Interrupted);
                    }
                    self.end();
                }
                Ready::Stream => match self.guest.frames().read(&mut bytes[filled..]) {
                    Ok(0) => return Err(self.lose("the guest ended".to_owned())),
                    Ok(read) => filled += read,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(_) => return Err(self.lose("the guest ended".to_owned())),
                },
            }
        }
        Ok(())
    }

    fn end(&mut self) {
        self.ended = true;
        // A guest that is gone has ended as well.
        let _ = self.guest.frames().write_all(&END);
    }

    /// The guest is gone, or is not worth waiting for.
    fn lose(&mut self, what: String) -> TargetError {
        self.lost = true;
        let how = self.guest.end();
        let console = self.guest.console();
        let console = match console.as_slice() {
            [] => String::new(),
            lines => format!("; the last lines of its console: {}", lines.join(" | ")),
        };
        TargetError::Boot(format!("{what} ({how}){console}"))
    }
}

/// How long a guest may take for a step around runs before it is taken for hung; `waits` is what it
/// may take for an answer.
fn longest_step(waits: Duration) -> Duration {
    LONGEST_STEP.saturating_add(waits)
}

/// How long it may take for a run, where the run itself says how long that is.
fn longest_run(parameters: &Parameters, waits: Duration) -> Option<Duration> {
    let told = ["duration", "timeout"]
        .iter()
        .find_map(|name| match parameters.get(*name) {
            Some(Value::Duration(duration)) => Some(*duration),
            _ => None,
        })?;
    let run = told.saturating_mul(SLOWEST).saturating_add(waits);
    let steps = ["prepare", "cleanup"]
        .iter()
        .filter(|name| parameters.contains_key(**name));
    Some(steps.fold(run, |sum, _| sum.saturating_add(LONGEST_STEP)))
}

impl<W: Watch> Session for VmSession<W> {
    fn call(&mut self, request: Request) -> Result<Reply, TargetError> {
        let collects = matches!(request, Request::Restore);
        if self.lost {
            return if collects {
                Ok(Reply::Restored(Restoration::default()))
            } else {
                Err(TargetError::Gone {
                    cause: Some("the guest has ended".to_owned()),
                })
            };
        }
        if self.ended && !collects {
            return Err(TargetError::Gone {
                cause: Some("it was asked to end".to_owned()),
            });
        }
        let waits = self.asked.machine.boot_timeout;
        match request {
            Request::Describe(describe) => self.describe(&describe),
            Request::Run(spec) => {
                let longest = longest_run(&spec.parameters, waits);
                let spec = self.in_guest(spec);
                let mut reply = self.ask(&Request::Run(spec), longest)?;
                if let Reply::Ran(result) = &mut reply {
                    self.out_of_guest(&mut result.before);
                    self.out_of_guest(&mut result.after);
                }
                Ok(reply)
            }
            Request::SetUp(spec) => {
                let request = Request::SetUp(self.in_guest(spec));
                self.ask(&request, Some(longest_step(waits)))
            }
            Request::TearDown(spec) => {
                let request = Request::TearDown(self.in_guest(spec));
                self.ask(&request, Some(longest_step(waits)))
            }
            other => self.ask(&other, Some(waits)),
        }
    }
}

/// How a guest came up otherwise than it was booted, where it did.
fn otherwise(states: &[SettingState]) -> Option<String> {
    states.iter().find_map(|state| match &state.availability {
        Availability::Available => None,
        Availability::Unavailable { reason, .. } => Some(reason.clone()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_guest_may_take_follows_from_what_it_is_asked_for() {
        let (second, waits) = (Duration::from_secs(1), Duration::from_secs(120));
        let mut parameters = Parameters::new();
        assert_eq!(longest_run(&parameters, waits), None, "it says nothing");
        parameters.insert("timeout".to_owned(), Value::Duration(second));
        assert_eq!(longest_run(&parameters, waits), Some(100 * second + waits));
        parameters.insert("cleanup".to_owned(), Value::Text("rm -r work".to_owned()));
        let with_a_step = 100 * second + longest_step(waits);
        assert_eq!(longest_run(&parameters, waits), Some(with_a_step));
        parameters.insert("timeout".to_owned(), Value::Duration(Duration::MAX));
        assert_eq!(longest_run(&parameters, waits), Some(Duration::MAX));
    }
}
