//! Finding a program as execvp(3) does, but beforehand, so that nothing is touched for one that
//! is missing.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The search path where none is given, as execvp(3) has it.
const DEFAULT_PATH: &str = "/bin:/usr/bin";

/// What came of looking for a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// The file that will be executed.
    Found(PathBuf),
    /// There is no such file.
    Missing,
    /// There is this one, but it is a directory or nobody may execute it.
    NotExecutable(PathBuf),
}

/// Looks for a program by name in a search path, or by path from a directory, which is absolute
/// so that what is found is. An empty entry of the search path is the directory itself.
pub fn find_program(name: &OsStr, search_path: Option<&OsStr>, directory: &Path) -> Lookup {
    if name.is_empty() {
        return Lookup::Missing;
    }
    if name.as_bytes().contains(&b'/') {
        return look_at(directory.join(name));
    }
    let search_path = search_path.unwrap_or(OsStr::new(DEFAULT_PATH));
    let mut found = Lookup::Missing;
    for entry in search_path.as_bytes().split(|byte| *byte == b':') {
        let entry = PathBuf::from(OsString::from_vec(entry.to_vec()));
        match look_at(directory.join(entry).join(name)) {
            Lookup::Found(path) => return Lookup::Found(path),
            // The first is remembered; a later one that can be executed is better.
            seen @ Lookup::NotExecutable(_) if found == Lookup::Missing => found = seen,
            _ => {}
        }
    }
    found
}

fn look_at(path: PathBuf) -> Lookup {
    match fs::metadata(&path) {
        Ok(file) if file.is_file() && file.permissions().mode() & 0o111 != 0 => Lookup::Found(path),
        Ok(_) => Lookup::NotExecutable(path),
        Err(_) => Lookup::Missing,
    }
}

#[cfg(test)]
mod tests {
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
}
