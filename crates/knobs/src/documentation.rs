//! The catalogue as a page for people.

use std::fmt::Write as _;

use knobstat_data::vocabulary::Scope;
use knobstat_sys::root::Root;

use crate::catalogue::{Catalogue, Entry, Fact, Mechanism};
use crate::system::System;

const FREEBSD: &str = "
# Knobs of FreeBSD

Read and set through sysctl(8) where the target runs FreeBSD. Knobs that mean the same as on Linux
have the same name; `sysctl:NAME` reaches every other variable. This part is made from
`crates/knobs/catalogue/freebsd.toml`.

knobstat itself runs on Linux. A directory given as `--root` stands for a machine with FreeBSD where it
holds `/bin/freebsd-version`; its settings are reached through its own `/sbin/sysctl`, which may be a
script that asks another host.
";

const INTRODUCTION: &str = "\
# Knobs

Every setting that knobstat knows by a name of its own. `knobstat knobs` shows what they are on
this machine; `knobstat knobs NAME` shows one. This page is made from
`crates/knobs/catalogue/linux.toml`.

Besides these, any name of these forms is a knob, and so is any that an experiment file declares
itself with three commands (`[knobs.NAME]`):

- `sysctl:NAME`, such as `sysctl:vm.swappiness`: a file beneath `/proc/sys`.
- `sysfs:PATH`, such as `sysfs:/sys/kernel/mm/ksm/pages_to_scan`: a file beneath `/sys`.
- `irq:N`, such as `irq:24`: the CPUs that one interrupt goes to, as a list.
- `cmdline:NAME`, such as `cmdline:mitigations`: a word of the kernel's command line, with the
  level `absent` where it is not there and `present` where it has no value. Read only: another
  level needs another boot.

When a change takes effect: *runtime* knobs are turned between runs and put back at the end;
*process* knobs are given to the workload alone; *boot* and *build* knobs are read, and another
level than the present one is named with what would bring it.
";

/// The page `docs/knobs.md`.
pub fn markdown() -> String {
    let mut page = INTRODUCTION.to_owned();
    for (title, catalogue) in [("", Catalogue::linux()), (FREEBSD, Catalogue::freebsd())] {
        page.push_str(title);
        for entry in catalogue.entries() {
            page.push('\n');
            page.push_str(&of_entry(entry));
        }
    }
    page
}

/// What is to be known of one knob of the system beneath a root.
pub fn documentation(root: &Root, name: &str) -> Option<String> {
    System::of(root).entry(name).map(|entry| of_entry(&entry))
}

/// What a knob is, in a few words.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// The system that has it.
    pub system: &'static str,
    /// Its name.
    pub name: &'static str,
    /// One line on what it is.
    pub summary: &'static str,
    /// What a person should know before varying it.
    pub documentation: &'static str,
}

/// Every knob of the catalogue, those of a system together.
pub fn abouts() -> Vec<About> {
    let of = |system, catalogue: &'static Catalogue| {
        catalogue.entries().iter().map(move |entry| About {
            system,
            name: &entry.name,
            summary: &entry.summary,
            documentation: entry.documentation.trim(),
        })
    };
    of("Linux", Catalogue::linux())
        .chain(of("FreeBSD", Catalogue::freebsd()))
        .collect()
}

fn of_entry(entry: &Entry) -> String {
    let about = format!("{}. {}", entry.summary, entry.documentation.trim());
    let mut text = format!("## {}\n\n{}\n\n", entry.name, about.trim_end());
    let scope = match entry.scope {
        Scope::Runtime => "runtime",
        Scope::Process => "process",
        Scope::Boot => "boot",
        Scope::Build => "build",
    };
    let mut item = |name: &str, value: &str| {
        if !value.is_empty() {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "- {name}: {value}");
        }
    };
    item("Takes effect", scope);
    if let Some(levels) = &entry.levels {
        item("Levels", &code(levels));
    }
    if let Mechanism::Files { places } = &entry.mechanism {
        let files: Vec<String> = places.iter().map(|place| starred(&place.files)).collect();
        item(
            if files.len() > 1 {
                "Where (the first that is there)"
            } else {
                "Where"
            },
            &code(&files),
        );
        if let Some(available) = places.iter().find_map(|place| place.available.as_deref()) {
            item("Levels of this machine", &code(&[starred(available)]));
        }
    }
    item(
        "Changes as well, and put back with it",
        &code(&side_effects(entry)),
    );
    match &entry.mechanism {
        Mechanism::Sysctl(sysctl) => {
            item("Where", &code(&[starred(&sysctl.variable)]));
            if let Some(available) = &sysctl.available {
                item("Levels of this machine", &code(&[starred(available)]));
            }
            item(
                "Decided in /boot/loader.conf by",
                &code(sysctl.tunable.as_slice()),
            );
        }
        Mechanism::Commands(commands) => {
            item("Read with", &format!("`{}`", commands.get.join(" ")));
            item("Set with", &format!("`{}`", commands.set.join(" ")));
        }
        Mechanism::KernelFact {
            fact: Fact::File { path, .. },
        } => item("Where", &code(std::slice::from_ref(path))),
        _ => {}
    }
    item(
        "How to see it in force",
        entry.effect.as_deref().unwrap_or_default(),
    );
    item("What defeats it", &entry.defeated_by.join("; "));
    item("Who else turns it", &entry.turned_by.join(", "));
    let openers: Vec<String> = entry
        .opened_by
        .iter()
        .flat_map(|(knob, levels)| levels.iter().map(move |level| format!("{knob}={level}")))
        .collect();
    item(
        "What may open levels in the same experiment",
        &code(&openers),
    );
    for (level, remedy) in &entry.remedies {
        item(&format!("Where `{level}` is not offered"), remedy);
    }
    text
}

fn starred(pattern: &str) -> String {
    pattern.replace('#', "*")
}

/// The files that a change of a knob changes too, each once.
fn side_effects(entry: &Entry) -> Vec<String> {
    let patterns: Vec<&String> = match &entry.mechanism {
        Mechanism::Files { places } => places.iter().flat_map(|p| &p.side_effects).collect(),
        Mechanism::CpusOnline { side_effects } => side_effects.iter().collect(),
        Mechanism::Commands(commands) => commands.side_effects.iter().collect(),
        _ => Vec::new(),
    };
    let mut paths: Vec<String> = Vec::new();
    for path in patterns.into_iter().map(|pattern| starred(pattern)) {
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    paths
}

fn code(words: &[String]) -> String {
    words
        .iter()
        .map(|word| format!("`{word}`"))
        .collect::<Vec<_>>()
        .join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With this variable set the page is written instead of compared.
    const WRITE: &str = "KNOBSTAT_WRITE_DOCS";

    #[test]
    fn the_page_in_docs_is_current() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/knobs.md");
        if std::env::var_os(WRITE).is_some() {
            std::fs::write(path, markdown()).unwrap();
        }
        let page = std::fs::read_to_string(path).unwrap_or_default();
        assert!(
            page == markdown(),
            "docs/knobs.md is not what the catalogue says; write it with \
             `{WRITE}=1 cargo test -p knobstat-knobs documentation`"
        );
    }
}
