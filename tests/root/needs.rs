//! What a test needs of the machine that it runs on, and how it shows that it is not there.

use std::path::Path;
use std::sync::OnceLock;

use crate::settings_file_system::SettingsFileSystem;

/// Something that not every machine gives a test.
#[derive(Clone, Copy, Debug)]
pub enum Need {
    /// Root's rights.
    Root,
    /// A file system of one's own: /dev/fuse, and the right to mount, which root of a container
    /// seldom has.
    Fuse,
    /// The user `nobody`, and setpriv(1) to become it.
    Nobody,
}

impl Need {
    /// What is lacking, in a few words; none where nothing is.
    pub fn lacking(self) -> Option<&'static str> {
        let root = knobstat_sys::user::is_root();
        match self {
            Self::Root => (!root).then_some("not root"),
            Self::Fuse if !root => Some("not root, who may mount"),
            Self::Fuse => (!may_mount()).then_some("no file system of one's own can be mounted"),
            Self::Nobody if !root => Some("not root, who may become another user"),
            Self::Nobody if !Path::new("/usr/bin/setpriv").exists() => {
                Some("setpriv is not installed")
            }
            Self::Nobody => knobstat_sys::user::named("nobody")
                .err()
                .map(|_| "there is no user nobody"),
        }
    }
}

/// Tried once, with a file system.
fn may_mount() -> bool {
    static MAY: OnceLock<bool> = OnceLock::new();
    *MAY.get_or_init(SettingsFileSystem::can_be_mounted)
}
