//! The agent: a process of its own that serves one front over its standard input and output.
//!
//! It sleeps in one system call between requests and in one during a run. When the front goes
//! away, or the system asks it to end, it puts everything back and says what it did.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;

use knobstat_data::messages::{READY, Reply};
use knobstat_sys::root::Root;
use knobstat_sys::signals::{self, SIGTERM, SignalFd};
use knobstat_sys::{poll, streams};

use crate::conversation::{receive, send};
use crate::session::Session;

/// Exit code: everything was put back.
const DONE: u8 = 0;
/// Exit code: the process could not be made an agent.
const NOT_STARTED: u8 = 1;
/// Exit code: something could not be put back.
const NOT_PUT_BACK: u8 = 3;

/// Serves requests until the front has no more, then puts everything back. Returns the exit code.
/// With `announce` it says first that it listens, for a stream that may carry something else
/// before.
pub fn serve(root: &Root, announce: bool) -> u8 {
    let begun = Agent::begin(root).and_then(|mut agent| {
        if announce {
            agent.replies.write_all(&READY)?;
        }
        Ok(agent)
    });
    match begun {
        Ok(mut agent) => agent.serve(),
        Err(error) => {
            // There is no conversation to say it in.
            let _ = writeln!(
                io::stderr(),
                "knobstat: the agent cannot begin ({error}); see that /dev is there and that files may be opened (ulimit -n)"
            );
            NOT_STARTED
        }
    }
}

struct Agent {
    requests: File,
    replies: File,
    terminate: SignalFd,
    session: Session,
}

impl Agent {
    fn begin(root: &Root) -> io::Result<Self> {
        // Signals of the terminal are the front's; a front that ends closes the conversation.
        // A process that leads a group already, as one started by hand does, stays where it is.
        let _ = signals::new_session();
        let terminate = SignalFd::block(&[SIGTERM])?;
        signals::become_subreaper()?;
        let (requests, replies) = streams::take_standard_streams()?;
        Ok(Self {
            requests,
            replies,
            terminate,
            session: Session::new(root.clone()),
        })
    }

    fn serve(&mut self) -> u8 {
        while let Some(reply) = self.next_reply() {
            if send(&mut self.replies, &reply).is_err() {
                break;
            }
        }
        let restoration = self.session.end();
        let is_back = restoration.failed.is_empty();
        // A front that is gone does not hear it; the journal and the guardian still know.
        let _ = send(&mut self.replies, &Reply::Restored(restoration));
        self.session.restart();
        if is_back { DONE } else { NOT_PUT_BACK }
    }

    /// Waits for a request and answers it; nothing once the conversation is to end.
    fn next_reply(&mut self) -> Option<Reply> {
        let ready = poll::wait(&[self.requests.as_fd(), self.terminate.as_fd()], None).ok()?;
        if ready.has(1) {
            return None;
        }
        let request = receive(&mut self.requests).ok()??;
        let interrupts = [self.requests.as_fd(), self.terminate.as_fd()];
        Some(self.session.answer(request, &interrupts))
    }
}
