//! Memory that this process shares with the kernel.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::NonNull;

/// A mapping that is undone when it is dropped.
pub(super) struct Mapping {
    start: NonNull<u8>,
    length: usize,
}

// SAFETY: the mapping is owned, and reached through &self or &mut self alone.
unsafe impl Send for Mapping {}

impl Mapping {
    /// Maps what the kernel offers behind a descriptor, shared.
    pub(super) fn shared(
        descriptor: BorrowedFd<'_>,
        length: usize,
        offset: i64,
    ) -> io::Result<Self> {
        Self::map(
            length,
            libc::MAP_SHARED | libc::MAP_POPULATE,
            descriptor.as_raw_fd(),
            offset,
        )
    }

    /// Maps pages of zeros of this process's own.
    pub(super) fn anonymous(length: usize) -> io::Result<Self> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_POPULATE;
        Self::map(length, flags, -1, 0)
    }

    fn map(length: usize, flags: i32, descriptor: i32, offset: i64) -> io::Result<Self> {
        // SAFETY: a new mapping at an address of the kernel's choice disturbs nothing.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                length,
                libc::PROT_READ | libc::PROT_WRITE,
                flags,
                descriptor,
                offset,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { start, length })
    }

    /// The address of `size` bytes at an offset.
    ///
    /// # Panics
    /// When they do not lie within the mapping.
    pub(super) fn at(&self, offset: usize, size: usize) -> NonNull<u8> {
        assert!(
            offset
                .checked_add(size)
                .is_some_and(|end| end <= self.length),
            "beyond the mapping"
        );
        // SAFETY: the offset lies within the mapping.
        unsafe { self.start.add(offset) }
    }

    /// A stretch of it that the kernel does not look at for now.
    ///
    /// # Panics
    /// When it does not lie within the mapping.
    pub(super) fn bytes_mut(&mut self, offset: usize, size: usize) -> &mut [u8] {
        let start = self.at(offset, size);
        // SAFETY: within the mapping, which is initialised (pages begin as zeros) and lives as
        // long as self; &mut self makes the borrow unique within this process.
        unsafe { std::slice::from_raw_parts_mut(start.as_ptr(), size) }
    }

    /// Where it begins.
    pub(super) fn address(&self) -> u64 {
        self.start.as_ptr() as u64
    }

    /// How long it is.
    pub(super) fn length(&self) -> usize {
        self.length
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: mapped in `map` and unmapped only here.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.length) };
    }
}
