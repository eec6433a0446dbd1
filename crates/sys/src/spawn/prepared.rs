//! A process that is ready to be started, and the one that was.

use std::ffi::{CString, NulError, OsString};
use std::io;
use std::marker::PhantomData;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};

use thiserror::Error;

use super::child::{self, KERNEL_SIGNAL_SET, NO_FAILURE, Plan, REAL, WITHOUT_PROGRAM};
use super::failure::{SpawnError, Step};
use super::into_group::{Birth, clone_into};
use super::nothing;
use super::stack::ChildStack;
use super::wait::{Exited, wait};
use crate::topology::CpuMask;

/// The program and the words and variables that it gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The file that is executed; no search is made.
    pub executable: PathBuf,
    /// All words of the command, the program's name first.
    pub arguments: Vec<OsString>,
    /// All variables, each `NAME=VALUE`.
    pub environment: Vec<OsString>,
}

/// What is set in the child before it becomes the program. Nothing of it is the default: then
/// everything is inherited.
#[derive(Clone, Debug, Default)]
pub struct Settings<'a> {
    /// Standard input, output and error; `None`: as inherited.
    pub streams: [Option<BorrowedFd<'a>>; 3],
    /// Where it starts. Entered with the rights of its user.
    pub working_directory: Option<PathBuf>,
    /// Whether it leads a process group of its own.
    pub own_group: bool,
    /// The signal that it gets when the thread that started it ends.
    pub parent_death_signal: Option<libc::c_int>,
    /// The CPUs that it may run on.
    pub cpus: Option<CpuMask>,
    /// Its priority.
    pub scheduling: Option<Scheduling>,
    /// Its resource limits.
    pub limits: Vec<Limit>,
    /// Whether its address space is laid out the same way every time.
    pub no_address_randomization: bool,
    /// Whose rights it has.
    pub credentials: Option<Credentials>,
    /// The directory of the control group (version 2) that it is started in.
    pub control_group: Option<BorrowedFd<'a>>,
}

/// How the scheduler treats a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheduling {
    /// A nice value, -20 to 19.
    Nice(i8),
    /// SCHED_FIFO with a priority, 1 to 99.
    Fifo(u8),
}

/// A resource limit, as setrlimit(2) numbers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// `RLIMIT_…`.
    pub resource: u32,
    /// The limit in force.
    pub soft: u64,
    /// How far the process may raise it.
    pub hard: u64,
}

/// A user's rights.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credentials {
    /// The user's number.
    pub uid: u32,
    /// The group's number.
    pub gid: u32,
    /// Every group that the user is in.
    pub groups: Vec<u32>,
}

/// Why a process cannot be prepared.
#[derive(Debug, Error)]
pub enum EnvironmentError {
    /// The kernel's strings end at a zero byte.
    #[error("a word, a variable or a path of the command has a zero byte in it")]
    ZeroByte(#[from] NulError),
    /// No memory for the child's stack.
    #[error("no memory for starting a process: {0}")]
    Memory(#[from] io::Error),
}

/// A process that is ready to be started any number of times. Starting allocates nothing.
#[derive(Debug)]
pub struct Prepared<'a> {
    plan: Box<Plan>,
    stack: ChildStack,
    control_group: Option<RawFd>,
    /// Whether this process may be dumped, and so may look at its own /proc files.
    dumpable: bool,
    /// What the plan's pointers lead to; never touched.
    _strings: Vec<CString>,
    /// The descriptors of the streams stay open as long as this lives.
    _streams: PhantomData<BorrowedFd<'a>>,
}

impl<'a> Prepared<'a> {
    /// Prepares a program with its settings.
    ///
    /// # Errors
    /// A zero byte in a word, a variable or a path; no memory.
    pub fn new(program: Program, settings: Settings<'a>) -> Result<Self, EnvironmentError> {
        let c_strings = |words: Vec<OsString>| -> Result<Vec<CString>, NulError> {
            words
                .into_iter()
                .map(|word| CString::new(word.into_vec()))
                .collect()
        };
        let arguments = c_strings(program.arguments)?;
        let environment = c_strings(program.environment)?;
        let pointers = |strings: &[CString]| {
            strings
                .iter()
                .map(|string| string.as_ptr())
                .chain(std::iter::once(std::ptr::null()))
                .collect()
        };
        let path = |path: PathBuf| CString::new(path.into_os_string().into_vec());
        let plan = Plan {
            executable: path(program.executable)?,
            arguments: pointers(&arguments),
            environment: pointers(&environment),
            streams: settings
                .streams
                .map(|stream| stream.map_or(-1, |descriptor| descriptor.as_raw_fd())),
            working_directory: settings.working_directory.map(path).transpose()?,
            own_group: settings.own_group,
            parent_death_signal: settings.parent_death_signal,
            parent: std::process::id().into(),
            cpus: settings.cpus,
            scheduling: settings.scheduling,
            limits: settings.limits,
            no_address_randomization: settings.no_address_randomization,
            credentials: settings.credentials,
            // Rust's runtime ignores the one and we the other, and what is ignored would stay so in
            // the program.
            default_signals: vec![libc::SIGPIPE, libc::SIGXFSZ],
            // None blocked, whatever the harness has blocked to read from a descriptor.
            signal_mask: 0,
            rehearsal: AtomicI32::new(REAL),
            failed_step: AtomicU32::new(NO_FAILURE),
            failed_with: AtomicU32::new(0),
        };
        let mut strings = arguments;
        strings.extend(environment);
        Ok(Self {
            plan: Box::new(plan),
            stack: ChildStack::new()?,
            control_group: settings.control_group.map(|group| group.as_raw_fd()),
            dumpable: is_dumpable(),
            _strings: strings,
            _streams: PhantomData,
        })
    }

