//! The stack of a child that shares our memory until it executes its program.

use std::io;
use std::ptr::NonNull;

/// Enough for some frames without locals of any size, even where nothing is optimised.
const SIZE: usize = 64 << 10;

/// At the lower end, never touched: running over it ends the child and not our memory.
const GUARD: usize = 16 << 10;

/// A stack with a guard below it.
#[derive(Debug)]
pub(super) struct ChildStack(NonNull<libc::c_void>);

impl ChildStack {
    /// A fresh stack.
    pub(super) fn new() -> io::Result<Self> {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // Populated now, so that no page is missing while a stopwatch runs.
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_STACK | libc::MAP_POPULATE;
        // SAFETY: a new anonymous mapping touches no memory that is in use.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), SIZE, protection, flags, -1, 0) };
        let Some(start) = NonNull::new(start).filter(|start| start.as_ptr() != libc::MAP_FAILED)
        else {
            return Err(io::Error::last_os_error());
        };
        let stack = Self(start);
        // SAFETY: the range lies within the mapping just made, which nothing points into.
        if unsafe { libc::mprotect(start.as_ptr(), GUARD, libc::PROT_NONE) } != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(stack)
    }

    /// Its lower end and its length, the guard left out.
    pub(super) fn usable(&self) -> (*mut libc::c_void, usize) {
        // SAFETY: the guard lies within the mapping.
        let start = unsafe { self.0.as_ptr().byte_add(GUARD) };
        (start, SIZE - GUARD)
    }

    /// Its upper end, aligned as both architectures want it, where a stack begins.
    pub(super) fn top(&self) -> *mut libc::c_void {
        // SAFETY: one past the end of the mapping, which is page-aligned.
        unsafe { self.0.as_ptr().byte_add(SIZE) }
    }
}

impl Drop for ChildStack {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `new` and no child runs on it any more: the parent
        // does not get on before the child has left it.
        unsafe { libc::munmap(self.0.as_ptr(), SIZE) };
    }
}
