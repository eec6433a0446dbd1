//! Users: the one who called, others by name, and giving up root's rights for theirs.

use std::ffi::{CStr, CString, OsStr, OsString};
use std::io;
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use thiserror::Error;

use crate::spawn::{Credentials, is_dumpable, set_dumpable};

/// A user, as far as the machine's databases know one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// The user's and the groups' numbers.
    pub credentials: Credentials,
    /// The name; a number needs none.
    pub name: Option<String>,
    /// The home directory.
    pub home: Option<PathBuf>,
    /// The login shell.
    pub shell: Option<PathBuf>,
}

/// Why there is no such user.
#[derive(Debug, Error)]
pub enum UserError {
    /// Neither a name nor a number that is known.
    #[error("there is no user \"{0}\" on this machine")]
    Unknown(String),
    /// `SUDO_UID` or `SUDO_GID` is not a number.
    #[error("{variable} is \"{value}\", which is not a number")]
    Sudo {
        /// The variable.
        variable: &'static str,
        /// What it is.
        value: String,
    },
    /// The databases cannot be read.
    #[error("the users of this machine cannot be looked up: {0}")]
    Database(#[from] io::Error),
}

/// Whether this process has root's rights.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// The number of the user whose rights this process has.
pub fn own_uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// The user whom root's rights were lent to by `sudo`: `None` where this process is not root or
/// was not started by `sudo`. `variable` looks up the environment.
///
/// # Errors
/// Variables that are no numbers; databases that cannot be read.
pub fn behind_sudo(variable: impl Fn(&str) -> Option<OsString>) -> Result<Option<User>, UserError> {
    if !is_root() {
        return Ok(None);
    }
    let number = |name: &'static str| -> Result<Option<u32>, UserError> {
        let Some(value) = variable(name) else {
            return Ok(None);
        };
        let value = value.to_string_lossy().into_owned();
        match value.parse() {
            Ok(number) => Ok(Some(number)),
            Err(_) => Err(UserError::Sudo {
                variable: name,
                value,
            }),
        }
    };
    let (Some(uid), Some(gid)) = (number("SUDO_UID")?, number("SUDO_GID")?) else {
        return Ok(None);
    };
    // A user who is in no database still has the numbers.
    Ok(Some(by_number(uid)?.unwrap_or(User {
        credentials: Credentials {
            uid,
            gid,
            groups: vec![gid],
        },
        name: None,
        home: None,
        shell: None,
    })))
}

/// The user of a name, or of a number that a database knows.
///
/// # Errors
/// Nobody of that name; databases that cannot be read.
pub fn named(text: &str) -> Result<User, UserError> {
    let name = CString::new(text).map_err(|_| UserError::Unknown(text.to_owned()))?;
    let by_name = lookup(|entry, buffer, length, result| {
        // SAFETY: `lookup` passes a place for the entry, a buffer of that length, and a place
        // for the result; the name ends with a zero byte.
        unsafe { libc::getpwnam_r(name.as_ptr(), entry, buffer, length, result) }
    })?;
    if let Some(user) = by_name {
        return Ok(user);
    }
    let by_number = match text.parse() {
        Ok(uid) => by_number(uid)?,
        Err(_) => None,
    };
    by_number.ok_or_else(|| UserError::Unknown(text.to_owned()))
}

fn by_number(uid: u32) -> io::Result<Option<User>> {
    lookup(|entry, buffer, length, result| {
        // SAFETY: `lookup` passes a place for the entry, a buffer of that length, and a place
        // for the result.
        unsafe { libc::getpwuid_r(uid, entry, buffer, length, result) }
    })
}

/// No entry of a user is longer than this.
const LARGEST_ENTRY: usize = 1 << 20;

