//! A machine in memory that keeps to the conversation, follows a script and writes down what it
//! was asked.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::rc::Rc;
use std::time::Duration;

use knobstat_data::messages::{
    Availability, BootName, Description, LackingCell, Refusal, RefusalKind, Reply, Request,
    Restoration, RunSpec, SettingState,
};
use knobstat_data::observation::{KnobReading, MetricValue, Outcome};
use knobstat_data::words::{Level, Setting, UnixTime};
use knobstat_data::{Machine, RunResult};
use knobstat_lab::engine::World;
use knobstat_lab::target::{Interrupt, Opened, Session, Target, TargetError};

use crate::support::{bits, wall};

/// What a fake machine is, does and saw.
#[derive(Default)]
pub struct FakeMachine {
    /// Every request, as one word with what matters of it.
    pub log: Vec<String>,
    /// Every run, as it was asked for.
    pub runs: Vec<RunSpec>,
    /// What the next runs do; all is well when the script is at its end.
    pub script: VecDeque<Act>,
    /// Requests that are refused, by the word of the log, each once for every entry.
    pub refusals: Vec<(&'static str, Refusal)>,
    /// Levels that the machine lacks.
    pub lacking: Vec<Setting>,
    /// Why commands cannot be started on it.
    pub hindrances: Vec<Refusal>,
    pub lacking_cells: Vec<LackingCell>,
    /// What it says when everything is put back.
    pub restoration: Restoration,
    /// The kernel that it says it has.
    pub kernel: Option<String>,
    /// Boots that do not come up, by their settings, each once for every entry.
    pub failing_boots: Vec<String>,
    /// Settings that no boot has together, by their names.
    pub impossible_boots: Vec<String>,
    /// Called at every run, before it is executed.
    pub at_run: Option<Box<dyn FnMut(usize)>>,
    settings: BTreeMap<String, Level>,
    is_gone: bool,
    is_over: bool,
}

/// What a run does.
#[derive(Clone)]
pub enum Act {
    /// It ends so.
    End(Outcome),
    /// It ends with this result.
    Result(Box<RunResult>),
    /// The other side goes away.
    Gone,
    /// The machine goes away with all that it was.
    Lost,
}

/// A target that opens sessions on a fake machine.
#[derive(Clone, Default)]
pub struct FakeTarget {
    /// The machine.
    pub machine: Rc<RefCell<FakeMachine>>,
    /// The signal that came.
    pub signal: Signal,
    /// Whether the machine reboots when it is asked for settings of a boot.
    pub reboots: bool,
    /// The boot that the machine is in, where it reboots into what it is asked for.
    pub boot: Option<Rc<RefCell<Option<BootName>>>>,
}

/// A signal that came, or none.
#[derive(Clone, Default)]
pub struct Signal(pub Rc<Cell<Option<i32>>>);

impl Interrupt for Signal {
    fn signal(&self) -> Option<i32> {
        self.0.get()
    }
}

impl Target for FakeTarget {
    fn open(&mut self, boot: &[Setting]) -> Result<Opened, TargetError> {
        let mut machine = self.machine.borrow_mut();
        let settings: Vec<String> = boot.iter().map(ToString::to_string).collect();
        machine.log.push(format!("open {}", settings.join(" ")));
        let settings = settings.join(" ");
        let failing = machine.failing_boots.iter();
        if let Some(position) = failing.clone().position(|failing| *failing == settings) {
            machine.failing_boots.remove(position);
            return Err(TargetError::Boot("it hung at the logo".to_owned()));
        }
        if self.reboots && !boot.is_empty() {
            return Ok(Opened::Suspended);
        }
        (machine.is_gone, machine.is_over) = (false, false);
        Ok(Opened::Session(Box::new(FakeSession(self.clone()))))
    }

    fn open_boot(&mut self, name: &BootName, settings: &[Setting]) -> Result<Opened, TargetError> {
        if self.is_in(name) {
            return self.open(&[]);
        }
        if let Some(boot) = &self.boot {
            *boot.borrow_mut() = Some(name.clone());
        }
        self.open(settings)
    }

    fn cannot_boot(&self, settings: &[Setting]) -> Option<String> {
        let settings: Vec<String> = settings.iter().map(ToString::to_string).collect();
        let machine = self.machine.borrow();
        machine
            .impossible_boots
            .contains(&settings.join(" "))
            .then(|| "no kernel has both; exclude that combination".to_owned())
    }

