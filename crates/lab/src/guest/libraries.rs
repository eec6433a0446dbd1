//! The libraries that an executable needs: its own dynamic linker lists them, as it would map
//! them when the executable is started here.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::elf;
use super::pack::PackError;

/// The files that an executable needs besides itself, its dynamic linker among them; none where
/// it is linked already.
///
/// # Errors
/// When the linker cannot be asked, or does not find a library.
pub fn of(path: &Path, bytes: &[u8]) -> Result<Vec<PathBuf>, PackError> {
    let Some(linker) = elf::interpreter(bytes) else {
        return Ok(Vec::new());
    };
    let failed = |reason: String| PackError::Libraries {
        path: path.to_owned(),
        reason,
    };
    let listed = Command::new(linker)
        .arg("--list")
        .arg(path)
        .output()
        .map_err(|error| failed(format!("{linker} cannot be asked ({error})")))?;
    if !listed.status.success() {
        let said = String::from_utf8_lossy(&listed.stderr);
        let line = said.lines().next().unwrap_or("it does not say why");
        return Err(failed(format!("{linker} cannot list them ({line})")));
    }
    let mut files = parse(&String::from_utf8_lossy(&listed.stdout)).map_err(failed)?;
    let linker = PathBuf::from(linker);
    if !files.contains(&linker) {
        files.push(linker);
    }
    Ok(files)
}

/// The paths of a list as glibc's and musl's linkers print it: `NAME => PATH (ADDRESS)`, or
/// `PATH (ADDRESS)`. What the kernel itself provides has no path.
fn parse(list: &str) -> Result<Vec<PathBuf>, String> {
    let mut files = Vec::new();
    for line in list.lines() {
        let line = line.trim();
        let (name, place) = line.split_once(" => ").unwrap_or((line, line));
        if place == "not found" {
            return Err(format!("{name} is not there"));
        }
        let path = place.split(" (0x").next().unwrap_or(place);
        if path.starts_with('/') {
            files.push(PathBuf::from(path));
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_taken_and_what_the_kernel_provides_is_not() {
        let list = "\tlinux-vdso.so.1 (0x00007ffd0a9f2000)\n\
                    \tlibgcc_s.so.1 => /lib/x86_64-linux-gnu/libgcc_s.so.1 (0x00007f1)\n\
                    \tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f0)\n\
                    \t/lib64/ld-linux-x86-64.so.2 (0x00007f2)\n";
        let paths = parse(list).unwrap();
        assert_eq!(
            paths,
            [
                "/lib/x86_64-linux-gnu/libgcc_s.so.1",
                "/lib/x86_64-linux-gnu/libc.so.6",
                "/lib64/ld-linux-x86-64.so.2"
            ]
            .map(PathBuf::from)
        );
        assert!(parse("\tlibmissing.so => not found\n").is_err());
        assert_eq!(
            parse("\tstatically linked\n").unwrap(),
            Vec::<PathBuf>::new()
        );
    }

    #[test]
    fn this_test_needs_a_library_and_a_linker_unless_it_is_static() {
        let path = std::env::current_exe().unwrap();
        let bytes = std::fs::read(&path).unwrap();
        let files = of(&path, &bytes).unwrap();
        assert_eq!(files.is_empty(), elf::interpreter(&bytes).is_none());
        assert!(files.iter().all(|file| file.exists()), "{files:?}");
    }
}
