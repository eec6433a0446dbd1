//! The variables that a workload inherits: those of the user, without what the tools between
//! the user and the harness have added.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use knobstat_sys::user::User;

/// Variables that `cargo run` and `cargo test` set for the program that they start, and the ones
/// that rustup's proxies set for cargo. A name that ends with `*` stands for all that begin so.
const OF_CARGO: [&str; 12] = [
    "CARGO",
    "CARGO_BIN_EXE_*",
    "CARGO_BIN_NAME",
    "CARGO_CRATE_NAME",
    "CARGO_MANIFEST_DIR",
    "CARGO_MANIFEST_PATH",
    "CARGO_PKG_*",
    "CARGO_PRIMARY_PACKAGE",
    "CARGO_TARGET_TMPDIR",
    "OUT_DIR",
    "RUST_RECURSION_COUNT",
    "RUSTUP_TOOLCHAIN",
];

/// Variables that `sudo` sets.
const OF_SUDO: [&str; 5] = [
    "SUDO_COMMAND",
    "SUDO_GID",
    "SUDO_HOME",
    "SUDO_UID",
    "SUDO_USER",
];

/// The search path for shared libraries, which cargo extends.
const LIBRARIES: &str = "LD_LIBRARY_PATH";

/// What a workload inherits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Environment {
    /// The variables, in their order.
    pub(super) variables: Vec<(OsString, OsString)>,
    /// The names of those that were taken out or changed, in their order.
    pub(super) removed: Vec<String>,
}

impl Environment {
    /// The harness's own variables without what cargo has added. That cargo is in between is
    /// known by the variable `CARGO`.
    pub(super) fn inherited(variables: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        let variables: Vec<_> = variables.into_iter().collect();
        if !variables.iter().any(|(name, _)| name == "CARGO") {
            return Self {
                variables,
                removed: Vec::new(),
            };
        }
        let mut kept = Self::default();
        for (name, value) in variables {
            let libraries = (name == LIBRARIES).then(|| without_cargo(&value));
            match libraries {
                _ if is_one_of(&name, &OF_CARGO) => kept.remove(&name),
                None => kept.variables.push((name, value)),
                Some(own) => {
                    if own != value {
                        kept.remove(&name);
                    }
                    if !own.is_empty() {
                        kept.variables.push((name, own));
                    }
                }
            }
        }
        kept
    }

    fn remove(&mut self, name: &OsStr) {
        self.removed.push(name.to_string_lossy().into_owned());
    }

    /// Sets a variable, in its old place where it has one.
    pub(super) fn set(&mut self, name: impl Into<OsString>, value: impl Into<OsString>) {
        let (name, value) = (name.into(), value.into());
        match self.variables.iter_mut().find(|(old, _)| *old == name) {
            Some((_, old)) => *old = value,
            None => self.variables.push((name, value)),
        }
    }

    /// Makes it the environment of a user: home, name and shell are theirs, and nothing says
    /// that `sudo` was in between.
    pub(super) fn become_users(&mut self, user: &User) {
        self.variables
            .retain(|(name, _)| !is_one_of(name, &OF_SUDO));
        if let Some(home) = &user.home {
            self.set("HOME", home);
        }
        if let Some(shell) = &user.shell {
            self.set("SHELL", shell);
        }
        if let Some(name) = &user.name {
            self.set("USER", name);
            self.set("LOGNAME", name);
        }
    }

    /// The value of a variable.
    pub(super) fn get(&self, wanted: &str) -> Option<&OsStr> {
        self.variables
            .iter()
            .find(|(name, _)| name == wanted)
            .map(|(_, value)| value.as_os_str())
    }

    /// Its bytes as the kernel lays them out: names, values, signs of equality and zeros.
    pub(super) fn size(&self) -> usize {
        self.variables
            .iter()
            .map(|(name, value)| name.len() + value.len() + 2)
            .sum()
    }

    /// Every variable as `NAME=VALUE`.
    pub(super) fn words(&self) -> Vec<OsString> {
        self.variables
            .iter()
            .map(|(name, value)| {
                let mut word = name.clone();
                word.push("=");
                word.push(value);
                word
            })
            .collect()
    }
}

fn is_one_of(name: &OsStr, patterns: &[&str]) -> bool {
    patterns
        .iter()
        .any(|pattern| match pattern.strip_suffix('*') {
            Some(beginning) => name.as_bytes().starts_with(beginning.as_bytes()),
            None => name == *pattern,
        })
}

/// The entries of a search path for libraries that are not cargo's: not a build directory, and
/// not a toolchain's.
fn without_cargo(path: &OsStr) -> OsString {
    let is_cargos = |entry: &[u8]| {
        let entry = String::from_utf8_lossy(entry);
        let profile = |part: &str| entry.ends_with(part) || entry.contains(&format!("{part}/"));
        profile("/debug")
            || profile("/release")
            || entry.contains("/rustlib/")
            || entry.contains("/toolchains/")
    };
    let own: Vec<&[u8]> = path
        .as_bytes()
        .split(|byte| *byte == b':')
        .filter(|entry| !entry.is_empty() && !is_cargos(entry))
        .collect();
    OsStr::from_bytes(&own.join(&b':')).to_owned()
}

#[cfg(test)]
mod tests {
    use knobstat_sys::spawn::Credentials;

    use super::*;

    fn environment(pairs: &[(&str, &str)]) -> Environment {
        Environment::inherited(
            pairs
                .iter()
                .map(|(name, value)| (OsString::from(name), OsString::from(value))),
        )
    }

    #[test]
    fn what_cargo_adds_is_taken_out_and_named() {
        let seen = environment(&[
            ("PATH", "/bin"),
            ("CARGO", "/usr/bin/cargo"),
            ("CARGO_PKG_NAME", "x"),
            ("CARGO_HOME", "/home/a/.cargo"),
            ("RUST_LOG", "debug"),
            ("OUT_DIR", "/x"),
            (
                "LD_LIBRARY_PATH",
                "/x/target/debug/deps:/x/target/debug:/r/toolchains/s/lib:/opt/lib",
            ),
        ]);
        let names: Vec<_> = seen.variables.iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["PATH", "CARGO_HOME", "RUST_LOG", "LD_LIBRARY_PATH"]);
        assert_eq!(seen.get("LD_LIBRARY_PATH"), Some(OsStr::new("/opt/lib")));
        assert_eq!(
            seen.removed,
            ["CARGO", "CARGO_PKG_NAME", "OUT_DIR", "LD_LIBRARY_PATH"]
        );
    }

    #[test]
    fn without_cargo_nothing_is_touched() {
        let seen = environment(&[("OUT_DIR", "/x"), ("LD_LIBRARY_PATH", "/x/debug")]);
        assert_eq!(seen.variables.len(), 2);
        assert_eq!(seen.removed, Vec::<String>::new());
    }

    #[test]
    fn a_users_environment_is_the_users() {
        let mut seen = environment(&[
            ("HOME", "/root"),
            ("SUDO_USER", "a"),
            ("SUDO_ASKPASS", "/bin/ask"),
            ("USER", "root"),
        ]);
        seen.become_users(&User {
            credentials: Credentials {
                uid: 1000,
                gid: 1000,
                groups: vec![1000],
            },
            name: Some("a".to_owned()),
            home: Some("/home/a".into()),
            shell: None,
        });
        let words = seen.words();
        assert_eq!(
            words,
            [
                "HOME=/home/a",
                "SUDO_ASKPASS=/bin/ask",
                "USER=a",
                "LOGNAME=a"
            ]
        );
    }
}
