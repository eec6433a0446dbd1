//! Facts of the kernel that runs: readable, and changed only by booting another way.

use std::io;

use knobstat_data::Level;
use knobstat_sys::machine::unpack;

use crate::availability::Unavailable;
use crate::catalogue::{Entry, Fact};
use crate::files::Files;

/// The level of a word that is not on the command line.
pub const ABSENT: &str = "absent";
/// The level of a word that is on the command line without a value.
pub const PRESENT: &str = "present";

/// The level that the running kernel has.
///
/// # Errors
/// When the kernel does not tell.
pub fn read(files: &dyn Files, fact: &Fact) -> Result<Level, Unavailable> {
    match fact {
        Fact::Release => release(files).map(Level::text),
        Fact::Hz => {
            let config = config(files);
            let told = config.iter().find_map(|config| value(config, "CONFIG_HZ"));
            let measured = || files.measured_hz().map(|hz| hz.to_string());
            told.map(str::to_owned)
                .or_else(measured)
                .map(Level::text)
                .ok_or_else(|| untold("its CONFIG_HZ"))
        }
        Fact::File { path, .. } => {
            let bytes = files.read(path).map_err(|error| unread(path, &error))?;
            let value = String::from_utf8_lossy(&bytes).trim().to_owned();
            Ok(Level::text(match value.as_str() {
                "" | "(null)" => NOTHING.to_owned(),
                _ => value,
            }))
        }
        Fact::StopsIdleTick => stops_idle_tick(files).map(on_or_off),
        Fact::KeepsIdleTick => stops_idle_tick(files).map(|stops| on_or_off(!stops)),
        Fact::CommandLine(name) => {
            let line = command_line(files)?;
            Ok(Level::text(
                match parameter(&line, name) {
                    None => ABSENT,
                    Some(None) => PRESENT,
                    Some(Some(value)) => value,
                }
                .to_owned(),
            ))
        }
    }
}

/// The level of a file that says nothing, as of a list without a CPU.
pub const NOTHING: &str = "none";

/// The level that stands for whatever kernel runs now, in experiments that compare it with others.
pub const BASE: &str = "base";

/// Whether a level is the present one, by its own name or by one that stands for it.
pub fn is_present(fact: &Fact, present: &Level, level: &Level) -> bool {
    present == level || (*fact == Fact::Release && *level == Level::text(BASE))
}

/// Why another level than the present one cannot be had now, and what would bring it.
pub fn needs_boot(entry: &Entry, fact: &Fact, present: &Level, level: &str) -> Unavailable {
    let mut unavailable = by_hand(entry, fact, present, level);
    let is_decided_by_a_word = !matches!(
        fact,
        Fact::File {
            parameter: None,
            ..
        }
    );
    if is_decided_by_a_word && let Some(remedy) = &mut unavailable.remedy {
        remedy.push_str(", or have it done by `knobstat run --reboot`");
    }
    unavailable
}

fn by_hand(entry: &Entry, fact: &Fact, present: &Level, level: &str) -> Unavailable {
    match fact {
        Fact::File { path, parameter } => {
            let by_parameter = parameter.as_ref().map(|parameter| match level {
                NOTHING => format!("boot without {parameter} on the kernel's command line"),
                level => format!("boot with {parameter}={level} on the kernel's command line"),
            });
            Unavailable {
                reason: format!(
                    "{} was decided at boot ({path} is {present}): {level} needs another boot",
                    entry.name
                ),
                remedy: entry.remedies.get(level).cloned().or(by_parameter),
            }
        }
        Fact::Release => Unavailable::new(
            format!("kernel {present} runs, not {level}: another kernel needs another boot"),
            format!("boot {level} and start the experiment again"),
        ),
        Fact::Hz => Unavailable::new(
            format!(
                "the kernel that runs was built with CONFIG_HZ={present}: {level} needs another kernel"
            ),
            format!("boot a kernel built with CONFIG_HZ={level}"),
        ),
        Fact::StopsIdleTick => Unavailable::new(
            format!(
                "the idle tick was decided at boot (nohz is {present}): {level} needs another boot"
            ),
            format!("boot with nohz={level} on the kernel's command line"),
        ),
        Fact::KeepsIdleTick => Unavailable::new(
            format!(
                "the idle tick was decided at boot (idletick is {present}): {level} needs another boot"
            ),
            match level {
                "on" => "boot with nohz=off on the kernel's command line".to_owned(),
                _ => "boot with nohz=on on the kernel's command line".to_owned(),
            },
        ),
        Fact::CommandLine(name) => Unavailable::new(
            format!("{name} is {present} on the kernel's command line: another needs another boot"),
            match level {
                ABSENT => format!("boot without {name} on the kernel's command line"),
                PRESENT => format!("boot with {name} on the kernel's command line"),
                value => format!("boot with {name}={value} on the kernel's command line"),
            },
        ),
    }
}

/// Whether the tick stops on idle CPUs: the configuration decides whether it can, and `nohz=` on
/// the command line whether it does (kernel-parameters.txt).
fn stops_idle_tick(files: &dyn Files) -> Result<bool, Unavailable> {
    let line = command_line(files)?;
    let asked = match parameter(&line, "nohz").flatten() {
        Some("off" | "0" | "n" | "N") => Some(false),
        Some("on" | "1" | "y" | "Y") => Some(true),
        _ => None,
    };
    match config(files) {
        Ok(config) => {
            let can = ["CONFIG_NO_HZ_COMMON", "CONFIG_NO_HZ"]
                .iter()
                .any(|name| value(&config, name) == Some("y"));
            Ok(can && asked.unwrap_or(true))
        }
        // A kernel that cannot stop the tick does not stop it because it is asked not to.
        Err(_) if asked == Some(false) => Ok(false),
        Err(untold) => Err(untold),
    }
}

