//! Starting a child in another control group: clone3(2) with CLONE_INTO_CGROUP.
//!
//! Moving a process that is there already makes the kernel wait for every CPU, milliseconds in the
//! midst of a run; a child that is born in the group costs nothing. The C library has no wrapper,
//! so the call is made here, as small as it can be.

use std::io;
use std::os::fd::RawFd;

/// What the child begins with; it never returns.
pub(super) type Entry = extern "C" fn(*mut libc::c_void) -> libc::c_int;

/// CLONE_INTO_CGROUP of linux/sched.h.
const INTO_GROUP: u64 = 0x2_0000_0000;

/// `struct clone_args` of linux/sched.h, version 2.
#[repr(C, align(8))]
#[derive(Default)]
struct Arguments {
    flags: u64,
    pidfd: u64,
    child_tid: u64,
    parent_tid: u64,
    exit_signal: u64,
    stack: u64,
    stack_size: u64,
    tls: u64,
    set_tid: u64,
    set_tid_size: u64,
    cgroup: u64,
}

/// Where a child begins, and on which stack.
pub(super) struct Birth {
    pub(super) entry: Entry,
    pub(super) argument: *mut libc::c_void,
    /// The lower end of its stack, and the length of it.
    pub(super) stack: (*mut libc::c_void, usize),
    /// The directory of its control group; this process's own without one.
    pub(super) group: Option<RawFd>,
}

/// Starts a child that shares our memory, as `clone(CLONE_VM | CLONE_VFORK | CLONE_PIDFD)` does.
/// Returns its number once it has executed or ended, with a descriptor of it in `pidfd`.
///
/// # Errors
/// As clone3(2) says.
///
/// # Safety
/// The stack and whatever the argument leads to must outlive the child's use of them, and no handler
/// of a signal may run in the child: all of them must be blocked.
pub(super) unsafe fn clone_into(birth: &Birth, pidfd: &mut libc::c_int) -> io::Result<libc::pid_t> {
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::CLONE_PIDFD;
    let mut arguments = Arguments {
        flags: flags as u64,
        pidfd: std::ptr::from_mut(pidfd) as u64,
        exit_signal: libc::SIGCHLD as u64,
        stack: birth.stack.0 as u64,
        stack_size: birth.stack.1 as u64,
        ..Arguments::default()
    };
    if let Some(group) = birth.group {
        arguments.flags |= INTO_GROUP;
        arguments.cgroup = group as u64;
    }
    // SAFETY: as this function's caller promises; the arguments live through the call.
    let result = unsafe { call(&arguments, birth.entry, birth.argument) };
    if result < 0 {
        return Err(io::Error::from_raw_os_error(-(result as i32)));
    }
    Ok(result as libc::pid_t)
}

/// The call itself. In the child it does not come back: what the compiler keeps on the parent's
/// stack is not there for it.
///
/// # Safety
/// As [`clone_into`].
#[cfg(target_arch = "x86_64")]
unsafe fn call(arguments: &Arguments, entry: Entry, argument: *mut libc::c_void) -> isize {
    let result: isize;
    // SAFETY: the parent only makes a system call, which leaves every register but those named as
    // it was. The child has a stack of its own, aligned as a call wants it, and ends in its entry.
    unsafe {
        std::arch::asm!(
            "syscall",
            "test rax, rax",
            "jnz 2f",
            "xor ebp, ebp",
            "mov rdi, r12",
            "call r13",
            "ud2",
            "2:",
            inlateout("rax") libc::SYS_clone3 as isize => result,
            in("rdi") std::ptr::from_ref(arguments),
            in("rsi") size_of::<Arguments>(),
            in("r12") argument,
            in("r13") entry,
            lateout("rcx") _,
            lateout("r11") _,
        );
    }
    result
}

/// The call itself. In the child it does not come back: what the compiler keeps on the parent's
/// stack is not there for it.
///
/// # Safety
/// As [`clone_into`].
#[cfg(target_arch = "aarch64")]
unsafe fn call(arguments: &Arguments, entry: Entry, argument: *mut libc::c_void) -> isize {
    let result: isize;
    // SAFETY: the parent only makes a system call, which leaves every register but the result as
    // it was. The child has a stack of its own, aligned as a call wants it, and ends in its entry.
    unsafe {
        std::arch::asm!(
            "svc #0",
            "cbnz x0, 2f",
            "mov x29, xzr",
            "mov x0, x20",
            "blr x21",
            "brk #1",
            "2:",
            inlateout("x0") std::ptr::from_ref(arguments) as isize => result,
            in("x1") size_of::<Arguments>(),
            in("x8") libc::SYS_clone3,
            in("x20") argument,
            in("x21") entry,
        );
    }
    result
}
