//! What keeps commands from being started, found before any setting of the machine is touched.
//!
//! It looks and opens nothing: an input may be a pipe that nobody writes yet. What only a start
//! shows, such as rights on the way to a file, is told by the run.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use knobstat_data::CpuList;
use knobstat_data::messages::{PlannedStart, Refusal, RefusalKind};
use knobstat_sys::root::Root;
use knobstat_sys::spawn::{Lookup, find_program};
use knobstat_sys::{topology, user};

use super::identity;
use crate::launch::Identity;

/// Why these cannot be started on this machine from the harness's working directory, each reason
/// once.
pub fn hindrances(starts: &[PlannedStart]) -> Vec<Refusal> {
    let here = Here {
        directory: std::env::current_dir().unwrap_or_default(),
        search_path: std::env::var_os("PATH"),
        possible: topology::possible(&Root::real())
            .ok()
            .and_then(|cpus| CpuList::try_from(cpus).ok()),
    };
    let mut hindrances = Vec::new();
    for hindrance in starts.iter().filter_map(|start| here.hindrance(start)) {
        if !hindrances.contains(&hindrance) {
            hindrances.push(hindrance);
        }
    }
    hindrances
}

/// Where the harness is.
struct Here {
    directory: PathBuf,
    search_path: Option<OsString>,
    /// The CPUs that the machine can have, where it tells: an experiment may bring some online.
    possible: Option<CpuList>,
}

impl Here {
    /// The first thing that is in the way of a start.
    fn hindrance(&self, start: &PlannedStart) -> Option<Refusal> {
        let directory = match &start.working_directory {
            Some(directory) => self.directory.join(directory),
            None => self.directory.clone(),
        };
        self.no_directory(start, &directory)
            .or_else(|| self.no_program(start, &directory))
            .or_else(|| no_user(start))
            .or_else(|| self.no_cpu(start))
            .or_else(|| no_input(start, &directory))
            .or_else(|| no_output(start, &directory))
    }

    fn no_directory(&self, start: &PlannedStart, directory: &Path) -> Option<Refusal> {
        let named = start.working_directory.as_ref()?;
        let correct = "correct `working_directory`";
        let (what, remedy) = match look(directory) {
            Seen::Directory => return None,
            Seen::Other => ("is no directory".to_owned(), correct),
            Seen::Nothing => (
                NOT_THERE.to_owned(),
                "make it, or correct `working_directory`",
            ),
            Seen::Hidden(why) => (why, correct),
        };
        Some(wrong(
            format!("the working directory \"{}\" {what}", named.escape_debug()),
            remedy,
        ))
    }

    fn no_program(&self, start: &PlannedStart, directory: &Path) -> Option<Refusal> {
        let name = &start.program;
        if start.follows_steps && name.contains('/') {
            return None;
        }
        let set = start.path.as_ref().map(OsStr::new);
        let path = set.or(self.search_path.as_deref());
        let shown = name.escape_debug();
        let (kind, cause, remedy) = match find_program(OsStr::new(name), path, directory) {
            Lookup::Found(_) => return None,
            Lookup::Missing => (
                RefusalKind::Missing,
                format!("the program \"{shown}\" is not there"),
                "install it, or write its whole path",
            ),
            Lookup::NotExecutable(_) => (
                RefusalKind::NotExecutable,
                format!("the program \"{shown}\" cannot be executed"),
                "make it executable (chmod +x), or name its interpreter",
            ),
            Lookup::NoInterpreter { interpreter, .. } => (
                RefusalKind::Missing,
                format!(
                    "the interpreter \"{}\" of the script \"{shown}\" is not there",
                    interpreter.to_string_lossy().escape_debug()
                ),
                "install it, or correct the script's first line",
            ),
        };
        Some(Refusal {
            kind,
            cause,
            remedy: remedy.to_owned(),
        })
    }

