//! What the child does: raw system calls on memory that it shares with its parent, which is
//! suspended meanwhile. No allocation, no lock, no wrapper of the C library that does more than
//! the call (its set*id functions would signal every thread of the parent).

use std::ffi::CString;
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};

use super::failure::Step;
use super::prepared::{Credentials, Limit, Scheduling};
use crate::topology::CpuMask;

/// `personality(2)`: tells the present one.
const PERSONALITY_QUERY: libc::c_ulong = 0xffff_ffff;

/// The exit code of a child that could not become its program; nobody sees it but us.
const NOT_STARTED: libc::c_int = 127;

/// No rehearsal: the program itself is executed.
pub(super) const REAL: RawFd = -1;

/// A rehearsal that ends where the program would be executed.
pub(super) const WITHOUT_PROGRAM: RawFd = -2;

/// The kernel's signal set: 64 signals.
pub(super) const KERNEL_SIGNAL_SET: usize = size_of::<u64>();

/// Everything that the child needs, made beforehand, and the place for what it fails at.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) executable: CString,
    /// Pointers into `Prepared`'s arguments, null at the end.
    pub(super) arguments: Vec<*const libc::c_char>,
    /// Pointers into `Prepared`'s environment, null at the end.
    pub(super) environment: Vec<*const libc::c_char>,
    /// Numbers of descriptors for 0, 1, 2; negative: as inherited.
    pub(super) streams: [RawFd; 3],
    pub(super) working_directory: Option<CString>,
    pub(super) own_group: bool,
    pub(super) parent_death_signal: Option<libc::c_int>,
    pub(super) parent: libc::c_long,
    pub(super) cpus: Option<CpuMask>,
    pub(super) scheduling: Option<Scheduling>,
    pub(super) limits: Vec<Limit>,
    pub(super) no_address_randomization: bool,
    pub(super) credentials: Option<Credentials>,
    pub(super) default_signals: Vec<libc::c_int>,
    pub(super) signal_mask: u64,
    /// The descriptor of what the child executes in a rehearsal, or one of [`REAL`] and
    /// [`WITHOUT_PROGRAM`].
    pub(super) rehearsal: AtomicI32,
    pub(super) failed_step: AtomicU32,
    pub(super) failed_with: AtomicU32,
}

/// No step has failed.
pub(super) const NO_FAILURE: u32 = u32::MAX;

/// An error number of the kernel.
struct Errno(libc::c_int);

type Done = Result<(), (Step, Errno)>;

/// The entry of the child. Its argument is a `Plan`.
pub(super) extern "C" fn main(argument: *mut libc::c_void) -> libc::c_int {
    // SAFETY: the parent passes its plan, which outlives the child's use of it because the
    // parent stands still until the child has executed or exited; the plan's only fields that
    // are written are atomic.
    let plan = unsafe { &*argument.cast::<Plan>() };
    if let Err((step, Errno(error))) = plan.carry_out() {
        plan.failed_with.store(error as u32, Ordering::Relaxed);
        plan.failed_step.store(step as u32, Ordering::Relaxed);
    }
    // SAFETY: ends this process and none of the parent's: it shares memory, not the thread group.
    unsafe { libc::syscall(libc::SYS_exit_group, NOT_STARTED) };
    NOT_STARTED
}

impl Plan {
    /// Everything up to the program; returns only when something failed.
    fn carry_out(&self) -> Done {
        self.reset_signals()?;
        if self.own_group {
            call(Step::Group, libc::SYS_setpgid, [0, 0, 0, 0])?;
        }
        self.place_streams()?;
        if self.no_address_randomization {
            let query = [PERSONALITY_QUERY as libc::c_long, 0, 0, 0];
            let present = call(Step::Personality, libc::SYS_personality, query)?;
            let wanted = present | libc::c_long::from(libc::ADDR_NO_RANDOMIZE);
            call(Step::Personality, libc::SYS_personality, [wanted, 0, 0, 0])?;
        }
        self.schedule()?;
        for limit in &self.limits {
            let value = libc::rlimit64 {
                rlim_cur: limit.soft,
                rlim_max: limit.hard,
            };
            let arguments = [
                0,
                libc::c_long::from(limit.resource),
                address(&raw const value),
                0,
            ];
            call(Step::Limits, libc::SYS_prlimit64, arguments)?;
        }
        if let Some(credentials) = &self.credentials {
            take_credentials(credentials)?;
        }
        // As the user: a directory that only root may enter is an error, as it is for the user.
        if let Some(directory) = &self.working_directory {
            let arguments = [address(directory.as_ptr()), 0, 0, 0];
            call(Step::WorkingDirectory, libc::SYS_chdir, arguments)?;
        }
        self.die_with_parent()?;
        self.execute()
    }

    fn reset_signals(&self) -> Done {
        /// The kernel's own layout on both architectures; all zero is the default action.
        #[repr(C)]
        struct KernelAction {
            handler: usize,
            flags: libc::c_ulong,
            restorer: usize,
            mask: u64,
        }
        let default = KernelAction {
            handler: libc::SIG_DFL,
            flags: 0,
            restorer: 0,
            mask: 0,
        };
        for signal in &self.default_signals {
            let arguments = [
                libc::c_long::from(*signal),
                address(&raw const default),
                0,
                KERNEL_SIGNAL_SET as libc::c_long,
            ];
            call(Step::Signals, libc::SYS_rt_sigaction, arguments)?;
        }
        Ok(())
    }

