//! Memory for the messages of a batch: equal slots in one allocation that never moves.
//!
//! The kernel is handed pointers into it that are stored once and used in every call, so it is
//! held through a raw pointer: a box could not be borrowed between calls without giving those
//! pointers up.

use std::ptr::NonNull;

/// `count` slots of `size` bytes, and one `iovec` for each that points at it.
pub(super) struct Slots {
    bytes: NonNull<[u8]>,
    vectors: NonNull<[libc::iovec]>,
    size: usize,
    count: usize,
}

impl Slots {
    /// Slots full of zeros; the only allocation of a batch's life.
    ///
    /// # Panics
    /// When `count` times `size` is beyond the address space.
    pub(super) fn new(count: usize, size: usize) -> Self {
        let total = count
            .checked_mul(size)
            .expect("a batch fits the address space");
        let bytes = leak(vec![0u8; total].into_boxed_slice());
        let first = bytes.cast::<u8>();
        let vectors: Vec<libc::iovec> = (0..count)
            .map(|index| libc::iovec {
                // SAFETY: index * size is at most the length of the allocation.
                iov_base: unsafe { first.as_ptr().add(index * size) }.cast(),
                iov_len: size,
            })
            .collect();
        Self {
            bytes,
            vectors: leak(vectors.into_boxed_slice()),
            size,
            count,
        }
    }

    /// One message header per slot, each of one `iovec`, without address or ancillary data.
    pub(super) fn headers(&self) -> Box<[libc::mmsghdr]> {
        (0..self.count)
            .map(|index| {
                // SAFETY: all zeros is a valid mmsghdr: null pointers and zero lengths.
                let mut header: libc::mmsghdr = unsafe { std::mem::zeroed() };
                // SAFETY: index is below the number of iovecs.
                header.msg_hdr.msg_iov =
                    unsafe { self.vectors.cast::<libc::iovec>().as_ptr().add(index) };
                header.msg_hdr.msg_iovlen = 1;
                header
            })
            .collect()
    }

    /// How many slots there are.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// The first `length` bytes of a slot.
    ///
    /// # Panics
    /// When there is no such slot or it is shorter.
    pub(super) fn slot(&self, index: usize, length: usize) -> &[u8] {
        assert!(index < self.count && length <= self.size, "no such slot");
        // SAFETY: the range lies within the allocation, which is initialised and lives as long
        // as self; only &mut self hands out a mutable slice or lets the kernel write.
        unsafe {
            std::slice::from_raw_parts(
                self.bytes.cast::<u8>().as_ptr().add(index * self.size),
                length,
            )
        }
    }

    /// A slot, whole.
    ///
    /// # Panics
    /// When there is no such slot.
    pub(super) fn slot_mut(&mut self, index: usize) -> &mut [u8] {
        assert!(index < self.count, "no such slot");
        // SAFETY: as in `slot`; &mut self makes the borrow unique.
        unsafe {
            std::slice::from_raw_parts_mut(
                self.bytes.cast::<u8>().as_ptr().add(index * self.size),
                self.size,
            )
        }
    }
}

fn leak<T>(slice: Box<[T]>) -> NonNull<[T]> {
    NonNull::from(Box::leak(slice))
}

impl Drop for Slots {
    fn drop(&mut self) {
        // SAFETY: both came from Box::leak in `new` and are freed only here.
        unsafe {
            drop(Box::from_raw(self.vectors.as_ptr()));
            drop(Box::from_raw(self.bytes.as_ptr()));
        }
    }
}