    fn no_cpu(&self, start: &PlannedStart) -> Option<Refusal> {
        let (wanted, possible) = (start.cpus.as_ref()?, self.possible.as_ref()?);
        let mut wanted = wanted.cpus().iter();
        let missing = wanted.find(|cpu| !possible.cpus().contains(cpu))?;
        Some(wrong(
            format!("this machine has no CPU {missing}, only {possible}"),
            "correct `cpus`",
        ))
    }
}

fn no_user(start: &PlannedStart) -> Option<Refusal> {
    let named = Identity::Named(start.user.clone()?);
    let why = identity::resolve(&named, None).err()?;
    let remedy = if user::is_root() {
        "correct `user`"
    } else {
        "correct `user`, or run knobstat as root"
    };
    Some(wrong(why, remedy))
}

fn no_input(start: &PlannedStart, directory: &Path) -> Option<Refusal> {
    let named = start.input.as_ref()?;
    let (what, remedy) = match look(&directory.join(named)) {
        Seen::Directory => ("is a directory".to_owned(), "name a file in it"),
        Seen::Nothing if !start.follows_steps => (
            NOT_THERE.to_owned(),
            "correct `input`, or make the file in `prepare`",
        ),
        Seen::Hidden(why) => (why, "correct `input`"),
        Seen::Nothing | Seen::Other => return None,
    };
    Some(wrong(
        format!("the input \"{}\" {what}", named.escape_debug()),
        remedy,
    ))
}

fn no_output(start: &PlannedStart, directory: &Path) -> Option<Refusal> {
    let named = start.output.as_ref()?;
    let path = directory.join(named);
    let (what, remedy) = match (look(&path), path.parent().map(look)) {
        (Seen::Directory, _) => ("is a directory".to_owned(), "name a file in it"),
        (Seen::Hidden(why), _) => (why, "correct `output`"),
        (Seen::Nothing, Some(Seen::Nothing)) if !start.follows_steps => (
            "would be in a directory that is not there".to_owned(),
            "correct `output`, or make its directory in `prepare`",
        ),
        (Seen::Nothing | Seen::Other, _) => return None,
    };
    Some(wrong(
        format!("the output \"{}\" {what}", named.escape_debug()),
        remedy,
    ))
}

const NOT_THERE: &str = "is not there";

/// What is at a path.
enum Seen {
    Directory,
    Other,
    Nothing,
    /// It cannot be told: why, in words that follow its name.
    Hidden(String),
}

fn look(path: &Path) -> Seen {
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => Seen::Directory,
        Ok(_) => Seen::Other,
        Err(error) if error.kind() == ErrorKind::NotFound => Seen::Nothing,
        Err(error) => Seen::Hidden(format!("cannot be reached: {error}")),
    }
}

