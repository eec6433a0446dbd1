//! A simulated machine: requests are answered within the program, at once.

use std::cell::RefCell;
use std::rc::Rc;

use knobstat_data::messages::{Reply, Request};
use knobstat_data::words::Setting;
use knobstat_model::{Session as Simulation, Simulator};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::Watch;
use crate::target::{Opened, Session, Target, TargetError};

/// A simulated machine. Every boot of it is a session; its runs are counted over all of them.
pub struct ModelTarget {
    simulator: Rc<RefCell<Simulator>>,
    watch: Option<Rc<dyn Watch>>,
}

impl ModelTarget {
    /// A machine that has done nothing yet.
    pub fn new(simulator: Simulator) -> Self {
        Self {
            simulator: Rc::new(RefCell::new(simulator)),
            watch: None,
        }
    }

    /// The same, taking signals before each request: a simulated run is not broken off, the
    /// experiment ends after it.
    pub fn watching(mut self, watch: Rc<dyn Watch>) -> Self {
        self.watch = Some(watch);
        self
    }

    /// The machine itself, for telling it how many runs an experiment has behind it already.
    pub fn simulator(&self) -> Rc<RefCell<Simulator>> {
        Rc::clone(&self.simulator)
    }
}

impl Target for ModelTarget {
    fn open(&mut self, boot: &[Setting]) -> Result<Opened, TargetError> {
        let simulation = Simulation::boot(Rc::clone(&self.simulator), boot).map_err(|lacking| {
            TargetError::Unreachable {
                cause: format!("the model cannot be booted so: {}", lacking.reason),
                remedy: lacking
                    .remedy
                    .unwrap_or_else(|| "leave that level out".to_owned()),
            }
        })?;
        Ok(Opened::Session(Box::new(ModelSession {
            simulation,
            watch: self.watch.clone(),
        })))
    }
}

struct ModelSession {
    simulation: Simulation,
    watch: Option<Rc<dyn Watch>>,
}

impl Session for ModelSession {
    fn call(&mut self, request: Request) -> Result<Reply, TargetError> {
        if let Some(watch) = &self.watch {
            take_signal(watch.as_ref())?;
        }
        Ok(self.simulation.answer(request))
    }
}

/// Takes a signal that has come, without waiting for one.
fn take_signal(watch: &dyn Watch) -> Result<(), TargetError> {
    let mut descriptors = [PollFd::from_borrowed_fd(watch.descriptor(), PollFlags::IN)];
    let at_once = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    match poll(&mut descriptors, Some(&at_once)) {
        Ok(0) | Err(rustix::io::Errno::INTR) => {}
        Ok(_) => watch.take(),
        Err(error) => return Err(std::io::Error::from(error).into()),
    }
    Ok(())
}
