//! Knobs whose name says where they are: `sysctl:NAME`, `sysfs:PATH`, `irq:N`, `cmdline:NAME`.

use knobstat_data::vocabulary::Scope;

use crate::availability::Unavailable;
use crate::catalogue::{Entry, Fact, Mechanism, Place, Sysctl};
use crate::value::Form;

/// The entry that such a name stands for, where it is one.
pub fn entry(name: &str) -> Option<Entry> {
    let (kind, rest) = name.split_once(':')?;
    match kind {
        "sysctl" => Some(file_entry(
            name,
            &sysctl_path(rest)?,
            "a sysctl of the kernel",
        )),
        "sysfs" => Some(file_entry(name, &sysfs_path(rest)?, "a file of sysfs")),
        "irq" => irq_entry(name, rest),
        "cmdline" => fact_entry(name, rest),
        _ => None,
    }
}

/// The entry that a name stands for on FreeBSD: `sysctl:NAME` alone.
pub fn freebsd_entry(name: &str) -> Option<Entry> {
    let variable = name.strip_prefix("sysctl:")?;
    let plain = !variable.is_empty()
        && variable
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "._%-".contains(c))
        && !variable.starts_with('-');
    plain.then(|| Entry {
        mechanism: Mechanism::Sysctl(Sysctl {
            variable: variable.to_owned(),
            values: Default::default(),
            available: None,
            listing: Default::default(),
            tunable: None,
            program: Vec::new(),
        }),
        missing: Some(Unavailable::new(
            format!("{variable} does not exist here"),
            "look whether this system has it, under this name, with its module loaded",
        )),
        ..file_entry(name, variable, "a variable of the kernel")
    })
}

/// The file of a sysctl, by its name with dots or with slashes as sysctl(8) takes it: where the
/// first separator is a slash, dots are part of names (`net/ipv4/conf/eth0.1/forwarding`).
fn sysctl_path(name: &str) -> Option<String> {
    let first = name.find(['.', '/'])?;
    let relative = if name[first..].starts_with('/') {
        name.to_owned()
    } else {
        name.chars()
            .map(|character| match character {
                '.' => '/',
                '/' => '.',
                other => other,
            })
            .collect()
    };
    plain_path("/proc/sys", &relative)
}

/// The file of `sysfs:PATH`, which may be given with or without `/sys` before it.
fn sysfs_path(path: &str) -> Option<String> {
    plain_path("/sys", path.strip_prefix("/sys/").unwrap_or(path))
}

/// A path beneath a directory that does not leave it by its own words, and holds no pattern.
fn plain_path(directory: &str, relative: &str) -> Option<String> {
    let relative = relative.trim_matches('/');
    let plain = !relative.is_empty()
        && !relative.contains(['#', '*', '\n', '\0'])
        && relative
            .split('/')
            .all(|part| !part.is_empty() && part != "." && part != "..");
    plain.then(|| format!("{directory}/{relative}"))
}

/// An entry for one file that is not in the catalogue.
fn file_entry(name: &str, path: &str, summary: &str) -> Entry {
    Entry {
        name: name.to_owned(),
        summary: format!("{path}, {summary}"),
        documentation: String::new(),
        scope: Scope::Runtime,
        // After every knob of the catalogue: the order of what it may rest on is not known.
        order: u32::MAX - 1,
        levels: None,
        effect: None,
        effect_check: None,
        defeated_by: Vec::new(),
        opened_by: Default::default(),
        turned_by: vec!["tuned".to_owned()],
        suspect: None,
        missing: Some(Unavailable::new(
            format!("{path} does not exist here"),
            "look whether this kernel has it, under this name, with its module loaded",
        )),
        missing_in_guest: None,
        remedies: Default::default(),
        refused: Default::default(),
        mechanism: Mechanism::Files {
            places: vec![one_place(path)],
        },
    }
}

/// One interrupt's CPUs, by its number.
fn irq_entry(name: &str, number: &str) -> Option<Entry> {
    let number: u32 = number.parse().ok()?;
    let path = format!("/proc/irq/{number}/smp_affinity");
    Some(Entry {
        turned_by: vec!["irqbalance".to_owned(), "tuned".to_owned()],
        refused: [(
            "EIO".to_owned(),
            Unavailable::without_remedy(
                "the kernel manages this interrupt itself, or it belongs to one CPU",
            ),
        )]
        .into(),
        mechanism: Mechanism::Files {
            places: vec![Place {
                form: Some(Form::CpuMask),
                ..one_place(&path)
            }],
        },
        ..file_entry(name, &path, "the CPUs that an interrupt goes to, as a list")
    })
}

fn one_place(path: &str) -> Place {
    Place {
        files: path.to_owned(),
        values: Default::default(),
        available: None,
        numbers: None,
        beside: None,
        form: None,
        side_effects: Vec::new(),
        stuck: Default::default(),
    }
}

fn fact_entry(name: &str, word: &str) -> Option<Entry> {
    let plain =
        !word.is_empty() && !word.contains(|c: char| c.is_whitespace() || "=\"".contains(c));
    plain.then(|| Entry {
        scope: Scope::Boot,
        order: 0,
        turned_by: Vec::new(),
        missing: None,
        mechanism: Mechanism::KernelFact {
            fact: Fact::CommandLine(word.to_owned()),
        },
        ..file_entry(name, word, "a word of the kernel's command line")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sysctl_is_named_with_dots_or_slashes() {
        for (name, path) in [
            ("kernel.nmi_watchdog", Some("/proc/sys/kernel/nmi_watchdog")),
            (
                "net/ipv4/conf/eth0.1/forwarding",
                Some("/proc/sys/net/ipv4/conf/eth0.1/forwarding"),
            ),
            (
                "net.ipv4.conf.eth0/1.forwarding",
                Some("/proc/sys/net/ipv4/conf/eth0.1/forwarding"),
            ),
            ("kernel", None),
            ("kernel...x", None),
            ("kernel/../../etc/passwd", None),
        ] {
            assert_eq!(sysctl_path(name).as_deref(), path, "{name}");
        }
    }

    #[test]
    fn a_sysfs_path_does_not_leave_sysfs() {
        assert_eq!(sysfs_path("/sys/a/b").as_deref(), Some("/sys/a/b"));
        assert_eq!(sysfs_path("a/b").as_deref(), Some("/sys/a/b"));
        for path in ["", "/", "../etc", "/sys/../etc", "a//b", "a#"] {
            assert_eq!(sysfs_path(path), None, "{path}");
        }
    }

    #[test]
    fn names_outside_the_catalogue_are_found_by_their_kind() {
        assert!(entry("sysctl:vm.swappiness").is_some());
        assert!(entry("cmdline:nohz").is_some());
        assert!(entry("cmdline:").is_none());
        assert!(entry("registry:x").is_none());
        assert!(entry("nonsense").is_none());
    }
}
