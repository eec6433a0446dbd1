//! One thing that is done to prepare, written as a person would type it in a shell: what a dry run
//! prints and what is carried out are the same value.

use std::fmt;
use std::path::{Path, PathBuf};

use knobstat_lab::kernels::Recipe;

/// One thing that is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// A directory is made, and those above it.
    MakeDirectory(PathBuf),
    /// A directory and all in it is removed, where it is there.
    Remove(PathBuf),
    /// A file gets this text.
    Write {
        /// The file.
        path: PathBuf,
        /// Its text.
        text: String,
    },
    /// A file's text is added to another's.
    Append {
        /// What is added.
        from: PathBuf,
        /// To what.
        to: PathBuf,
    },
    /// A file or a directory gets another name.
    Move {
        /// What.
        from: Word,
        /// Where it is then.
        to: PathBuf,
    },
    /// A program runs.
    Run {
        /// The program.
        program: &'static str,
        /// Its arguments.
        arguments: Vec<Word>,
    },
    /// The package that a package of Debian's depends on, whose name has the version in it, is
    /// downloaded and not installed.
    Download {
        /// The package that has no version in its name.
        of: &'static str,
        /// What the name of the other begins with.
        beginning: &'static str,
        /// The directory that it is put into.
        into: PathBuf,
    },
    /// A finished configuration is held against what was asked for.
    Check {
        /// Whose.
        recipe: Recipe,
        /// What was asked for.
        asked: PathBuf,
        /// What came of it.
        finished: PathBuf,
    },
}

/// An argument of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Word {
    /// As it stands.
    Text(String),
    /// A path.
    Path(PathBuf),
    /// The path of the one file that is found there.
    Found(Found),
}

/// The one file of a directory whose name has this beginning and this end, which are known before
/// the version between them is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The directory.
    pub directory: PathBuf,
    /// What its name begins with.
    pub beginning: &'static str,
    /// What its name ends with.
    pub end: &'static str,
}

impl Found {
    /// The one whose name is between these two.
    pub fn between(
        directory: impl Into<PathBuf>,
        beginning: &'static str,
        end: &'static str,
    ) -> Self {
        Self {
            directory: directory.into(),
            beginning,
            end,
        }
    }

    /// Whether a file's name fits.
    pub fn fits(&self, name: &str) -> bool {
        name.len() >= self.beginning.len() + self.end.len()
            && name.starts_with(self.beginning)
            && name.ends_with(self.end)
    }
}

impl From<&str> for Word {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Word {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&Path> for Word {
    fn from(path: &Path) -> Self {
        Self::Path(path.to_owned())
    }
}

impl From<Found> for Word {
    fn from(found: Found) -> Self {
        Self::Found(found)
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MakeDirectory(path) => write!(f, "mkdir -p {}", quoted_path(path)),
            Self::Remove(path) => write!(f, "rm -rf {}", quoted_path(path)),
            Self::Write { path, text } => write!(
                f,
                "cat >{} <<'END'\n{}\nEND",
                quoted_path(path),
                text.trim_end()
            ),
            Self::Append { from, to } => {
                write!(f, "cat {} >>{}", quoted_path(from), quoted_path(to))
            }
            Self::Move { from, to } => write!(f, "mv {from} {}", quoted_path(to)),
            Self::Run { program, arguments } => {
                f.write_str(program)?;
                arguments.iter().try_for_each(|word| write!(f, " {word}"))
            }
            Self::Download {
                of,
                beginning,
                into,
            } => write!(
                f,
                "(cd {} && apt-get download \"$(apt-cache depends {of} | sed -n 's/.*Depends: \\({beginning}.*\\)/\\1/p')\")",
                quoted_path(into)
            ),
            Self::Check {
                asked, finished, ..
            } => write!(
                f,
                "! grep '=y$' {} | grep -vxFf {}",
                quoted_path(asked),
                quoted_path(finished)
            ),
        }
    }
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(&quoted(text)),
            Self::Path(path) => f.write_str(&quoted_path(path)),
            Self::Found(found) => write!(f, "{found}"),
        }
    }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}/{}*{}",
            quoted_path(&self.directory),
            self.beginning,
            self.end
        )
    }
}

fn quoted_path(path: &Path) -> String {
    quoted(&path.display().to_string())
}

/// A word as a shell reads it as one.
fn quoted(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+=:,@%".contains(&byte);
    if !text.is_empty() && text.bytes().all(is_plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_action_reads_as_a_person_would_type_it() {
        let cache = Path::new("/home/a b/kernels");
        assert_eq!(
            Action::Move {
                from: Found::between("/w/boot", "vmlinuz-", "").into(),
                to: cache.join("bzImage-debian"),
            }
            .to_string(),
            "mv /w/boot/vmlinuz-* '/home/a b/kernels/bzImage-debian'"
        );
        assert_eq!(
            Action::Run {
                program: "tar",
                arguments: vec![
                    "-xJf".into(),
                    Found::between("/w", "linux-source-", ".tar.xz").into()
                ],
            }
            .to_string(),
            "tar -xJf /w/linux-source-*.tar.xz"
        );
        assert_eq!(
            Action::Write {
                path: "/w/it's".into(),
                text: "A=y\n".to_owned()
            }
            .to_string(),
            "cat >'/w/it'\\''s' <<'END'\nA=y\nEND"
        );
    }

    #[test]
    fn what_is_found_has_its_beginning_and_its_end() {
        let found = Found::between("/w", "ab", "bc");
        for (name, fits) in [
            ("abbc", true),
            ("ab-bc", true),
            ("abc", false),
            ("bc", false),
        ] {
            assert_eq!(found.fits(name), fits, "{name}");
        }
    }
}
