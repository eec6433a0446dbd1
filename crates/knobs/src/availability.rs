//! Why a setting cannot be had: each cause told apart, in one sentence, with what would help.

use std::io;

use knobstat_data::messages::Availability;
use knobstat_sys::session;
use serde::Deserialize;

use crate::files::Files;
use crate::pattern::summarise;

/// Why a knob or a level cannot be had, and what would make it possible.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unavailable {
    /// Why, in one sentence without a full stop.
    pub reason: String,
    /// What would make it available, in one sentence without a full stop.
    #[serde(default)]
    pub remedy: Option<String>,
}

impl Unavailable {
    /// A reason with a remedy.
    pub fn new(reason: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            remedy: Some(remedy.into()),
        }
    }

    /// A reason that nothing is known to help against.
    pub fn without_remedy(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            remedy: None,
        }
    }
}

impl From<Unavailable> for Availability {
    fn from(unavailable: Unavailable) -> Self {
        Self::Unavailable {
            reason: unavailable.reason,
            remedy: unavailable.remedy,
        }
    }
}

/// The error numbers of errno(3) that the kernel's settings answer with; equal on every Linux
/// that knobstat runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refusal {
    NotPermitted,
    NoEntry,
    InputOutput,
    Again,
    Access,
    Busy,
    NoDevice,
    Invalid,
    ReadOnly,
    NotSupported,
    Other,
}

impl Refusal {
    fn of(error: &io::Error) -> Self {
        match error.raw_os_error() {
            Some(1) => Self::NotPermitted,
            Some(2) => Self::NoEntry,
            Some(5) => Self::InputOutput,
            Some(11) => Self::Again,
            Some(13) => Self::Access,
            Some(16) => Self::Busy,
            Some(19) => Self::NoDevice,
            Some(22) => Self::Invalid,
            Some(30) => Self::ReadOnly,
            Some(95) => Self::NotSupported,
            _ => Self::Other,
        }
    }
}

/// The name of an error number, as the catalogue's `refused` tables use it.
pub fn errno_name(error: &io::Error) -> Option<&'static str> {
    Some(match Refusal::of(error) {
        Refusal::NotPermitted => "EPERM",
        Refusal::NoEntry => "ENOENT",
        Refusal::InputOutput => "EIO",
        Refusal::Again => "EAGAIN",
        Refusal::Access => "EACCES",
        Refusal::Busy => "EBUSY",
        Refusal::NoDevice => "ENODEV",
        Refusal::Invalid => "EINVAL",
        Refusal::ReadOnly => "EROFS",
        Refusal::NotSupported => "EOPNOTSUPP",
        Refusal::Other => return None,
    })
}

/// What it means that the kernel refused to let these files be written, whatever knob they are.
pub fn explain(files: &dyn Files, paths: &[&str], error: &io::Error) -> Unavailable {
    explain_as(files, paths, error, session::is_root())
}

fn explain_as(files: &dyn Files, paths: &[&str], error: &io::Error, root: bool) -> Unavailable {
    let what = summarise(paths.iter().copied());
    match Refusal::of(error) {
        Refusal::NoEntry => Unavailable::without_remedy(format!("{what} does not exist here")),
        Refusal::ReadOnly => Unavailable::new(
            format!("{what} lies on a file system that is mounted read-only, as in a container"),
            "run knobstat on the host, or in a container whose /sys and /proc/sys are writable",
        ),
        Refusal::NotPermitted | Refusal::Access if !root => Unavailable::new(
            format!("only root may write {what}"),
            "run knobstat with sudo: the workload still runs as you",
        ),
        Refusal::NotPermitted => match lockdown(files) {
            Some(mode) => Unavailable::new(
                format!("the kernel is locked down ({mode}) and refuses to let {what} be written"),
                "boot without lockdown, which Secure Boot turns on",
            ),
            None => Unavailable::new(
                format!("the kernel or the firmware refuses to let {what} be written (EPERM)"),
                "look in the firmware's setup for the feature, or give the container the privilege",
            ),
        },
        Refusal::Access => {
            Unavailable::without_remedy(format!("{what} is for reading only in this kernel"))
        }
        Refusal::Busy => Unavailable::new(
            format!("{what} is held by another setting or driver (EBUSY)"),
            "turn the setting that holds it first, or leave this one as it is",
        ),
        Refusal::Invalid => Unavailable::without_remedy(format!(
            "the kernel does not take this value for {what} (EINVAL)"
        )),
        Refusal::Again => Unavailable::new(
            format!("the driver behind {what} is not active (EAGAIN)"),
            "boot with that driver enabled",
        ),
        Refusal::NoDevice | Refusal::NotSupported => Unavailable::without_remedy(format!(
            "the hardware or its driver does not support {what}"
        )),
        Refusal::InputOutput => Unavailable::without_remedy(format!(
            "the kernel manages {what} itself and refuses changes (EIO)"
        )),
        Refusal::Other => Unavailable::without_remedy(format!("{what} cannot be written: {error}")),
    }
}

