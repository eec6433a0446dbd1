//! Sleeping in one system call until one of a few descriptors has something to say.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::Duration;

use crate::clock::{Clock, now};

/// How many descriptors can be waited for at once.
pub const MOST_DESCRIPTORS: usize = 8;

/// Which descriptors were ready; none when the time was up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ready(u8);

impl Ready {
    /// Whether the descriptor at this place of the list was ready, hang-ups and errors included.
    pub fn has(self, index: usize) -> bool {
        index < MOST_DESCRIPTORS && self.0 & 1 << index != 0
    }

    /// Whether the time was up with none ready.
    pub fn timed_out(self) -> bool {
        self.0 == 0
    }
}

/// Waits until one of the descriptors can be read or has hung up, in one ppoll(2). Without a
/// timeout no timer is armed. Allocates nothing.
///
/// # Errors
/// EINVAL for more than [`MOST_DESCRIPTORS`]; else as ppoll(2) says.
pub fn wait(descriptors: &[BorrowedFd<'_>], timeout: Option<Duration>) -> io::Result<Ready> {
    let mut polled = [libc::pollfd {
        fd: -1,
        events: 0,
        revents: 0,
    }; MOST_DESCRIPTORS];
    if descriptors.len() > MOST_DESCRIPTORS {
        return Err(io::Error::from_raw_os_error(libc::EINVAL));
    }
    for (slot, descriptor) in polled.iter_mut().zip(descriptors) {
        slot.fd = descriptor.as_raw_fd();
        slot.events = libc::POLLIN;
    }
    let deadline = timeout.map(|timeout| now(Clock::Monotonic).saturating_add(timeout));
    let mut left = timeout;
    loop {
        let time = left.map(|left| libc::timespec {
            tv_sec: libc::time_t::try_from(left.as_secs()).unwrap_or(libc::time_t::MAX),
            tv_nsec: left.subsec_nanos().into(),
        });
        let time = time.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        // SAFETY: `polled` holds as many entries as are announced, `time` is null or points to a
        // timespec that lives until the call returns, and a null mask changes none.
        let count = unsafe {
            libc::ppoll(
                polled.as_mut_ptr(),
                descriptors.len() as libc::nfds_t,
                time,
                std::ptr::null(),
            )
        };
        if count >= 0 {
            break;
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
        left = deadline.map(|deadline| deadline.saturating_sub(now(Clock::Monotonic)));
    }
    let ready = polled
        .iter()
        .enumerate()
        .filter(|(_, slot)| slot.revents != 0)
        .fold(0, |ready, (index, _)| ready | 1 << index);
    Ok(Ready(ready))
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn the_one_that_is_ready_is_named_and_a_hang_up_counts() {
        let (quiet, _kept) = std::io::pipe().unwrap();
        let (spoken, mut speaker) = std::io::pipe().unwrap();
        let (hung_up, closed) = std::io::pipe().unwrap();
        let all = [quiet.as_fd(), spoken.as_fd(), hung_up.as_fd()];
        assert!(wait(&all, Some(Duration::ZERO)).unwrap().timed_out());
        speaker.write_all(b"x").unwrap();
        drop(closed);
        // What another test starts at this moment has the other end too, until it executes.
        assert!(wait(&[hung_up.as_fd()], None).unwrap().has(0));
        let ready = wait(&all, None).unwrap();
        assert_eq!(
            [0, 1, 2, 3, 99].map(|index| ready.has(index)),
            [false, true, true, false, false]
        );
    }

    #[test]
    fn too_many_are_refused() {
        let (end, _other) = std::io::pipe().unwrap();
        let many = [end.as_fd(); MOST_DESCRIPTORS + 1];
        assert!(wait(&many, None).is_err());
        assert!(wait(&many[1..], Some(Duration::ZERO)).unwrap().timed_out());
    }
}
