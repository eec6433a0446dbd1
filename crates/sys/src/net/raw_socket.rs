//! A socket that sends what lies in memory shared with the kernel: what a packet socket's ring and
//! AF_XDP have in common.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// A socket of a family that the standard library does not know.
pub(super) struct RawSocket(OwnedFd);

impl RawSocket {
    /// A socket of a family such as AF_PACKET, not yet set up; it receives nothing.
    pub(super) fn open(family: libc::c_int) -> io::Result<Self> {
        // SAFETY: makes a descriptor, which is owned from here on.
        let socket = unsafe { libc::socket(family, libc::SOCK_RAW | libc::SOCK_CLOEXEC, 0) };
        if socket < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: just made, and nobody else's.
        Ok(Self(unsafe { OwnedFd::from_raw_fd(socket) }))
    }

    /// Sets an option whose value is of the type that the kernel takes for it.
    pub(super) fn set<T: Copy>(
        &self,
        level: libc::c_int,
        option: libc::c_int,
        value: &T,
    ) -> io::Result<()> {
        // SAFETY: the value is plain data of the length that is announced.
        done(unsafe {
            libc::setsockopt(
                self.0.as_raw_fd(),
                level,
                option,
                std::ptr::from_ref(value).cast(),
                size_of_val(value) as libc::socklen_t,
            )
        })
    }

    /// Binds it to an address of the type that its family has.
    pub(super) fn bind<T: Copy>(&self, address: &T) -> io::Result<()> {
        // SAFETY: the address is plain data of the length that is announced; the kernel looks at
        // its family before anything else of it.
        done(unsafe {
            libc::bind(
                self.0.as_raw_fd(),
                std::ptr::from_ref(address).cast(),
                size_of_val(address) as libc::socklen_t,
            )
        })
    }

    /// Tells the kernel to look for what was laid out for it, without waiting.
    ///
    /// # Errors
    /// What the kernel says, EAGAIN and ENOBUFS included.
    pub(super) fn kick(&self) -> io::Result<()> {
        // SAFETY: sends no bytes of this process: the kernel looks into the ring.
        let sent =
            unsafe { libc::send(self.0.as_raw_fd(), std::ptr::null(), 0, libc::MSG_DONTWAIT) };
        if sent >= 0 {
            Ok(())
        } else {
            Err(io::Error::last_os_error())
        }
    }
}

impl AsFd for RawSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

fn done(result: libc::c_int) -> io::Result<()> {
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_that_is_none_is_refused() {
        assert!(RawSocket::open(-1).is_err());
    }

    #[test]
    fn what_the_kernel_does_not_take_is_an_error() {
        let Ok(socket) = RawSocket::open(libc::AF_PACKET) else {
            eprintln!("skipped: no packet socket can be had here");
            return;
        };
        assert!(socket.set(libc::SOL_PACKET, -1, &0u32).is_err());
        assert!(socket.bind(&0u16).is_err());
    }
}
