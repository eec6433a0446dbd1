//! This machine: an agent process, spoken to over a socket pair.
//!
//! The agent is this program started again, with the socket as its standard input and output, so
//! that the very same agent can be spoken to over any other pair of streams. It keeps the rights
//! that it was started with; the front may give its own up afterwards.

use std::cell::RefCell;
use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::rc::Rc;

use knobstat_data::messages::{
    Boot, BootName, Header, MayReboot, Reply, Request, Resume, decode, encode, header,
};
use knobstat_data::words::Setting;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

use crate::target::{Interrupt, Opened, Session, Target, TargetError};

/// A source of signals that a waiting session can watch.
pub trait Watch: Interrupt {
    /// Becomes readable when a signal has come.
    fn descriptor(&self) -> BorrowedFd<'_>;

    /// Takes the signal that has come, so that [`Interrupt::signal`] tells it.
    fn take(&self);
}

/// This machine.
pub struct LocalTarget<W> {
    agent: Option<Rc<Agent>>,
    watch: Rc<W>,
    reboots: Option<Reboots>,
}

/// The consent to reboot this machine.
#[derive(Clone, Debug)]
pub struct Reboots {
    /// By what.
    pub may: MayReboot,
    /// How the experiment goes on afterwards.
    pub resume: Resume,
}

/// A process that serves requests over its standard input and output.
pub struct Agent {
    process: RefCell<Child>,
    socket: UnixStream,
}

impl Agent {
    /// Starts a program with arguments that make it an agent.
    ///
    /// # Errors
    /// When the program cannot be started.
    pub fn start(program: PathBuf, arguments: Vec<OsString>) -> Result<Self, TargetError> {
        let (socket, theirs) = UnixStream::pair()?;
        let process = Command::new(&program)
            .args(arguments)
            .stdin(Stdio::from(OwnedFd::from(theirs.try_clone()?)))
            .stdout(Stdio::from(OwnedFd::from(theirs)))
            .spawn()
            .map_err(|error| TargetError::Unreachable {
                cause: format!("{} could not be started ({error})", program.display()),
                remedy: "check that the program is still where it was started from".to_owned(),
            })?;
        Ok(Self {
            process: RefCell::new(process),
            socket,
        })
    }
}

impl<W: Watch + 'static> LocalTarget<W> {
    /// This machine behind its agent. Signals are watched for while an answer is waited for.
    pub fn new(agent: Agent, watch: Rc<W>) -> Self {
        Self {
            agent: Some(Rc::new(agent)),
            watch,
            reboots: None,
        }
    }

    /// The same, rebooted for settings that need it.
    pub fn rebooting(mut self, reboots: Reboots) -> Self {
        self.reboots = Some(reboots);
        self
    }

    /// A session with the agent. There is one agent: where the machine reboots it serves one
    /// session after the other, because it alone may still have root's rights.
    fn session(&mut self) -> Result<LocalSession<W>, TargetError> {
        let may_reboot = self.reboots.as_ref().map(|reboots| reboots.may);
        let agent = match may_reboot {
            Some(_) => self.agent.clone(),
            None => self.agent.take(),
        };
        Ok(LocalSession {
            agent: agent.ok_or_else(|| TargetError::Unreachable {
                cause: "its agent has ended".to_owned(),
                remedy: "start knobstat again to continue".to_owned(),
            })?,
            watch: Rc::clone(&self.watch),
            ended: false,
            is_taken: false,
            may_reboot,
        })
    }
}

