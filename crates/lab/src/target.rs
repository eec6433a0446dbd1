//! The front side of the seam: what the engine asks of any machine under test.
//!
//! A target opens sessions and a session answers requests; nothing here knows whether the
//! machine is this one, a guest or a model.

use std::time::Duration;

use knobstat_data::messages::{BootName, FrameError, Refusal, Reply, Request};
use knobstat_data::words::Setting;
use thiserror::Error;

/// A machine that experiments can run on.
pub trait Target {
    /// Opens a session on the machine, booted with these settings; none means as it is.
    ///
    /// # Errors
    /// When the machine cannot be reached or cannot be booted so.
    fn open(&mut self, boot: &[Setting]) -> Result<Opened, TargetError>;

    /// How long the last boot took, for telling how long is left.
    fn boot_takes(&self) -> Option<Duration> {
        None
    }

    /// Opens a session on a boot of a plan, which may be under way already.
    ///
    /// # Errors
    /// As [`Target::open`].
    fn open_boot(&mut self, name: &BootName, settings: &[Setting]) -> Result<Opened, TargetError> {
        let _ = name;
        self.open(settings)
    }

    /// The plan is done and no session is open: the machine is left to boot as it did before
    /// the first boot of the plan. Says what was done, in sentences.
    ///
    /// # Errors
    /// When it cannot be left so.
    fn end_boots(&mut self) -> Result<Vec<String>, TargetError> {
        Ok(Vec::new())
    }

    /// Why it cannot be booted with these settings together, as far as that is known without
    /// trying: in one sentence, with what would make it possible.
    fn cannot_boot(&self, settings: &[Setting]) -> Option<String> {
        let _ = settings;
        None
    }

    /// Whether it is booted anew for settings that need a boot. One that is not can take only the
    /// levels that it was booted with, and one session serves every boot of a plan.
    fn reboots(&self) -> bool {
        true
    }
}

/// What came of opening a target.
pub enum Opened {
    /// The machine is there.
    Session(Box<dyn Session>),
    /// The machine is rebooting: the experiment goes on when the program is started again.
    Suspended,
}

/// A conversation with one boot of a machine.
///
/// Dropping a session ends it; the machine puts everything back by itself then, so that an
/// orderly [`Request::Restore`] differs only in that its outcome is known.
pub trait Session {
    /// Asks, and waits for the answer.
    ///
    /// While a run is under way the session watches for the signals that an [`Interrupt`]
    /// reports, and makes the other side end the run: the answer is then a run that was
    /// interrupted. After that the other side puts everything back without being asked, and a
    /// [`Request::Restore`] only collects the outcome.
    ///
    /// # Errors
    /// When the conversation broke off. Refusals are replies, not errors.
    fn call(&mut self, request: Request) -> Result<Reply, TargetError>;
}

/// Tells whether the user or the system asked for an end.
pub trait Interrupt {
    /// The number of the signal that came, once one came.
    fn signal(&self) -> Option<i32>;
}

/// Nobody ever asks for an end.
pub struct NoInterrupt;

impl Interrupt for NoInterrupt {
    fn signal(&self) -> Option<i32> {
        None
    }
}

/// Why a conversation with a target is over, or never began.
#[derive(Debug, Error)]
pub enum TargetError {
    /// It could not be opened.
    #[error("the machine under test cannot be reached: {cause}; {remedy}")]
    Unreachable {
        /// Why.
        cause: String,
        /// What to do about it.
        remedy: String,
    },
    /// The other side said no.
    #[error("{}; {}", .0.cause, .0.remedy)]
    Refused(Refusal),
    /// The other side went away in the middle of the conversation.
    #[error(
        "the process that turns the knobs ended without a word{}; its guardian puts the settings back: run `knobstat restore` to see that nothing is left",
        .cause.as_ref().map(|cause| format!(" ({cause})")).unwrap_or_default()
    )]
    Gone {
        /// What is known of why.
        cause: Option<String>,
    },
    /// A boot did not come up, or the machine went away in the middle of it: nothing of it is
    /// left, and it can be booted again.
    #[error("{0}")]
    Boot(String),
    /// It cannot be booted at all, whatever the settings.
    #[error("{0}")]
    Setup(String),
    /// A signal asked for an end while the machine was booting or answering.
    #[error("a signal asked for an end before the machine under test had answered")]
    Interrupted,
    /// A message could not be read or written.
    #[error(
        "the conversation with the machine under test failed: {0}; start knobstat again to continue"
    )]
    Transport(#[from] std::io::Error),
    /// A message did not read as one.
    #[error("{0}; start knobstat again to continue")]
    Frame(#[from] FrameError),
}