    /// Starts it. Returns when the child has become the program, or has failed to.
    ///
    /// # Errors
    /// Which step failed, and the kernel's error.
    pub fn start(&mut self) -> Result<Child, SpawnError> {
        self.plan.failed_step.store(NO_FAILURE, Ordering::Relaxed);
        let before = block_all_signals();
        let cloned = self.clone_child();
        restore_signals(before);
        if self.plan.credentials.is_some() && self.dumpable {
            // The child changed its identity while it shared our memory, which marks the memory
            // as not to be dumped: ours as well.
            set_dumpable();
        }
        let child = cloned.map_err(|error| SpawnError {
            step: Step::Clone,
            error,
        })?;
        match Step::from_number(self.plan.failed_step.load(Ordering::Relaxed)) {
            None => Ok(child),
            Some(step) => {
                let errno = self.plan.failed_with.load(Ordering::Relaxed);
                // Reaped here: it never was the program.
                drop(child);
                Err(SpawnError {
                    step,
                    error: io::Error::from_raw_os_error(errno as i32),
                })
            }
        }
    }

    /// Starts it with a program that ends at once in place of the real one, and waits for its end.
    /// Whatever a start and an end need is then in the caches, so that how long they take does not
    /// depend on what this process did before. A step that fails fails again in
    /// [`Prepared::start`].
    ///
    /// # Errors
    /// As [`Prepared::start`].
    pub fn rehearse(&mut self) -> Result<(), SpawnError> {
        let program = nothing::descriptor().unwrap_or(WITHOUT_PROGRAM);
        self.plan.rehearsal.store(program, Ordering::Relaxed);
        let started = self.start();
        self.plan.rehearsal.store(REAL, Ordering::Relaxed);
        // However it ends, it is over then.
        let _ = started?.wait();
        Ok(())
    }

    fn clone_child(&mut self) -> io::Result<Child> {
        if let Some(group) = self.control_group {
            return self.clone_child_into(Some(group));
        }
        let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::CLONE_PIDFD | libc::SIGCHLD;
        let argument = std::ptr::from_ref::<Plan>(&self.plan).cast_mut().cast();
        let mut pidfd: libc::c_int = -1;
        // SAFETY: the child runs `child::main` on a stack of its own that outlives it, with a
        // plan that outlives it, both owned by `self`: CLONE_VFORK keeps this thread here until
        // the child has executed or exited. All signals are blocked, so that no handler of ours
        // runs in it. CLONE_PIDFD makes the kernel write one int to `pidfd`.
        let pid = unsafe {
            libc::clone(
                child::main,
                self.stack.top(),
                flags,
                argument,
                &raw mut pidfd,
            )
        };
        if pid < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(Self::child(pid, pidfd))
    }

