//! The front side of the conversation: what is asked, and what an answer to it can be.

use knobstat_data::messages::{
    Begin, Describe, Description, Refusal, Reply, Request, Restoration, RunSpec,
};
use knobstat_data::observation::RunResult;
use knobstat_data::words::Setting;

use super::error::EngineError;
use crate::target::Session;

/// A session, and what is known of its end.
pub(super) struct Conversation {
    session: Box<dyn Session>,
    /// What the other side put back without being asked: the session is over then.
    over: Option<Restoration>,
}

/// An answer that lets the experiment go on, or not.
pub(super) enum Answer<T> {
    Done(T),
    Refused(Refusal),
    /// The other side was asked to end, and put everything back.
    Over,
}

impl Conversation {
    pub(super) fn new(session: Box<dyn Session>) -> Self {
        Self {
            session,
            over: None,
        }
    }

    pub(super) fn describe(&mut self, describe: Describe) -> Result<Description, EngineError> {
        let asked = "describe itself";
        match self.ask(Request::Describe(describe))? {
            Answer::Done(Reply::Described(description)) => Ok(*description),
            answer => Err(not_expected(asked, answer)),
        }
    }

    /// Takes the machine; the sentences say what was found left behind and put back.
    pub(super) fn begin(&mut self, begin: Begin) -> Result<Vec<String>, EngineError> {
        match self.ask(Request::Begin(begin))? {
            Answer::Done(Reply::Begun { put_back }) => Ok(put_back),
            answer => Err(not_expected("begin", answer)),
        }
    }

    /// Turns knobs; the answer is whether any was changed.
    pub(super) fn apply(&mut self, settings: Vec<Setting>) -> Result<Answer<bool>, EngineError> {
        self.expect(
            Request::Apply(settings),
            "apply settings",
            |reply| match reply {
                Reply::Applied { changed, .. } => Ok(changed),
                other => Err(other),
            },
        )
    }

    pub(super) fn set_up(&mut self, spec: RunSpec) -> Result<Answer<()>, EngineError> {
        self.expect(Request::SetUp(spec), "set up", stepped)
    }

    pub(super) fn tear_down(&mut self, spec: RunSpec) -> Result<Answer<()>, EngineError> {
        self.expect(Request::TearDown(spec), "tear down", stepped)
    }

    pub(super) fn run(&mut self, spec: RunSpec) -> Result<Answer<RunResult>, EngineError> {
        self.expect(Request::Run(spec), "run", |reply| match reply {
            Reply::Ran(result) => Ok(*result),
            other => Err(other),
        })
    }

    /// Puts everything back, or tells what was put back already.
    pub(super) fn restore(mut self) -> Result<Restoration, EngineError> {
        if let Some(restoration) = self.over.take() {
            return Ok(restoration);
        }
        let unknown = |error: String| EngineError::RestoreUnknown(error);
        match self.session.call(Request::Restore) {
            Ok(Reply::Restored(restoration)) => {
                if !restoration.left_alone.is_empty() {
                    // Asking again shows that the answer was heard, and changes nothing.
                    let _ = self.session.call(Request::Restore);
                }
                Ok(restoration)
            }
            Ok(Reply::Refused(refusal)) => Err(unknown(refusal.cause)),
            Ok(other) => Err(unknown(format!("it answered {}", word(&other)))),
            Err(error) => Err(unknown(error.to_string())),
        }
    }

    fn expect<T>(
        &mut self,
        request: Request,
        asked: &'static str,
        wanted: impl FnOnce(Reply) -> Result<T, Reply>,
    ) -> Result<Answer<T>, EngineError> {
        Ok(match self.ask(request)? {
            Answer::Done(reply) => {
                Answer::Done(wanted(reply).map_err(|other| EngineError::Unexpected {
                    asked,
                    answered: word(&other).to_owned(),
                })?)
            }
            Answer::Refused(refusal) => Answer::Refused(refusal),
            Answer::Over => Answer::Over,
        })
    }

    fn ask(&mut self, request: Request) -> Result<Answer<Reply>, EngineError> {
        if self.over.is_some() {
            return Ok(Answer::Over);
        }
        Ok(match self.session.call(request)? {
            Reply::Refused(refusal) => Answer::Refused(refusal),
            Reply::Restored(restoration) => {
                self.over = Some(restoration);
                Answer::Over
            }
            reply => Answer::Done(reply),
        })
    }
}

fn stepped(reply: Reply) -> Result<(), Reply> {
    match reply {
        Reply::Stepped => Ok(()),
        other => Err(other),
    }
}

fn not_expected(asked: &'static str, answer: Answer<Reply>) -> EngineError {
    let answered = match answer {
        Answer::Refused(refusal) => return EngineError::Refused(refusal),
        Answer::Done(reply) => word(&reply).to_owned(),
        Answer::Over => "that it is over".to_owned(),
    };
    EngineError::Unexpected { asked, answered }
}

fn word(reply: &Reply) -> &'static str {
    match reply {
        Reply::Described(_) => "a description",
        Reply::Begun { .. } => "a beginning",
        Reply::Applied { .. } => "settings applied",
        Reply::Stepped => "a step done",
        Reply::Ran(_) => "a run",
        Reply::Verified(_) => "a verification",
        Reply::Restored(_) => "a restoration",
        Reply::Refused(_) => "a refusal",
        Reply::Booted => "that it is in a boot",
        Reply::Rebooting => "that it reboots",
        Reply::BootsEnded(_) => "an end of its boots",
    }
}
