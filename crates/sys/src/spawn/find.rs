//! Finding a program as execvp(3) does, but beforehand, so that nothing is touched for one that
//! is missing.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Read;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags, CWD, accessat};

/// The kernel reads no more of a script's first line than this.
const LONGEST_FIRST_LINE: u64 = 256;

/// The search path where none is given, as execvp(3) has it.
const DEFAULT_PATH: &str = "/bin:/usr/bin";

/// What came of looking for a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// The file that will be executed.
    Found(PathBuf),
    /// There is no such file.
    Missing,
    /// There is this one, but it is a directory, or this process may not execute it.
    NotExecutable(PathBuf),
    /// There is this script, but not the interpreter that its first line names.
    NoInterpreter {
        /// The script.
        script: PathBuf,
        /// Its interpreter, as the line has it.
        interpreter: PathBuf,
    },
}

/// Looks for a program by name in a search path, or by path from a directory, which is absolute
/// so that what is found is. An empty entry of the search path is the directory itself.
pub fn find_program(name: &OsStr, search_path: Option<&OsStr>, directory: &Path) -> Lookup {
    if name.is_empty() {
        return Lookup::Missing;
    }
    if name.as_bytes().contains(&b'/') {
        return look_at(directory.join(name), directory);
    }
    let search_path = search_path.unwrap_or(OsStr::new(DEFAULT_PATH));
    let mut found = Lookup::Missing;
    for entry in search_path.as_bytes().split(|byte| *byte == b':') {
        let entry = PathBuf::from(OsString::from_vec(entry.to_vec()));
        match look_at(directory.join(entry).join(name), directory) {
            Lookup::Found(path) => return Lookup::Found(path),
            // The first is remembered; a later one that can be executed is better.
            seen if found == Lookup::Missing => found = seen,
            _ => {}
        }
    }
    found
}

fn look_at(path: PathBuf, directory: &Path) -> Lookup {
    let Ok(file) = fs::metadata(&path) else {
        return Lookup::Missing;
    };
    // Asked of the kernel: whose rights count, what an access list says, how it is mounted.
    if !file.is_file() || accessat(CWD, &path, Access::EXEC_OK, AtFlags::EACCESS).is_err() {
        return Lookup::NotExecutable(path);
    }
    match interpreter(&path) {
        Some(interpreter) if !directory.join(&interpreter).exists() => Lookup::NoInterpreter {
            script: path,
            interpreter,
        },
        _ => Lookup::Found(path),
    }
}

/// The interpreter of a script, execve(2): what stands behind `#!` up to the next blank. None where
/// it is no script or may not be read, which the start will tell.
fn interpreter(path: &Path) -> Option<PathBuf> {
    let mut beginning = Vec::new();
    let file = fs::File::open(path).ok()?;
    file.take(LONGEST_FIRST_LINE)
        .read_to_end(&mut beginning)
        .ok()?;
    let line = beginning.strip_prefix(b"#!")?;
    let line = line.split(|byte| *byte == b'\n').next()?;
    let name = line
        .split(|byte| matches!(byte, b' ' | b'\t'))
        .find(|word| !word.is_empty())?;
    Some(PathBuf::from(OsStr::from_bytes(name)))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn programs_are_found_missed_or_not_executable() {
        let directory = tempfile::tempdir().unwrap();
        let place = |name: &str, mode: u32| {
            let path = directory.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            path
        };
        let plain = place("first/tool", 0o644);
        let tool = place("second/tool", 0o755);
        let find = |name: &str, path: Option<&str>| {
            find_program(OsStr::new(name), path.map(OsStr::new), directory.path())
        };
        assert_eq!(
            find("tool", Some("first:second")),
            Lookup::Found(tool.clone())
        );
        assert_eq!(
            find("tool", Some("first:none")),
            Lookup::NotExecutable(plain)
        );
        assert_eq!(find("tool", Some("none")), Lookup::Missing);
        assert_eq!(find("second/tool", None), Lookup::Found(tool));
        assert_eq!(
            find("./second", None),
            Lookup::NotExecutable(directory.path().join("./second"))
        );
        assert_eq!(find("", Some("first")), Lookup::Missing);
        assert!(matches!(find("sh", None), Lookup::Found(_)));
    }

    #[test]
    fn the_interpreter_of_a_script_is_looked_for() {
        let directory = tempfile::tempdir().unwrap();
        let find = |first_line: &str| {
            let path = directory.path().join("script");
            fs::write(&path, first_line).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
            find_program(OsStr::new("./script"), None, directory.path())
        };
        let script = directory.path().join("./script");
        for there in [
            "#!/bin/sh",
            "#! /bin/sh -e\n",
            "#!script\n",
            "#!",
            "#! \n",
            "",
        ] {
            assert_eq!(find(there), Lookup::Found(script.clone()), "{there:?}");
        }
        for line in [
            "#!/no/such/interpreter",
            "#!\t/no/such/interpreter -x\necho\n",
        ] {
            let missing = Lookup::NoInterpreter {
                script: script.clone(),
                interpreter: PathBuf::from("/no/such/interpreter"),
            };
            assert_eq!(find(line), missing, "{line:?}");
        }
        // A line end of another system's belongs to the name, for the kernel too.
        assert!(matches!(
            find("#!/bin/sh\r\n"),
            Lookup::NoInterpreter { .. }
        ));
    }
}
