//! GRUB: an entry in `custom.cfg`, ordered by `next_entry` of its environment, which GRUB clears
//! before it boots.

use knobstat_data::messages::BootLoader;
use knobstat_sys::root::Root;

use super::command_line::CommandLine;
use super::error::BootError;
use super::grub_configuration::{self as configuration, ENTRY};
use super::grub_environment::GrubEnvironment;
use super::kernels::Kernel;
use super::loader::{Loader, Trace, file_error, rm};
use super::mounts::mount_of;
use crate::restore::quote;

/// Where distributions keep it.
const DIRECTORIES: [&str; 2] = ["/boot/grub", "/boot/grub2"];
/// The variable that names the entry to boot once.
const ORDER: &str = "next_entry";
/// File systems on which GRUB can write a file's own blocks. It cannot where blocks are copied
/// on write, hold checksums, or lie on another machine.
const WRITTEN_BY_GRUB: [&str; 8] = [
    "ext2", "ext3", "ext4", "vfat", "msdos", "xfs", "jfs", "reiserfs",
];
/// Block devices that GRUB reads and cannot write: logical volumes, encrypted and mirrored ones.
const NOT_WRITTEN_BY_GRUB: [&str; 3] = ["/dev/mapper/", "/dev/dm-", "/dev/md"];

/// GRUB beneath a root.
pub struct Grub {
    root: Root,
}

impl Grub {
    pub fn new(root: Root) -> Self {
        Self { root }
    }

    fn directory(&self) -> Option<&'static str> {
        DIRECTORIES
            .into_iter()
            .find(|directory| self.root.exists(&format!("{directory}/grub.cfg")))
    }

    fn in_directory(&self, name: &str) -> Result<String, BootError> {
        let directory = self.directory().ok_or_else(|| BootError::OtherLoader {
            loader: BootLoader::Grub,
            reason: "there is no /boot/grub/grub.cfg".to_owned(),
        })?;
        Ok(format!("{directory}/{name}"))
    }

    fn configuration(&self) -> Result<String, BootError> {
        let path = self.in_directory("grub.cfg")?;
        self.root
            .read(&path)
            .map_err(file_error(&self.root, &path, "read"))
    }

    fn environment(&self) -> Result<(String, GrubEnvironment), BootError> {
        let path = self.in_directory("grubenv")?;
        let bytes = self
            .root
            .read_bytes(&path)
            .map_err(|source| never_cleared(format!("{path} cannot be read ({source})")))?;
        let environment =
            GrubEnvironment::parse(&bytes).map_err(|source| BootError::Environment {
                path: self.root.resolve(&path),
                source,
            })?;
        Ok((path, environment))
    }

    fn write_environment(&self, path: &str, block: &GrubEnvironment) -> Result<(), BootError> {
        self.root
            .overwrite_file(path, &block.to_bytes())
            .map_err(file_error(&self.root, path, "written"))
    }

    /// Another's `custom.cfg`, or none.
    fn custom(&self) -> Result<(String, Option<String>), BootError> {
        let path = self.in_directory("custom.cfg")?;
        let unread = |error| file_error(&self.root, &path, "read")(error);
        let text = match self.root.read_bytes(&path) {
            Ok(bytes) => Some(String::from_utf8(bytes).map_err(|_| {
                unread(std::io::Error::new(
                    std::io::ErrorKind::InvalidData,
                    "it is no text",
                ))
            })?),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => return Err(unread(error)),
        };
        Ok((path, text))
    }

    /// Whether GRUB itself could write its environment at boot.
    fn can_clear(&self, path: &str) -> Result<(), BootError> {
        let table = self.root.read("/proc/self/mountinfo").unwrap_or_default();
        let Some(mount) = mount_of(&table, path) else {
            // A laid-out tree need not have the table.
            return Ok(());
        };
        if !WRITTEN_BY_GRUB.contains(&mount.kind.as_str()) {
            return Err(never_cleared(format!(
                "{path} lies on {}, which GRUB does not write",
                mount.kind
            )));
        }
        let is_volume = |before: &str| mount.source.starts_with(before);
        if NOT_WRITTEN_BY_GRUB.iter().any(|before| is_volume(before)) {
            return Err(never_cleared(format!(
                "{path} lies on {}, a volume that GRUB does not write",
                mount.source
            )));
        }
        Ok(())
    }
}

