//! ministat of 2015 against Debian's program: the same arguments and files, the same bytes.
//!
//! Where the program crashes, a failure of one line is expected instead.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::generator::{Generator, invocation};
use crate::memory::{Files, Output, describe, run};

const SEED: u64 = 20_150_715;

/// How many invocations; a hundred times more with `KNOBSTAT_LONG`.
const INVOCATIONS: u64 = 500;

/// Runs Debian's program in `directory`; `None` when a signal ended it.
fn run_debian(
    directory: &Path,
    arguments: &[OsString],
    files: &Files,
) -> io::Result<Option<Output>> {
    for (name, content) in files {
        let name = if name.is_empty() {
            "standard input".as_ref()
        } else {
            name.as_os_str()
        };
        fs::write(directory.join(name), content)?;
    }
    let standard_input = match File::open(directory.join("standard input")) {
        Ok(file) if files.contains_key(&OsString::new()) => Stdio::from(file),
        _ => Stdio::null(),
    };
    let output = Command::new("ministat")
        .args(arguments)
        .current_dir(directory)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .stdin(standard_input)
        .output()?;
    Ok(output.status.code().map(|exit_code| Output {
        standard_output: output.stdout,
        standard_error: output.stderr,
        exit_code,
    }))
}

/// Whether Debian's program is here. Anything else by its name would answer `--help` differently.
fn is_installed() -> bool {
    Command::new("ministat")
        .arg("--help")
        .output()
        .is_ok_and(|output| {
            let usage = String::from_utf8_lossy(&output.stderr).into_owned();
            usage.contains("[-Ans]") && output.status.code() == Some(2)
        })
}

#[test]
fn the_profile_of_2015_is_debians_program() -> io::Result<()> {
    if !is_installed() {
        let reason = "Debian's program `ministat` (package ministat) is not on the PATH";
        assert!(
            std::env::var_os("KNOBSTAT_REQUIRE").is_none(),
            "required, but {reason}"
        );
        println!("skipped: {reason}");
        return Ok(());
    }
    let factor = if std::env::var_os("KNOBSTAT_LONG").is_some() {
        100
    } else {
        1
    };
    println!("seed {SEED}");
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("ministat-debian");
    fs::create_dir_all(&directory)?;
    let mut reports = 0;
    for index in 0..INVOCATIONS * factor {
        let mut random = Generator::new(SEED ^ index);
        let (arguments, files) = invocation(&mut random, index % 3 == 0);
        let theirs = run_debian(&directory, &arguments, &files)?;
        let with_profile: Vec<OsString> = [OsString::from("--compat=2015")]
            .into_iter()
            .chain(arguments.iter().cloned())
            .collect();
        let ours = run(&with_profile, &files);
        let context = || format!("invocation {index}: {}", describe(&arguments, &files));
        match theirs {
            Some(theirs) => {
                reports += u64::from(theirs.exit_code == 0);
                assert_eq!(
                    String::from_utf8_lossy(&ours.standard_output),
                    String::from_utf8_lossy(&theirs.standard_output),
                    "{}",
                    context()
                );
                assert_eq!(
                    String::from_utf8_lossy(&ours.standard_error),
                    String::from_utf8_lossy(&theirs.standard_error),
                    "{}",
                    context()
                );
                assert_eq!(ours, theirs, "{}", context());
            }
            None => {
                let lines = ours
                    .standard_error
                    .iter()
                    .filter(|&&byte| byte == b'\n')
                    .count();
                assert_eq!((ours.exit_code, lines), (2, 1), "{}", context());
            }
        }
    }
    fs::remove_dir_all(&directory)?;
    println!("{} invocations, {reports} reports", INVOCATIONS * factor);
    assert!(
        reports > INVOCATIONS * factor / 2,
        "most invocations give reports"
    );
    Ok(())
}
