//! Whether a process that is started can have its address space laid out in order.

use std::io;

/// `personality(2)`: tells the present one.
const QUERY: libc::c_ulong = 0xffff_ffff;

/// Tries it with the calling thread, and sets that back at once: what is laid out already stays as
/// it is, so that nothing comes of it.
///
/// # Errors
/// EPERM where personality(2) is filtered, as in most containers.
pub fn may_disable_address_randomization() -> io::Result<()> {
    let present = personality(QUERY)?;
    personality(present | libc::ADDR_NO_RANDOMIZE as libc::c_ulong)?;
    personality(present)?;
    Ok(())
}

fn personality(wanted: libc::c_ulong) -> io::Result<libc::c_ulong> {
    // SAFETY: the call touches no memory of ours.
    let before = unsafe { libc::personality(wanted) };
    libc::c_ulong::try_from(before).map_err(|_| io::Error::last_os_error())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn to_try_changes_nothing() {
        let own = || std::fs::read_to_string("/proc/thread-self/personality").unwrap();
        let before = own();
        match may_disable_address_randomization() {
            Ok(()) => println!("it may be had"),
            Err(error) => assert_eq!(error.raw_os_error(), Some(libc::EPERM)),
        }
        assert_eq!(own(), before);
    }
}