fn wrong(cause: String, remedy: &str) -> Refusal {
    Refusal {
        kind: RefusalKind::Request,
        cause,
        remedy: remedy.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(program: &str) -> PlannedStart {
        PlannedStart {
            program: program.to_owned(),
            working_directory: None,
            path: None,
            user: None,
            cpus: None,
            input: None,
            output: None,
            follows_steps: false,
        }
    }

    fn here(directory: &Path) -> Here {
        Here {
            directory: directory.to_owned(),
            search_path: Some("/usr/bin:/bin".into()),
            possible: Some("0-3".parse().unwrap()),
        }
    }

    #[test]
    fn what_is_there_is_in_nobodys_way() {
        let place = tempfile::tempdir().unwrap();
        fs::create_dir(place.path().join("within")).unwrap();
        fs::write(place.path().join("within/in"), "").unwrap();
        let whole = PlannedStart {
            working_directory: Some("within".to_owned()),
            cpus: Some("0,3".parse().unwrap()),
            input: Some("in".to_owned()),
            output: Some("../out".to_owned()),
            ..start("true")
        };
        assert_eq!(here(place.path()).hindrance(&whole), None);
        assert_eq!(here(place.path()).hindrance(&start("true")), None);
    }

    #[test]
    fn each_thing_that_is_not_there_is_named() {
        let place = tempfile::tempdir().unwrap();
        fs::write(place.path().join("file"), "").unwrap();
        let some = |text: &str| Some(text.to_owned());
        let plain = start("true");
        for (start, kind, cause) in [
            (
                start("no-such-program"),
                RefusalKind::Missing,
                "the program \"no-such-program\" is not there",
            ),
            (
                start("./file"),
                RefusalKind::NotExecutable,
                "the program \"./file\" cannot be executed",
            ),
            (
                PlannedStart {
                    working_directory: some("nowhere"),
                    ..start("./nothing")
                },
                RefusalKind::Request,
                "the working directory \"nowhere\" is not there",
            ),
            (
                PlannedStart {
                    working_directory: some("file"),
                    ..plain.clone()
                },
                RefusalKind::Request,
                "the working directory \"file\" is no directory",
            ),
            (
                PlannedStart {
                    working_directory: some("file/within"),
                    ..plain.clone()
                },
                RefusalKind::Request,
                "the working directory \"file/within\" cannot be reached",
            ),
            (
                PlannedStart {
                    cpus: Some("2-4".parse().unwrap()),
                    ..plain.clone()
                },
                RefusalKind::Request,
                "this machine has no CPU 4, only 0-3",
            ),
            (
                PlannedStart {
                    input: some("nowhere/in"),
                    ..plain.clone()
                },
                RefusalKind::Request,
                "the input \"nowhere/in\" is not there",
            ),
            (
                PlannedStart {
                    input: some("."),
                    ..plain.clone()
                },
                RefusalKind::Request,
                "the input \".\" is a directory",
            ),
            (
                PlannedStart {
                    output: some("nowhere/out"),
                    ..plain.clone()
                },
                RefusalKind::Request,
                "the output \"nowhere/out\" would be in a directory that is not there",
            ),
            (
                PlannedStart {
                    user: some("no-such-user-here"),
                    ..plain.clone()
                },
                RefusalKind::Request,
                "no-such-user-here",
            ),
        ] {
            let hindrance = here(place.path()).hindrance(&start).unwrap();
            assert_eq!(hindrance.kind, kind, "{start:?}");
            assert!(hindrance.cause.contains(cause), "{}", hindrance.cause);
        }
    }

    #[test]
    fn the_remedy_is_one_for_what_is_wrong() {
        let place = tempfile::tempdir().unwrap();
        fs::write(place.path().join("file"), "").unwrap();
        let remedy = |start: PlannedStart| here(place.path()).hindrance(&start).unwrap().remedy;
        let some = |text: &str| Some(text.to_owned());
        let is_a_directory = PlannedStart {
            output: some("."),
            ..start("true")
        };
        assert_eq!(remedy(is_a_directory), "name a file in it");
        let is_no_directory = PlannedStart {
            working_directory: some("file"),
            ..start("true")
        };
        assert_eq!(remedy(is_no_directory), "correct `working_directory`");
        let nobody = PlannedStart {
            user: some("no-such-user-here"),
            ..start("true")
        };
        assert_eq!(remedy(nobody).contains("as root"), !user::is_root());
    }

    #[test]
    fn what_a_step_may_make_is_left_to_the_run() {
        let place = tempfile::tempdir().unwrap();
        let made = PlannedStart {
            input: Some("in".to_owned()),
            output: Some("out/log".to_owned()),
            follows_steps: true,
            ..start("./made")
        };
        assert_eq!(here(place.path()).hindrance(&made), None);
        // What is looked up in the search path is installed, and where a step starts has to be.
        let installed = PlannedStart {
            program: "no-such-program".to_owned(),
            ..made.clone()
        };
        assert!(here(place.path()).hindrance(&installed).is_some());
        let nowhere = PlannedStart {
            working_directory: Some("nowhere".to_owned()),
            ..made
        };
        assert!(here(place.path()).hindrance(&nowhere).is_some());
    }
}
