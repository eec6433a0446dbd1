//! Packing files of the host for a guest: at the same path, symbolic links on the way included,
//! with the libraries or the interpreter that they need to run.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};

use thiserror::Error;

use super::archive::Archive;
use super::{elf, libraries};

/// As many links on the way to a file as the kernel itself follows.
const MOST_LINKS: u32 = 40;

/// Why a file cannot be packed.
#[derive(Debug, Error)]
pub enum PackError {
    /// It cannot be read.
    #[error("{} cannot be packed for the guest ({error}); check the path and its permissions", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// Its libraries are not known or not there.
    #[error("the libraries that {} needs cannot be packed for the guest: {reason}; name a program that runs here", .path.display())]
    Libraries {
        /// The program.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// It is neither an executable of this form nor a script.
    #[error("{} cannot run in the guest: it is neither a 64-bit ELF executable nor a script that names its interpreter; name one that is", .0.display())]
    NotAProgram(PathBuf),
    /// Its path is not UTF-8, or leads round in circles.
    #[error("{} cannot be packed for the guest: {reason}; give it a plain path", .path.display())]
    Path {
        /// The path.
        path: PathBuf,
        /// What is wrong with it.
        reason: &'static str,
    },
}

/// Packs a file, or everything in a directory. An executable brings its libraries, a script its
/// interpreter.
///
/// # Errors
/// When something cannot be read, or a library is missing.
pub fn file(archive: &mut Archive, path: &Path) -> Result<(), PackError> {
    let place = place(archive, path)?;
    let unreadable = |error| PackError::Unreadable {
        path: path.to_owned(),
        error,
    };
    let metadata = fs::metadata(path).map_err(unreadable)?;
    if metadata.is_dir() {
        archive.directory(text(&place)?);
        let entries = fs::read_dir(path).map_err(unreadable)?;
        let mut inside: Vec<PathBuf> = Vec::new();
        for entry in entries {
            inside.push(entry.map_err(unreadable)?.path());
        }
        inside.sort();
        return inside.iter().try_for_each(|path| file(archive, path));
    }
    if archive.has(text(&place)?) {
        return Ok(());
    }
    let bytes = fs::read(path).map_err(unreadable)?;
    let permissions = metadata.permissions().mode() & 0o7777;
    if permissions & 0o111 == 0 || elf::interpreter(&bytes).is_none() {
        archive.file(text(&place)?, permissions, &bytes);
        return match script_interpreter(&bytes) {
            Some(interpreter) if permissions & 0o111 != 0 => file(archive, &interpreter),
            _ => Ok(()),
        };
    }
    let needed = libraries::of(path, &bytes)?;
    archive.file(text(&place)?, permissions, &elf::loaded_part(bytes));
    needed.iter().try_for_each(|path| file(archive, path))
}

/// Packs a program that is going to be started in the guest.
///
/// # Errors
/// As [`file`]; and when it is nothing that can be started.
pub fn program(archive: &mut Archive, path: &Path) -> Result<(), PackError> {
    let bytes = fs::read(path).map_err(|error| PackError::Unreadable {
        path: path.to_owned(),
        error,
    })?;
    if elf::is_executable(&bytes) || script_interpreter(&bytes).is_some() {
        file(archive, path)
    } else {
        Err(PackError::NotAProgram(path.to_owned()))
    }
}

/// The interpreter in the first line of a script, where it is an absolute path.
fn script_interpreter(bytes: &[u8]) -> Option<PathBuf> {
    let line = bytes
        .strip_prefix(b"#!")?
        .split(|byte| *byte == b'\n')
        .next()?;
    let line = std::str::from_utf8(line).ok()?;
    let path = PathBuf::from(line.split_whitespace().next()?);
    path.is_absolute().then_some(path)
}

/// The path without symbolic links, after every link on the way was packed.
fn place(archive: &mut Archive, path: &Path) -> Result<PathBuf, PackError> {
    let mut rest: Vec<PathBuf> = parts(path);
    let mut place = PathBuf::from("/");
    let mut links = 0;
    while let Some(part) = rest.pop() {
        if part.as_os_str() == ".." {
            place.pop();
            continue;
        }
        let next = place.join(&part);
        match fs::read_link(&next) {
            Ok(target) => {
                links += 1;
                if links > MOST_LINKS {
                    return Err(PackError::Path {
                        path: path.to_owned(),
                        reason: "its symbolic links lead round in circles",
                    });
                }
                archive.link(text(&next)?, text(&target)?);
                if target.is_absolute() {
                    place = PathBuf::from("/");
                }
                rest.extend(parts(&target));
            }
            Err(_) => place = next,
        }
    }
    Ok(place)
}

/// The names in a path, the last one first.
fn parts(path: &Path) -> Vec<PathBuf> {
    path.components()
        .rev()
        .filter(|part| matches!(part, Component::Normal(_) | Component::ParentDir))
        .map(|part| PathBuf::from(part.as_os_str()))
        .collect()
}

fn text(path: &Path) -> Result<&str, PackError> {
    path.to_str().ok_or_else(|| PackError::Path {
        path: path.to_owned(),
        reason: "it is not UTF-8",
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_on_the_way_are_packed_as_links() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("usr/lib")).unwrap();
        fs::write(root.join("usr/lib/libx.so.1.2"), "x").unwrap();
        symlink("usr/lib", root.join("lib")).unwrap();
        symlink("libx.so.1.2", root.join("usr/lib/libx.so.1")).unwrap();
        let mut archive = Archive::new();
        file(&mut archive, &root.join("lib/libx.so.1")).unwrap();
        for path in ["lib", "usr/lib/libx.so.1", "usr/lib/libx.so.1.2"] {
            assert!(archive.has(root.join(path).to_str().unwrap()), "{path}");
        }
    }

    #[test]
    fn links_in_a_circle_and_files_that_are_not_there_are_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("round");
        symlink("round", &path).unwrap();
        let mut archive = Archive::new();
        assert!(matches!(
            file(&mut archive, &path),
            Err(PackError::Path { .. })
        ));
        let nowhere = directory.path().join("nowhere");
        assert!(matches!(
            file(&mut archive, &nowhere),
            Err(PackError::Unreadable { .. })
        ));
    }

    #[test]
    fn a_program_brings_what_it_needs_and_a_text_is_no_program() {
        let directory = tempfile::tempdir().unwrap();
        let script = directory.path().join("script");
        fs::write(&script, "#!/bin/sh -e\nexit 0\n").unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
        let mut archive = Archive::new();
        program(&mut archive, &script).unwrap();
        let shell = Path::new("/bin/sh").canonicalize().unwrap();
        assert!(archive.has(shell.to_str().unwrap()));

        let text = directory.path().join("text");
        fs::write(&text, "exit 0\n").unwrap();
        assert!(matches!(
            program(&mut Archive::new(), &text),
            Err(PackError::NotAProgram(_))
        ));
    }
}