/// Calls a reentrant look-up with a buffer that is large enough.
fn lookup(
    mut call: impl FnMut(
        *mut libc::passwd,
        *mut libc::c_char,
        usize,
        *mut *mut libc::passwd,
    ) -> libc::c_int,
) -> io::Result<Option<User>> {
    let mut buffer = vec![0; 1024];
    loop {
        let mut entry = MaybeUninit::uninit();
        let mut result = std::ptr::null_mut();
        let error = call(
            entry.as_mut_ptr(),
            buffer.as_mut_ptr(),
            buffer.len(),
            &raw mut result,
        );
        match error {
            0 if result.is_null() => return Ok(None),
            0 => {
                // SAFETY: a result that is not null says that the entry was written; its strings
                // are in `buffer`, which is alive.
                return Ok(Some(unsafe { user_of(&entry.assume_init()) }));
            }
            libc::EINTR => {}
            libc::ERANGE if buffer.len() < LARGEST_ENTRY => {
                let double = buffer.len() * 2;
                buffer.resize(double, 0);
            }
            // Some name services say so of a user who is not there.
            libc::ENOENT | libc::ESRCH => return Ok(None),
            error => return Err(io::Error::from_raw_os_error(error)),
        }
    }
}

/// # Safety
/// The entry's strings are alive, or null.
unsafe fn user_of(entry: &libc::passwd) -> User {
    let text = |pointer: *const libc::c_char| -> Option<&CStr> {
        // SAFETY: by this function's contract a string that is not null is alive and ends with a
        // zero byte.
        (!pointer.is_null()).then(|| unsafe { CStr::from_ptr(pointer) })
    };
    let path = |pointer| {
        text(pointer)
            .filter(|path| !path.is_empty())
            .map(|path| PathBuf::from(OsStr::from_bytes(path.to_bytes())))
    };
    let groups = text(entry.pw_name)
        .map(|name| groups_of(name, entry.pw_gid))
        .unwrap_or_default();
    User {
        credentials: Credentials {
            uid: entry.pw_uid,
            gid: entry.pw_gid,
            groups: if groups.is_empty() {
                vec![entry.pw_gid]
            } else {
                groups
            },
        },
        name: text(entry.pw_name).map(|name| name.to_string_lossy().into_owned()),
        home: path(entry.pw_dir),
        shell: path(entry.pw_shell),
    }
}

/// The kernel takes no more groups than this.
const MOST_GROUPS: usize = 65_536;

fn groups_of(name: &CStr, gid: u32) -> Vec<u32> {
    let mut groups = vec![0; 64];
    loop {
        let mut count = libc::c_int::try_from(groups.len()).unwrap_or(libc::c_int::MAX);
        // SAFETY: `groups` has room for `count` numbers; the name ends with a zero byte.
        let result =
            unsafe { libc::getgrouplist(name.as_ptr(), gid, groups.as_mut_ptr(), &raw mut count) };
        if result >= 0 {
            groups.truncate(usize::try_from(count).unwrap_or(0));
            return groups;
        }
        if groups.len() >= MOST_GROUPS {
            return Vec::new();
        }
        let double = groups.len() * 2;
        groups.resize(double, 0);
    }
}

/// Gives this process, all of its threads, the rights of a user, for good.
///
/// # Errors
/// EPERM without root's rights; an error as well when root's rights could be taken back.
pub fn become_user(credentials: &Credentials) -> io::Result<()> {
    let Credentials { uid, gid, groups } = credentials;
    let check = |result: libc::c_int| {
        if result == 0 {
            Ok(())
        } else {
            Err(io::Error::last_os_error())
        }
    };
    // SAFETY: the pointer and the length are those of one slice.
    check(unsafe { libc::setgroups(groups.len(), groups.as_ptr()) })?;
    // SAFETY: takes numbers alone.
    check(unsafe { libc::setresgid(*gid, *gid, *gid) })?;
    // SAFETY: takes numbers alone.
    check(unsafe { libc::setresuid(*uid, *uid, *uid) })?;
    // SAFETY: takes a number alone; it must fail.
    if *uid != 0 && unsafe { libc::setuid(0) } == 0 {
        return Err(io::Error::other("root's rights could be taken back"));
    }
    Ok(())
}