impl Loader for Grub {
    fn check(&self) -> Result<(), BootError> {
        let configuration = self.configuration()?;
        let (path, environment) = self.environment()?;
        self.root
            .writable(&path)
            .map_err(|error| never_cleared(format!("{path} cannot be written ({error})")))?;
        self.can_clear(&path)?;
        if !configuration::boots_once(&configuration) {
            return Err(never_cleared(
                "its grub.cfg does not take next_entry and clear it".to_owned(),
            ));
        }
        if !configuration::reads_custom(&configuration) {
            return Err(BootError::NeverCleared {
                reason: "its grub.cfg does not read custom.cfg".to_owned(),
                remedy:
                    "make it anew with /etc/grub.d/41_custom (update-grub), or use --reboot=kexec"
                        .to_owned(),
            });
        }
        match environment.get(ORDER) {
            Some(order) if !order.is_empty() && order != ENTRY => Err(BootError::Ordered(order)),
            _ => Ok(()),
        }
    }

    fn can_boot(&self, kernel: &Kernel) -> Result<(), BootError> {
        let line = CommandLine::parse("");
        configuration::entry(&self.configuration()?, kernel.image_name(), &line)
            .map(drop)
            .ok_or_else(|| no_entry(kernel))
    }

    fn remembers_an_order(&self) -> bool {
        self.environment()
            .is_ok_and(|(_, environment)| environment.get(ORDER).is_some())
    }

    fn order(&self, kernel: &Kernel, line: &CommandLine) -> Result<(), BootError> {
        let entry = configuration::entry(&self.configuration()?, kernel.image_name(), line)
            .ok_or_else(|| no_entry(kernel))?;
        let (custom_path, custom) = self.custom()?;
        let text = configuration::with_section(custom.as_deref(), &entry);
        self.root
            .replace_file(&custom_path, text.as_bytes(), 0o600)
            .map_err(file_error(&self.root, &custom_path, "written"))?;
        // The order comes last: it must never name an entry that is not there.
        let (path, mut environment) = self.environment()?;
        environment
            .set(ORDER, ENTRY)
            .map_err(|source| BootError::Environment {
                path: self.root.resolve(&path),
                source,
            })?;
        self.write_environment(&path, &environment)
    }

    fn is_ordered(&self) -> Result<bool, BootError> {
        let (_, environment) = self.environment()?;
        Ok(environment.get(ORDER).as_deref() == Some(ENTRY))
    }

    fn traces(&self) -> Vec<Trace> {
        let mut traces = Vec::new();
        if let Ok((path, environment)) = self.environment()
            && environment.get(ORDER).as_deref() == Some(ENTRY)
        {
            let shown = self.root.resolve(&path).display().to_string();
            traces.push(Trace {
                what: format!("the order to boot {ENTRY} once from {shown}"),
                command: format!("grub-editenv {} unset {ORDER}", quote(&shown)),
            });
        }
        if let Ok((path, Some(custom))) = self.custom()
            && configuration::has_section(&custom)
        {
            let shown = self.root.resolve(&path).display().to_string();
            traces.push(Trace {
                what: format!("the entry {ENTRY} from {shown}"),
                command: match configuration::without_section(&custom) {
                    None => rm(&self.root, &path),
                    Some(_) => format!(
                        "sed -i '/^### BEGIN knobstat/,/^### END knobstat/d' {}",
                        quote(&shown)
                    ),
                },
            });
        }
        traces
    }

    fn remove(&self, remembered_an_order: bool) -> Result<(), BootError> {
        if self.directory().is_none() {
            return Ok(());
        }
        // The order first: it must never name an entry that is not there.
        if let Ok((path, mut environment)) = self.environment() {
            let before = environment.clone();
            match environment.get(ORDER).as_deref() {
                Some(ENTRY | "") if remembered_an_order => {
                    // Shorter than what is there: it fits.
                    let _ = environment.set(ORDER, "");
                }
                Some(ENTRY | "") => environment.unset(ORDER),
                _ => {}
            }
            if environment != before {
                self.write_environment(&path, &environment)?;
            }
        }
        let (path, custom) = self.custom()?;
        let Some(custom) = custom.filter(|custom| configuration::has_section(custom)) else {
            return self
                .root
                .remove_unfinished(&path)
                .map_err(file_error(&self.root, &path, "removed"));
        };
        match configuration::without_section(&custom) {
            None => self
                .root
                .remove_file(&path)
                .map(drop)
                .map_err(file_error(&self.root, &path, "removed")),
            Some(owners) => self
                .root
                .replace_file(&path, owners.as_bytes(), 0o644)
                .map_err(file_error(&self.root, &path, "written")),
        }
    }
}

fn never_cleared(reason: String) -> BootError {
    BootError::NeverCleared {
        reason,
        remedy: "use --reboot=kexec, or put /boot/grub on a file system that GRUB can write"
            .to_owned(),
    }
}

fn no_entry(kernel: &Kernel) -> BootError {
    BootError::NoEntry {
        loader: BootLoader::Grub,
        release: kernel.release.clone(),
    }
}
