//! systemd-boot: an entry of its own (the Boot Loader Specification, type 1), ordered by the
//! variable LoaderEntryOneShot of the firmware, which systemd-boot removes before it boots (the
//! Boot Loader Interface).

use std::io;

use knobstat_data::messages::BootLoader;
use knobstat_sys::root::Root;

use super::command_line::CommandLine;
use super::error::BootError;
use super::kernels::Kernel;
use super::loader::{Loader, Trace, file_error, rm};

/// Where the boot partition may be mounted.
const PARTITIONS: [&str; 3] = ["/boot", "/efi", "/boot/efi"];
/// The variables of the interface carry its identity in their names.
const VARIABLES: &str = "/sys/firmware/efi/efivars";
const INTERFACE: &str = "4a67b082-0a4c-41cf-b6c7-440b29bb8c4f";
/// Kept over a reset, of use to the loader and to the system: the attributes of a variable.
const ATTRIBUTES: [u8; 4] = [7, 0, 0, 0];
/// Our entry.
const ENTRY: &str = "knobstat-one-boot.conf";
/// The keys that are ours to say, or that would order our entry among the others.
const REPLACED: [&str; 4] = ["title", "options", "sort-key", "version"];

/// systemd-boot beneath a root.
pub struct SystemdBoot {
    root: Root,
}

impl SystemdBoot {
    pub fn new(root: Root) -> Self {
        Self { root }
    }

    /// The directory of the entries.
    fn entries(&self) -> Result<String, BootError> {
        PARTITIONS
            .iter()
            .map(|partition| format!("{partition}/loader/entries"))
            .find(|entries| self.root.exists(entries))
            .ok_or_else(|| other_loader("no boot partition has loader/entries"))
    }

    /// The entry to copy for a kernel: the one that the machine was booted by, where it boots
    /// that kernel, else the first one that does.
    fn model(&self, kernel: &Kernel) -> Result<String, BootError> {
        let entries = self.entries()?;
        let mut names = self
            .root
            .list(&entries)
            .map_err(file_error(&self.root, &entries, "read"))?;
        let selected = self.variable("LoaderEntrySelected").unwrap_or_default();
        names.retain(|name| name.ends_with(".conf") && name != ENTRY);
        names.sort_by_key(|name| *name != selected);
        names
            .iter()
            .filter_map(|name| self.root.read(&format!("{entries}/{name}")).ok())
            .find(|text| boots(text, &kernel.release))
            .ok_or_else(|| BootError::NoEntry {
                loader: BootLoader::SystemdBoot,
                release: kernel.release.clone(),
            })
    }

    /// A variable of the interface, which is a text.
    fn variable(&self, name: &str) -> Option<String> {
        let bytes = self.root.read_bytes(&path_of(name)).ok()?;
        Some(text_of(bytes.get(ATTRIBUTES.len()..)?))
    }

    fn remove_order(&self) -> io::Result<()> {
        let path = path_of("LoaderEntryOneShot");
        if !self.root.exists(&path) {
            return Ok(());
        }
        // The kernel marks variables that it does not know as not to be changed; a laid-out file
        // has no such mark to take away.
        let _ = self.root.make_mutable(&path);
        self.root.remove_file(&path).map(drop)
    }
}

impl Loader for SystemdBoot {
    fn check(&self) -> Result<(), BootError> {
        let booted_by = self
            .variable("LoaderInfo")
            .filter(|name| name.starts_with("systemd-boot"));
        if booted_by.is_none() {
            return Err(other_loader("it has not said so to the firmware"));
        }
        self.entries()?;
        match self.variable("LoaderEntryOneShot") {
            Some(order) if order != ENTRY => Err(BootError::Ordered(order)),
            _ => Ok(()),
        }
    }

    fn can_boot(&self, kernel: &Kernel) -> Result<(), BootError> {
        self.model(kernel).map(drop)
    }

    fn order(&self, kernel: &Kernel, line: &CommandLine) -> Result<(), BootError> {
        let entry = entry(&self.model(kernel)?, line);
        let path = format!("{}/{ENTRY}", self.entries()?);
        self.root
            .replace_file(&path, entry.as_bytes(), 0o644)
            .map_err(file_error(&self.root, &path, "written"))?;
        let variable = path_of("LoaderEntryOneShot");
        self.remove_order()
            .and_then(|()| self.root.create_file(&variable, &bytes_of(ENTRY), 0o644))
            .map_err(file_error(&self.root, &variable, "written"))
    }

    fn is_ordered(&self) -> Result<bool, BootError> {
        Ok(self.variable("LoaderEntryOneShot").as_deref() == Some(ENTRY))
    }