/// Does something with a user's rights to files, on this thread alone, and takes root's back.
/// What is opened for a user is opened like this: a link that leads where the user may not go
/// leads nowhere.
///
/// # Errors
/// Without root's rights to change identities. The parent-death signal of the calling process
/// is cleared by the kernel.
pub fn with_file_rights<T>(credentials: &Credentials, action: impl FnOnce() -> T) -> io::Result<T> {
    let dumpable = is_dumpable();
    let own = rustix::process::getgroups()?;
    let (gid, uid) = (rustix::process::getegid(), rustix::process::geteuid());
    let own: Vec<u32> = own.into_iter().map(|group| group.as_raw()).collect();
    set_thread_groups(&credentials.groups)?;
    let changed = set_file_identity(credentials.gid, credentials.uid);
    let result = changed.map(|()| action());
    set_file_identity(gid.as_raw(), uid.as_raw())?;
    set_thread_groups(&own)?;
    if dumpable {
        // The kernel marks what has changed its identity as not to be dumped.
        set_dumpable();
    }
    result
}

/// The raw call changes this thread alone; the C library's would change all.
fn set_thread_groups(groups: &[u32]) -> io::Result<()> {
    // SAFETY: the pointer and the length are those of one slice.
    let result = unsafe { libc::syscall(libc::SYS_setgroups, groups.len(), groups.as_ptr()) };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// setfsuid(2) tells no failure; asking again with what is no identity tells the present one.
fn set_file_identity(gid: u32, uid: u32) -> io::Result<()> {
    let set = |number: libc::c_long, id: u32| {
        // SAFETY: takes a number alone.
        unsafe {
            libc::syscall(number, id);
            libc::syscall(number, u32::MAX)
        }
    };
    if set(libc::SYS_setfsgid, gid) == libc::c_long::from(gid)
        && set(libc::SYS_setfsuid, uid) == libc::c_long::from(uid)
    {
        Ok(())
    } else {
        Err(io::Error::from_raw_os_error(libc::EPERM))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_is_known_by_name_and_by_number() {
        let root = named("root").unwrap();
        assert_eq!(root.credentials.uid, 0);
        assert!(root.credentials.groups.contains(&0));
        assert_eq!(root.name.as_deref(), Some("root"));
        assert!(root.home.is_some());
        assert_eq!(named("0").unwrap(), root);
    }

    #[test]
    fn nobody_of_that_name_is_an_error() {
        for text in ["no-such-user-here", "4294967294", "a\0b", ""] {
            assert!(matches!(named(text), Err(UserError::Unknown(_))), "{text}");
        }
    }

    #[test]
    fn the_one_behind_sudo_is_found_and_needs_no_entry() {
        let environment = |uid: &'static str| {
            move |name: &str| match name {
                "SUDO_UID" => Some(OsString::from(uid)),
                "SUDO_GID" => Some(OsString::from("4321")),
                _ => None,
            }
        };
        let found = behind_sudo(environment("4294967294"));
        if !is_root() {
            assert_eq!(found.unwrap(), None);
            return;
        }
        let found = found.unwrap().unwrap();
        assert_eq!(found.credentials.uid, 4_294_967_294);
        assert_eq!(found.credentials.groups, [4321]);
        assert_eq!(behind_sudo(|_| None).unwrap(), None);
        assert!(behind_sudo(environment("me")).is_err());
        let root = behind_sudo(environment("0")).unwrap().unwrap();
        assert_eq!(root.name.as_deref(), Some("root"));
    }

    #[test]
    fn files_are_opened_with_the_users_rights_and_no_longer() {
        if !is_root() {
            println!("only root can take another's rights");
            return;
        }
        let _turn = crate::spawn::tests::changing_identity();
        // A thread of its own, so that no other test runs with these rights.
        std::thread::spawn(|| {
            let private = tempfile::NamedTempFile::new().unwrap();
            let credentials = Credentials {
                uid: 65_534,
                gid: 65_534,
                groups: vec![65_534],
            };
            let open = || std::fs::File::open(private.path());
            let denied = with_file_rights(&credentials, open).unwrap();
            assert_eq!(denied.unwrap_err().kind(), io::ErrorKind::PermissionDenied);
            assert!(open().is_ok());
        })
        .join()
        .unwrap();
    }
}