impl<W: Watch + 'static> Target for LocalTarget<W> {
    fn open(&mut self, boot: &[Setting]) -> Result<Opened, TargetError> {
        if let Some(setting) = boot.first() {
            return Err(TargetError::Unreachable {
                cause: format!("{setting} needs a reboot of this machine"),
                remedy: "leave it out, or boot the machine so and hold it there".to_owned(),
            });
        }
        Ok(Opened::Session(Box::new(self.session()?)))
    }

    fn open_boot(&mut self, name: &BootName, settings: &[Setting]) -> Result<Opened, TargetError> {
        let Some(reboots) = self.reboots.clone() else {
            return self.open(settings);
        };
        let mut session = self.session()?;
        let asked = Request::Boot(Box::new(Boot {
            name: name.clone(),
            settings: settings.to_vec(),
            may: reboots.may,
            resume: reboots.resume,
        }));
        match session.call(asked)? {
            Reply::Booted => Ok(Opened::Session(Box::new(session))),
            // It reboots when the conversation is over, which is when the target is dropped.
            Reply::Rebooting => Ok(Opened::Suspended),
            Reply::Refused(refusal) => Err(TargetError::Refused(refusal)),
            _ => Err(unexpected()),
        }
    }

    fn end_boots(&mut self) -> Result<Vec<String>, TargetError> {
        if self.reboots.is_none() {
            return Ok(Vec::new());
        }
        match self.session()?.call(Request::EndBoots)? {
            Reply::BootsEnded(sentences) => Ok(sentences),
            Reply::Refused(refusal) => Err(TargetError::Refused(refusal)),
            _ => Err(unexpected()),
        }
    }

    fn reboots(&self) -> bool {
        self.reboots.is_some()
    }
}

fn unexpected() -> TargetError {
    TargetError::Unreachable {
        cause: "its agent answered something else than it was asked".to_owned(),
        remedy: "use the same knobstat on both sides".to_owned(),
    }
}

struct LocalSession<W> {
    agent: Rc<Agent>,
    watch: Rc<W>,
    /// Whether our half of the conversation is closed: the request to end.
    ended: bool,
    /// Whether the agent has the machine.
    is_taken: bool,
    may_reboot: Option<MayReboot>,
}

impl<W: Watch> LocalSession<W> {
    /// Waits until the agent has something to say, asking it to end when a signal comes. A second
    /// signal means that the user will not wait: the agent goes on putting things back alone.
    fn wait_for_answer(&mut self) -> Result<(), TargetError> {
        loop {
            let mut descriptors = [
                PollFd::new(&self.agent.socket, PollFlags::IN),
                PollFd::from_borrowed_fd(self.watch.descriptor(), PollFlags::IN),
            ];
            match poll(&mut descriptors, None) {
                Ok(_) => {}
                Err(Errno::INTR) => continue,
                Err(error) => return Err(io::Error::from(error).into()),
            }
            let [socket, signal] = descriptors.map(|descriptor| !descriptor.revents().is_empty());
            if signal {
                self.watch.take();
                if self.ended {
                    return Err(TargetError::Gone {
                        cause: Some(
                            "a second signal came while it was putting things back".to_owned(),
                        ),
                    });
                }
                self.end();
            }
            if socket {
                return Ok(());
            }
        }
    }

    fn end(&mut self) {
        self.ended = true;
        // A socket that is gone already has ended as well.
        let _ = self.agent.socket.shutdown(std::net::Shutdown::Write);
    }

    fn read_reply(&mut self) -> Result<Reply, TargetError> {
        let mut head = Header::default();
        self.read_all(&mut head)?;
        let length = header(head)?;
        let mut body = vec![0; length];
        self.read_all(&mut body)?;
        Ok(decode(&body)?)
    }

    fn read_all(&mut self, bytes: &mut [u8]) -> Result<(), TargetError> {
        match (&self.agent.socket).read_exact(bytes) {
            Ok(()) => Ok(()),
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset
                ) =>
            {
                Err(self.gone())
            }
            Err(error) => Err(error.into()),
        }
    }

    fn gone(&mut self) -> TargetError {
        let cause = self.agent.process.borrow_mut().wait().ok().map(describe);
        TargetError::Gone { cause }
    }
}

/// How a process ended, in words.
fn describe(status: ExitStatus) -> String {
    match (status.signal(), status.code()) {
        (Some(signal), _) => format!("signal {signal}"),
        (None, Some(code)) => format!("exit code {code}"),
        (None, None) => "for an unknown reason".to_owned(),
    }
}

impl<W: Watch> Session for LocalSession<W> {
    fn call(&mut self, mut request: Request) -> Result<Reply, TargetError> {
        match &mut request {
            Request::Describe(describe) => describe.may_reboot = self.may_reboot,
            Request::Begin(_) => self.is_taken = true,
            _ => {}
        }
        let collects = matches!(request, Request::Restore);
        if self.ended && !collects {
            return Err(TargetError::Gone {
                cause: Some("it was asked to end".to_owned()),
            });
        }
        if !self.ended {
            let frame = encode(&request)?;
            match (&self.agent.socket).write_all(&frame) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Err(self.gone()),
                Err(error) => return Err(error.into()),
            }
        }
        self.wait_for_answer()?;
        let reply = self.read_reply()?;
        if matches!(reply, Reply::Restored(_)) {
            self.is_taken = false;
        }
        Ok(reply)
    }
}