    fn traces(&self) -> Vec<Trace> {
        let mut traces = Vec::new();
        if self.is_ordered().is_ok_and(|ordered| ordered) {
            let path = path_of("LoaderEntryOneShot");
            traces.push(Trace {
                what: format!("the order to boot {ENTRY} once from the firmware"),
                command: format!(
                    "chattr -i {0} && {1}",
                    self.root.resolve(&path).display(),
                    rm(&self.root, &path)
                ),
            });
        }
        if let Ok(entries) = self.entries() {
            let path = format!("{entries}/{ENTRY}");
            if self.root.exists(&path) {
                traces.push(Trace {
                    what: format!("the entry {}", self.root.resolve(&path).display()),
                    command: rm(&self.root, &path),
                });
            }
        }
        traces
    }

    fn remove(&self, _remembered_an_order: bool) -> Result<(), BootError> {
        // The order first: it must never name an entry that is not there.
        if self.is_ordered()? {
            let variable = path_of("LoaderEntryOneShot");
            self.remove_order()
                .map_err(file_error(&self.root, &variable, "removed"))?;
        }
        let Ok(entries) = self.entries() else {
            return Ok(());
        };
        let path = format!("{entries}/{ENTRY}");
        self.root
            .remove_file(&path)
            .map(drop)
            .map_err(file_error(&self.root, &path, "removed"))
    }
}

fn other_loader(reason: &str) -> BootError {
    BootError::OtherLoader {
        loader: BootLoader::SystemdBoot,
        reason: reason.to_owned(),
    }
}

fn path_of(variable: &str) -> String {
    format!("{VARIABLES}/{variable}-{INTERFACE}")
}

/// UTF-16, its low bytes first, up to a zero.
fn text_of(bytes: &[u8]) -> String {
    let (pairs, _) = bytes.as_chunks::<2>();
    let units = pairs.iter().map(|pair| u16::from_le_bytes(*pair));
    let units: Vec<u16> = units.take_while(|unit| *unit != 0).collect();
    String::from_utf16_lossy(&units)
}

/// A variable's attributes, and a text with a zero after it.
fn bytes_of(text: &str) -> Vec<u8> {
    let units = text.encode_utf16().chain([0]);
    let mut bytes = ATTRIBUTES.to_vec();
    bytes.extend(units.flat_map(u16::to_le_bytes));
    bytes
}

/// Whether an entry boots a kernel: by its version, or by where its image is.
fn boots(entry: &str, release: &str) -> bool {
    entry.lines().filter_map(key_and_value).any(|(key, value)| {
        (key == "version" && value == release)
            || (key == "linux"
                && value
                    .split('/')
                    .any(|part| part == release || part == format!("vmlinuz-{release}")))
    })
}

/// An entry with another command line.
fn entry(model: &str, line: &CommandLine) -> String {
    let mut text = "title knobstat: one boot of an experiment\n".to_owned();
    for (key, value) in model.lines().filter_map(key_and_value) {
        if !REPLACED.contains(&key) {
            text.push_str(&format!("{key} {value}\n"));
        }
    }
    text.push_str(&format!("options {line}\n"));
    text
}

fn key_and_value(line: &str) -> Option<(&str, &str)> {
    let line = line.trim();
    if line.starts_with('#') {
        return None;
    }
    let (key, value) = line.split_once(char::is_whitespace)?;
    Some((key, value.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_the_firmware_go_there_and_back() {
        assert_eq!(text_of(&bytes_of("a.conf")[4..]), "a.conf");
        assert_eq!(&bytes_of("a")[..], [7, 0, 0, 0, b'a', 0, 0, 0]);
        assert_eq!(text_of(b"a"), "");
    }

    #[test]
    fn an_entry_is_copied_with_another_command_line() {
        let model = "# made by kernel-install\ntitle Debian\nversion 6.1.0-40-amd64\n\
                     machine-id 12\nsort-key debian\noptions root=UUID=1 ro\noptions quiet\n\
                     linux  /12/6.1.0-40-amd64/linux\ninitrd /12/6.1.0-40-amd64/initrd\n";
        assert!(boots(model, "6.1.0-40-amd64") && !boots(model, "6.1.0-4"));
        assert!(boots("linux /vmlinuz-6.9\n", "6.9"));
        assert_eq!(
            entry(model, &CommandLine::parse("root=UUID=1 nohz=off")),
            "title knobstat: one boot of an experiment\nmachine-id 12\n\
             linux /12/6.1.0-40-amd64/linux\ninitrd /12/6.1.0-40-amd64/initrd\n\
             options root=UUID=1 nohz=off\n"
        );
    }
}