    fn end_boots(&mut self) -> Result<Vec<String>, TargetError> {
        if self.boot.is_some() {
            self.machine.borrow_mut().log.push("end boots".to_owned());
        }
        Ok(Vec::new())
    }
}

impl FakeTarget {
    fn is_in(&self, name: &BootName) -> bool {
        let boot = self.boot.as_ref().map(|boot| boot.borrow().clone());
        boot.flatten().as_ref() == Some(name)
    }
}

struct FakeSession(FakeTarget);

impl Session for FakeSession {
    fn call(&mut self, request: Request) -> Result<Reply, TargetError> {
        let mut machine = self.0.machine.borrow_mut();
        let machine = &mut *machine;
        let entry = entry(&request);
        let word = entry.split(' ').next().unwrap_or_default().to_owned();
        machine.log.push(entry);
        if machine.is_gone {
            return Err(TargetError::Gone { cause: None });
        }
        let refused = machine
            .refusals
            .iter()
            .position(|(refused, _)| *refused == word);
        if let Some(position) = refused {
            return Ok(Reply::Refused(machine.refusals.remove(position).1));
        }
        Ok(match request {
            _ if machine.is_over => Reply::Restored(machine.restoration.clone()),
            Request::Describe(describe) => Reply::Described(Box::new(Description {
                machine: Machine {
                    id: "fake".to_owned(),
                    host: Some("fake".to_owned()),
                    kernel: machine.kernel.clone(),
                    ..Machine::default()
                },
                settings: describe
                    .wanted
                    .into_iter()
                    .map(|setting| SettingState {
                        availability: machine.availability(&setting),
                        setting,
                    })
                    .collect(),
                hindrances: machine.hindrances.clone(),
                lacking_cells: machine.lacking_cells.clone(),
            })),
            Request::Begin(_) => Reply::Begun {
                put_back: Vec::new(),
            },
            Request::Apply(settings) => machine.apply(settings),
            Request::SetUp(_) | Request::TearDown(_) => Reply::Stepped,
            Request::Run(spec) => return self.run(machine, spec),
            Request::Verify => Reply::Verified(Vec::new()),
            Request::Boot(_) | Request::EndBoots => panic!("a target asks that of its agent"),
            Request::Restore => {
                machine.settings.clear();
                Reply::Restored(machine.restoration.clone())
            }
        })
    }
}

impl FakeSession {
    fn run(&self, machine: &mut FakeMachine, spec: RunSpec) -> Result<Reply, TargetError> {
        let count = machine.runs.len();
        if let Some(at_run) = &mut machine.at_run {
            at_run(count);
        }
        machine.runs.push(spec);
        let mut result = RunResult::bare(Outcome::Ok);
        result.metrics.push(MetricValue {
            metric: wall(),
            value: 1.0,
            limited_by: None,
            granularity: None,
        });
        match machine.script.pop_front() {
            None => {}
            Some(Act::End(outcome)) => result.outcome = outcome,
            Some(Act::Result(scripted)) => result = *scripted,
            Some(Act::Gone) => {
                machine.is_gone = true;
                return Err(TargetError::Gone { cause: None });
            }
            Some(Act::Lost) => {
                machine.is_gone = true;
                return Err(TargetError::Boot("the guest ended".to_owned()));
            }
        }
        if result.outcome == Outcome::Interrupted {
            machine.is_over = true;
        }
        Ok(Reply::Ran(Box::new(result)))
    }
}

impl FakeMachine {
    fn availability(&self, setting: &Setting) -> Availability {
        if self.lacking.contains(setting) {
            Availability::Unavailable {
                reason: "the machine has none".to_owned(),
                remedy: Some("buy one".to_owned()),
            }
        } else {
            Availability::Available
        }
    }

    fn apply(&mut self, settings: Vec<Setting>) -> Reply {
        let mut changed = false;
        let mut readings = Vec::new();
        for Setting { factor, level } in settings {
            changed |= self.settings.insert(factor.clone(), level.clone()).as_ref() != Some(&level);
            readings.push(KnobReading {
                knob: factor,
                asked: Some(level.clone()),
                read: Ok(level),
            });
        }
        Reply::Applied { readings, changed }
    }
}

fn entry(request: &Request) -> String {
    let knobs = |spec: &RunSpec| {
        let knobs: Vec<String> = spec.knobs.iter().map(ToString::to_string).collect();
        knobs.join(" ")
    };
    match request {
        Request::Describe(_) => "describe".to_owned(),
        Request::Begin(_) => "begin".to_owned(),
        Request::Apply(settings) => {
            let settings: Vec<String> = settings.iter().map(ToString::to_string).collect();
            format!("apply {}", settings.join(" "))
        }
        Request::SetUp(spec) => format!("setup {}", knobs(spec)),
        Request::Run(spec) => format!("run {}", knobs(spec)),
        Request::TearDown(spec) => format!("teardown {}", knobs(spec)),
        Request::Verify => "verify".to_owned(),
        Request::Restore => "restore".to_owned(),
        Request::Boot(_) => "boot".to_owned(),
        Request::EndBoots => "end boots".to_owned(),
    }
}

/// A refusal of this kind.
pub fn refusal(kind: RefusalKind) -> Refusal {
    Refusal {
        kind,
        cause: "it cannot be".to_owned(),
        remedy: "try something else".to_owned(),
    }
}

/// Time that passes by a second at every look, and chance that counts.
pub struct FakeWorld {
    looks: Cell<u64>,
    drawn: u64,
}

impl FakeWorld {
    /// A world whose chance differs from that of another number.
    pub fn new(number: u64) -> Self {
        Self {
            looks: Cell::new(number * 1_000_000),
            drawn: number << 32,
        }
    }
}

impl World for FakeWorld {
    fn now(&self) -> UnixTime {
        UnixTime(1_196_000_000_000 + self.elapsed().as_millis() as i64)
    }

    fn elapsed(&self) -> Duration {
        self.looks.set(self.looks.get() + 1);
        Duration::from_secs(self.looks.get())
    }

    fn random(&mut self) -> io::Result<[u8; 16]> {
        self.drawn += 1;
        Ok(bits(self.drawn))
    }
}