    fn clone_child_into(&mut self, group: Option<RawFd>) -> io::Result<Child> {
        let birth = Birth {
            entry: child::main,
            argument: std::ptr::from_ref::<Plan>(&self.plan).cast_mut().cast(),
            stack: self.stack.usable(),
            group,
        };
        let mut pidfd: libc::c_int = -1;
        // SAFETY: as in `clone_child`: `self` owns the plan and the stack and stands still until
        // the child has executed or exited, and all signals are blocked.
        let pid = unsafe { clone_into(&birth, &mut pidfd) }?;
        Ok(Self::child(pid, pidfd))
    }

    fn child(pid: libc::pid_t, pidfd: RawFd) -> Child {
        // SAFETY: the kernel made the descriptor for us (closed on exec) and nobody else has it.
        let pidfd = unsafe { OwnedFd::from_raw_fd(pidfd) };
        Child {
            pid,
            pidfd,
            reaped: false,
        }
    }
}

/// A process that was started. Dropped before it was waited for, it is killed and reaped.
#[derive(Debug)]
pub struct Child {
    pid: libc::pid_t,
    pidfd: OwnedFd,
    reaped: bool,
}

impl Child {
    /// Its number, which stays its own until it is reaped.
    pub fn pid(&self) -> u32 {
        self.pid.unsigned_abs()
    }

    /// Waits for its end and reaps it.
    ///
    /// # Errors
    /// As wait4(2) says.
    pub fn wait(mut self) -> io::Result<Exited> {
        let exited = wait(self.pid)?;
        self.reaped = true;
        Ok(exited)
    }

    /// Lets go of one that no signal of ours can end: it is neither killed nor waited for.
    pub fn abandon(mut self) {
        self.reaped = true;
    }
}

/// Readable when the process has ended.
impl AsFd for Child {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.pidfd.as_fd()
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if !self.reaped {
            // SAFETY: the number is our unreaped child's, so it is nobody else's.
            unsafe { libc::kill(self.pid, libc::SIGKILL) };
            // Whatever it says, there is nothing left to do.
            let _ = wait(self.pid);
        }
    }
}

/// Blocks every signal, those of the C library's own included; returns what was blocked before.
fn block_all_signals() -> u64 {
    let all = u64::MAX;
    let mut before = 0;
    set_signal_mask(&raw const all, &raw mut before);
    before
}

fn restore_signals(before: u64) {
    set_signal_mask(&raw const before, std::ptr::null_mut());
}

fn set_signal_mask(mask: *const u64, before: *mut u64) {
    // SAFETY: both pointers are null or lead to sets of the size that is announced. The raw call
    // is made because the C library's leaves its own signals out.
    unsafe {
        libc::syscall(
            libc::SYS_rt_sigprocmask,
            libc::SIG_SETMASK,
            mask,
            before,
            KERNEL_SIGNAL_SET,
        )
    };
}

pub(crate) fn is_dumpable() -> bool {
    // SAFETY: reads a flag of this process.
    unsafe { libc::prctl(libc::PR_GET_DUMPABLE, 0, 0, 0, 0) == 1 }
}

pub(crate) fn set_dumpable() {
    // SAFETY: sets a flag of this process.
    unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 1, 0, 0, 0) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spawn::Status;

    #[test]
    fn a_child_can_be_born_by_the_other_call() {
        let program = Program {
            executable: PathBuf::from("/bin/sh"),
            arguments: ["sh", "-c", "exit 5"].map(OsString::from).into(),
            environment: Vec::new(),
        };
        let mut prepared = Prepared::new(program, Settings::default()).unwrap();
        for _ in 0..3 {
            let before = block_all_signals();
            let child = prepared.clone_child_into(None);
            restore_signals(before);
            if child
                .as_ref()
                .is_err_and(|error| error.raw_os_error() == Some(libc::ENOSYS))
            {
                println!("skipped: there is no clone3 here, as in some containers");
                return;
            }
            assert_eq!(child.unwrap().wait().unwrap().status, Status::Code(5));
        }
    }

    #[test]
    fn what_is_no_control_group_is_an_error_of_the_start() {
        let directory = std::fs::File::open("/").unwrap();
        let settings = Settings {
            control_group: Some(directory.as_fd()),
            ..Settings::default()
        };
        let program = Program {
            executable: PathBuf::from("/bin/true"),
            arguments: vec![OsString::from("true")],
            environment: Vec::new(),
        };
        let error = Prepared::new(program, settings)
            .unwrap()
            .start()
            .unwrap_err();
        assert_eq!(error.step, Step::Clone);
    }
}
