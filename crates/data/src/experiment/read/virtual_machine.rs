//! `[target]` of kind `vm`: the guest that the experiment runs in.

use toml::de::DeValue;

use super::section::members;
use super::{Reader, Section};
use crate::experiment::keys::Table;
use crate::experiment::quantities;
use crate::experiment::values::{self, Fault};
use crate::experiment::{Accelerator, GuestTime, VirtualMachine};

/// So many CPUs fit the machine that is emulated.
const MOST_CPUS: i64 = 255;
/// A kernel and this program need some of it.
const LEAST_MEMORY: u64 = 64 << 20;
const MOST_MEMORY: u64 = 1 << 40;

/// Reads the keys that belong to the kind.
pub fn read(reader: &mut Reader<'_>, section: &Section<'_>) -> VirtualMachine {
    section.refuse_unknown_keys(reader, Table::Guest, &["kind"]);
    let otherwise = VirtualMachine::default();
    let times = [("virtual", GuestTime::Virtual), ("wall", GuestTime::Wall)];
    let accelerators = [("tcg", Accelerator::Tcg), ("kvm", Accelerator::Kvm)];
    let time = section.word(reader, "time", &times, &[]);
    let accelerator = section.word(reader, "accelerator", &accelerators, &[]);
    let machine = VirtualMachine {
        kernel: section.read(reader, "kernel", values::line),
        cpus: section
            .read(reader, "cpus", |value| values::whole(value, 1, MOST_CPUS))
            .and_then(|cpus| u32::try_from(cpus).ok())
            .unwrap_or(otherwise.cpus),
        memory: section
            .read(reader, "memory", |value| {
                quantities::size(value, LEAST_MEMORY, MOST_MEMORY)
            })
            .unwrap_or(otherwise.memory),
        // Virtual time is the emulator's; the processor knows none.
        time: time.unwrap_or(match accelerator {
            Some(Accelerator::Kvm) => GuestTime::Wall,
            _ => otherwise.time,
        }),
        accelerator: accelerator.unwrap_or(otherwise.accelerator),
        acpi_tables: lines(reader, section, "acpi_tables"),
        append: section
            .read(reader, "append", append)
            .unwrap_or(otherwise.append),
        files: lines(reader, section, "files"),
        modules: lines(reader, section, "modules"),
        boot_timeout: section
            .read(reader, "boot_timeout", quantities::positive_duration)
            .unwrap_or(otherwise.boot_timeout),
    };
    if machine.accelerator == Accelerator::Kvm
        && machine.time == GuestTime::Virtual
        && let Some(entry) = section.entry("time")
    {
        let fault = Fault::new(
            "cannot be virtual with `accelerator = \"kvm\"`",
            "the processor has no virtual time",
            "write `time = \"wall\"`, or leave the accelerator out",
        );
        reader.fault(&entry.subject(), &entry.span, fault);
    }
    if machine.accelerator == Accelerator::Tcg
        && machine.time == GuestTime::Virtual
        && machine.cpus > 1
        && let Some(entry) = section.entry("cpus")
    {
        let fault = Fault::new(
            "must be 1 in virtual time",
            "while time follows instructions, the emulator never brings a second CPU up",
            "write `time = \"wall\"`, or leave `cpus` out",
        );
        reader.fault(&entry.subject(), &entry.span, fault);
    }
    machine
}

/// Words for the kernel's command line: one line, which may be empty.
fn append(value: &DeValue<'_>) -> Result<String, Fault> {
    let text = values::text(value)?;
    if text.chars().any(char::is_control) {
        return Err(Fault::new(
            "must be one line",
            "it has a line break or another control character",
            "write the words in one line, with spaces in between",
        ));
    }
    Ok(text)
}

/// A list of texts of one line each.
fn lines(reader: &mut Reader<'_>, section: &Section<'_>, name: &str) -> Vec<String> {
    let Some(entry) = section.entry(name) else {
        return Vec::new();
    };
    let Some(list) = members(reader, entry, "[\"a\", \"b\"]") else {
        return Vec::new();
    };
    list.iter()
        .filter_map(|member| {
            let line = values::line(member.get_ref());
            reader.check(&entry.subject(), &member.span(), line)
        })
        .collect()
}