    /// Streams first out of the way of each other, then into their places, then everything else
    /// closed on exec: whatever the harness holds open, the program does not get it.
    fn place_streams(&self) -> Done {
        let mut sources = self.streams;
        for source in &mut sources {
            if (0..3).contains(source) {
                let duplicate = libc::c_long::from(libc::F_DUPFD_CLOEXEC);
                let arguments = [libc::c_long::from(*source), duplicate, 3, 0];
                *source = call(Step::Streams, libc::SYS_fcntl, arguments)? as RawFd;
            }
        }
        for (place, source) in (0..).zip(sources) {
            if source >= 0 {
                let arguments = [libc::c_long::from(source), place, 0, 0];
                call(Step::Streams, libc::SYS_dup3, arguments)?;
            }
        }
        let above = [
            3,
            libc::c_long::from(u32::MAX),
            libc::c_long::from(libc::CLOSE_RANGE_CLOEXEC),
            0,
        ];
        // Before Linux 5.11 there is no such call; our own descriptors are closed on exec anyway.
        let _ = call(Step::Streams, libc::SYS_close_range, above);
        Ok(())
    }

    fn schedule(&self) -> Done {
        if let Some(cpus) = &self.cpus {
            let words = cpus.words();
            let size = size_of_val(words) as libc::c_long;
            let arguments = [0, size, address(words.as_ptr()), 0];
            call(Step::Affinity, libc::SYS_sched_setaffinity, arguments)?;
        }
        match self.scheduling {
            None => {}
            Some(Scheduling::Nice(nice)) => {
                let process = libc::c_long::from(libc::PRIO_PROCESS);
                let arguments = [process, 0, libc::c_long::from(nice), 0];
                call(Step::Scheduling, libc::SYS_setpriority, arguments)?;
            }
            Some(Scheduling::Fifo(priority)) => {
                // The kernel's sched_param is one int.
                let parameter = libc::c_int::from(priority);
                let policy = libc::c_long::from(libc::SCHED_FIFO);
                let arguments = [0, policy, address(&raw const parameter), 0];
                call(Step::Scheduling, libc::SYS_sched_setscheduler, arguments)?;
            }
        }
        Ok(())
    }

    /// After the identity, because changing that clears the parent-death signal; and the parent
    /// may have ended before it was set.
    fn die_with_parent(&self) -> Done {
        let Some(signal) = self.parent_death_signal else {
            return Ok(());
        };
        let arguments = [
            libc::c_long::from(libc::PR_SET_PDEATHSIG),
            libc::c_long::from(signal),
            0,
            0,
        ];
        call(Step::ParentDeathSignal, libc::SYS_prctl, arguments)?;
        let parent = call(Step::ParentGone, libc::SYS_getppid, [0; 4])?;
        if parent != self.parent {
            return Err((Step::ParentGone, Errno(libc::ESRCH)));
        }
        Ok(())
    }

    fn execute(&self) -> Done {
        let mask = [
            libc::c_long::from(libc::SIG_SETMASK),
            address(&raw const self.signal_mask),
            0,
            KERNEL_SIGNAL_SET as libc::c_long,
        ];
        call(Step::Signals, libc::SYS_rt_sigprocmask, mask)?;
        match self.rehearsal.load(Ordering::Relaxed) {
            REAL => {}
            WITHOUT_PROGRAM => return Ok(()),
            program => return execute_descriptor(program),
        }
        let arguments = [
            address(self.executable.as_ptr()),
            address(self.arguments.as_ptr()),
            address(self.environment.as_ptr()),
            0,
        ];
        call(Step::Execute, libc::SYS_execve, arguments)?;
        Ok(())
    }
}

/// Executes the program behind a descriptor, without arguments and environment.
fn execute_descriptor(program: RawFd) -> Done {
    let nothing = [std::ptr::null::<libc::c_char>()];
    // SAFETY: an empty path and two empty lists, all of which live through the call.
    unsafe {
        libc::syscall(
            libc::SYS_execveat,
            program,
            c"".as_ptr(),
            nothing.as_ptr(),
            nothing.as_ptr(),
            libc::AT_EMPTY_PATH,
        )
    };
    // Where it is forbidden the rehearsal ends here.
    Ok(())
}

/// Groups first, then the group, then the user: each needs the rights that the next gives up.
fn take_credentials(credentials: &Credentials) -> Done {
    let step = Step::Credentials;
    let groups = &credentials.groups;
    let arguments = [groups.len() as libc::c_long, address(groups.as_ptr()), 0, 0];
    call(step, libc::SYS_setgroups, arguments)?;
    let gid = libc::c_long::from(credentials.gid);
    call(step, libc::SYS_setresgid, [gid, gid, gid, 0])?;
    let uid = libc::c_long::from(credentials.uid);
    call(step, libc::SYS_setresuid, [uid, uid, uid, 0])?;
    Ok(())
}

fn address<T>(pointer: *const T) -> libc::c_long {
    pointer as libc::c_long
}

/// One raw system call.
fn call(
    step: Step,
    number: libc::c_long,
    arguments: [libc::c_long; 4],
) -> Result<libc::c_long, (Step, Errno)> {
    let [a, b, c, d] = arguments;
    // SAFETY: every caller passes addresses of values that live through the call, of the size
    // that the call reads. A failure writes the errno of the suspended parent's thread, which
    // nobody reads before the parent's own next call.
    let result = unsafe { libc::syscall(number, a, b, c, d, 0, 0) };
    if result == -1 {
        // SAFETY: the address of this thread's errno is always valid.
        return Err((step, Errno(unsafe { *libc::__errno_location() })));
    }
    Ok(result)
}