impl<W> Drop for LocalSession<W> {
    /// Ends the conversation and waits for the agent, so that the machine is put back and free
    /// again before the program ends.
    fn drop(&mut self) {
        if self.may_reboot.is_some() && !self.is_taken && !self.ended {
            return;
        }
        let _ = self.agent.socket.shutdown(std::net::Shutdown::Write);
        let mut rest = [0; 4096];
        while matches!((&self.agent.socket).read(&mut rest), Ok(read) if read > 0) {}
        let _ = self.agent.process.borrow_mut().wait();
    }
}

impl Drop for Agent {
    /// An agent that was never spoken to ends with its socket; it is waited for.
    fn drop(&mut self) {
        let _ = self.socket.shutdown(std::net::Shutdown::Both);
        let _ = self.process.get_mut().wait();
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::os::fd::AsFd;

    use super::*;

    /// A signal that comes when the test writes to a pipe.
    struct Scripted {
        pipe: OwnedFd,
        seen: Cell<Option<i32>>,
    }

    impl Interrupt for Scripted {
        fn signal(&self) -> Option<i32> {
            self.seen.get()
        }
    }

    impl Watch for Scripted {
        fn descriptor(&self) -> BorrowedFd<'_> {
            self.pipe.as_fd()
        }

        fn take(&self) {
            let mut byte = [0];
            let _ = rustix::io::read(&self.pipe, &mut byte);
            self.seen.set(Some(i32::from(byte[0])));
        }
    }

    fn start(script: &str) -> (LocalTarget<Scripted>, io::PipeWriter) {
        let (reader, writer) = io::pipe().unwrap();
        let watch = Rc::new(Scripted {
            pipe: reader.into(),
            seen: Cell::new(None),
        });
        let agent = Agent::start(PathBuf::from("/bin/sh"), vec!["-c".into(), script.into()]);
        (LocalTarget::new(agent.unwrap(), watch), writer)
    }

    fn session(target: &mut LocalTarget<Scripted>) -> Box<dyn Session> {
        match target.open(&[]).unwrap() {
            Opened::Session(session) => session,
            Opened::Suspended => panic!("this machine does not reboot"),
        }
    }

    #[test]
    fn an_echoing_agent_is_not_understood_and_no_panic() {
        let (mut target, _signals) = start("cat");
        let reply = session(&mut target).call(Request::Verify);
        assert!(matches!(reply, Err(TargetError::Frame(_)) | Ok(_)));
    }

    #[test]
    fn an_agent_that_dies_is_gone_with_its_reason() {
        let (mut target, _signals) = start("head -c 1 >/dev/null; kill -9 $$");
        match session(&mut target).call(Request::Restore) {
            Err(TargetError::Gone { cause: Some(cause) }) => assert_eq!(cause, "signal 9"),
            other => panic!("{:?}", other.map_err(|error| error.to_string())),
        }
    }

    #[test]
    fn a_signal_closes_our_half_and_what_is_said_last_is_heard() {
        // The agent says nothing until its input ends, then sends what the test encoded for it.
        let frame = encode(&Reply::Restored(Default::default())).unwrap();
        let octal: String = frame.iter().map(|byte| format!("\\{byte:03o}")).collect();
        let (mut target, mut signals) = start(&format!("cat >/dev/null; printf '{octal}'"));
        let mut session = session(&mut target);
        signals.write_all(&[15]).unwrap();
        assert!(matches!(
            session.call(Request::Verify),
            Ok(Reply::Restored(_))
        ));
        assert_eq!(target.watch.signal(), Some(15));
        assert!(matches!(
            session.call(Request::Verify),
            Err(TargetError::Gone { .. })
        ));
    }

    #[test]
    fn boots_are_refused() {
        let (mut target, _signals) = start("cat");
        assert!(target.open(&[Setting::new("hz", 1000)]).is_err());
    }
}