fn on_or_off(on: bool) -> Level {
    Level::text(if on { "on" } else { "off" })
}

fn release(files: &dyn Files) -> Result<String, Unavailable> {
    text(files, "/proc/sys/kernel/osrelease").ok_or_else(|| untold("its release"))
}

fn command_line(files: &dyn Files) -> Result<String, Unavailable> {
    text(files, "/proc/cmdline").ok_or_else(|| untold("its command line"))
}

fn text(files: &dyn Files, path: &str) -> Option<String> {
    let bytes = files.read(path).ok()?;
    Some(String::from_utf8_lossy(&bytes).trim().to_owned())
}

/// The configuration that the kernel was built with: from itself, or from beside its image.
fn config(files: &dyn Files) -> Result<String, Unavailable> {
    let packed = files.read("/proc/config.gz").ok();
    let config = packed.and_then(|bytes| unpack(&bytes)).or_else(|| {
        let release = release(files).ok()?;
        [
            format!("/boot/config-{release}"),
            format!("/lib/modules/{release}/config"),
        ]
        .iter()
        .find_map(|path| files.read(path).ok())
    });
    match config {
        Some(config) => Ok(String::from_utf8_lossy(&config).into_owned()),
        None => Err(untold("its configuration")),
    }
}

fn unread(path: &str, error: &io::Error) -> Unavailable {
    match error.kind() {
        io::ErrorKind::NotFound => {
            Unavailable::without_remedy(format!("this kernel has no {path}"))
        }
        io::ErrorKind::PermissionDenied => {
            Unavailable::new(format!("only root may read {path}"), "use sudo")
        }
        _ => Unavailable::without_remedy(format!("{path} cannot be read: {error}")),
    }
}

fn untold(what: &str) -> Unavailable {
    Unavailable::new(
        format!("the kernel does not tell {what}"),
        "use a kernel with CONFIG_IKCONFIG_PROC, or one whose /boot/config-RELEASE is installed",
    )
}

/// The value of an option that is set.
fn value<'a>(config: &'a str, name: &str) -> Option<&'a str> {
    config
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix('='))
}

/// A word of a command line: none where it is absent, and no value where it has none. The last
/// one counts; `-` and `_` are the same, and quotes may hold spaces, as the kernel reads it.
fn parameter<'a>(line: &'a str, name: &str) -> Option<Option<&'a str>> {
    let same = |word: &str| word.replace('-', "_") == name.replace('-', "_");
    words(line)
        .into_iter()
        .rev()
        .find_map(|word| match word.split_once('=') {
            Some((key, value)) => same(key).then(|| Some(value.trim_matches('"'))),
            None => same(word).then_some(None),
        })
}

/// The words of a command line; quotes may hold spaces.
pub fn words(line: &str) -> Vec<&str> {
    let mut quoted = false;
    line.split(|character: char| {
        if character == '"' {
            quoted = !quoted;
        }
        character.is_whitespace() && !quoted
    })
    .filter(|word| !word.is_empty())
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::FakeMachine;

    const CONFIG: &str = "CONFIG_HZ_250=y\nCONFIG_HZ=250\nCONFIG_NO_HZ_COMMON=y\n";

    fn kernel(command_line: &str) -> FakeMachine {
        FakeMachine::new(&[
            ("/proc/sys/kernel/osrelease", "6.1.0-40-amd64\n"),
            ("/proc/cmdline", command_line),
            ("/boot/config-6.1.0-40-amd64", CONFIG),
        ])
    }

    fn read_text(machine: &FakeMachine, fact: Fact) -> String {
        read(machine, &fact).unwrap().to_string()
    }

    #[test]
    fn the_configuration_beside_the_image_is_read() {
        let machine = kernel("root=/dev/vda quiet\n");
        assert_eq!(read_text(&machine, Fact::Hz), "250");
        assert_eq!(read_text(&machine, Fact::Release), "6.1.0-40-amd64");
        assert_eq!(read_text(&machine, Fact::StopsIdleTick), "on");
        assert_eq!(read_text(&machine, Fact::KeepsIdleTick), "off");
    }

    #[test]
    fn the_command_line_turns_the_idle_tick() {
        let machine = kernel("nohz=on nohz=off highres=off\n");
        assert_eq!(read_text(&machine, Fact::StopsIdleTick), "off");
        let word = |name: &str| read_text(&machine, Fact::CommandLine(name.to_owned()));
        assert_eq!(word("highres"), "off");
        assert_eq!(word("quiet"), ABSENT);
        assert_eq!(parameter("a-b=\"x y\" c", "a_b"), Some(Some("x y")));
        assert_eq!(parameter("a=\"x c\"", "c"), None);
        assert_eq!(parameter("a c", "c"), Some(None));
    }

    #[test]
    fn a_kernel_that_does_not_tell_is_not_guessed_at() {
        let machine = FakeMachine::new(&[("/proc/cmdline", "quiet\n")]);
        assert!(read(&machine, &Fact::Hz).is_err());
        assert!(read(&machine, &Fact::StopsIdleTick).is_err());
        machine.set("/proc/cmdline", "nohz=off\n");
        assert_eq!(read_text(&machine, Fact::StopsIdleTick), "off");
    }
}