/// The lockdown mode in force, where there is one.
fn lockdown(files: &dyn Files) -> Option<String> {
    let bytes = files.read("/sys/kernel/security/lockdown").ok()?;
    let mode = crate::value::Form::Bracketed.value(&bytes);
    (mode != "none").then_some(mode)
}

/// Asks of every file whether it could be written. Files that share a cause share one message:
/// the first cause is told.
///
/// # Errors
/// The cause, when one could not.
pub fn probe(files: &dyn Files, paths: &[&str]) -> Result<(), Unavailable> {
    let mut refused: Option<(io::Error, Vec<&str>)> = None;
    for path in paths {
        let Err(error) = files.writable(path) else {
            continue;
        };
        match &mut refused {
            None => refused = Some((error, vec![path])),
            Some((first, alike)) if first.raw_os_error() == error.raw_os_error() => {
                alike.push(path);
            }
            Some(_) => {}
        }
    }
    match refused {
        None => Ok(()),
        Some((error, alike)) => Err(explain(files, &alike, &error)),
    }
}

/// The hypervisor that this machine is a guest of, as far as it shows.
pub fn hypervisor(files: &dyn Files) -> Option<String> {
    let text = |path: &str| {
        let bytes = files.read(path).ok()?;
        let text = String::from_utf8_lossy(&bytes).trim().to_owned();
        (!text.is_empty() && text != "none").then_some(text)
    };
    if let Some(kind) = text("/sys/hypervisor/type") {
        return Some(kind);
    }
    if files.exists("/proc/device-tree/hypervisor") {
        return Some("a hypervisor".to_owned());
    }
    let flags = text("/proc/cpuinfo")?;
    let guest = flags
        .lines()
        .find(|line| line.starts_with("flags"))
        .is_some_and(|line| line.split_whitespace().any(|flag| flag == "hypervisor"));
    guest.then(|| text("/sys/class/dmi/id/sys_vendor").unwrap_or_else(|| "a hypervisor".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::FakeMachine;

    fn errno(number: i32) -> io::Error {
        io::Error::from_raw_os_error(number)
    }

    #[test]
    fn every_cause_has_a_sentence_of_its_own() {
        let machine = FakeMachine::new(&[]);
        let mut reasons: Vec<String> = [1, 2, 5, 11, 13, 16, 19, 22, 30, 28]
            .iter()
            .map(|number| explain_as(&machine, &["/sys/x"], &errno(*number), true).reason)
            .collect();
        reasons.push(explain_as(&machine, &["/sys/x"], &errno(13), false).reason);
        let count = reasons.len();
        reasons.sort();
        reasons.dedup();
        assert_eq!(reasons.len(), count, "{reasons:#?}");
    }

    #[test]
    fn a_locked_kernel_is_told_from_unwilling_firmware() {
        let open = FakeMachine::new(&[(
            "/sys/kernel/security/lockdown",
            "[none] integrity confidentiality\n",
        )]);
        let locked = FakeMachine::new(&[(
            "/sys/kernel/security/lockdown",
            "none [integrity] confidentiality\n",
        )]);
        let reason =
            |machine: &FakeMachine| explain_as(machine, &["/sys/x"], &errno(1), true).reason;
        assert!(reason(&open).contains("firmware"));
        assert!(reason(&locked).contains("integrity"));
    }

    #[test]
    fn many_cpus_with_one_cause_are_one_message() {
        let paths: Vec<String> = (0..64)
            .map(|cpu| format!("/sys/cpu/policy{cpu}/scaling_governor"))
            .collect();
        let content: Vec<(&str, &str)> = paths
            .iter()
            .map(|path| (path.as_str(), "powersave\n"))
            .collect();
        let machine = FakeMachine::new(&content);
        for path in &paths {
            machine.refuse(path, 30);
        }
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        let unavailable = probe(&machine, &paths).unwrap_err();
        assert!(
            unavailable
                .reason
                .contains("policy*/scaling_governor (64 files)")
        );
        assert!(unavailable.reason.contains("read-only"));
    }

    #[test]
    fn a_guest_knows_that_it_is_one() {
        let bare = FakeMachine::new(&[("/proc/cpuinfo", "flags\t\t: fpu tsc\n")]);
        let guest = FakeMachine::new(&[
            ("/proc/cpuinfo", "flags\t\t: fpu tsc hypervisor\n"),
            ("/sys/class/dmi/id/sys_vendor", "QEMU\n"),
        ]);
        assert_eq!(hypervisor(&bare), None);
        assert_eq!(hypervisor(&guest), Some("QEMU".to_owned()));
    }
}
