//! What every boot loader can be asked for.

use std::io;

use knobstat_data::messages::BootLoader;
use knobstat_sys::root::Root;

use super::command_line::CommandLine;
use super::error::BootError;
use super::grub::Grub;
use super::kernels::Kernel;
use super::kexec::Kexec;
use super::restart::Restart;
use super::systemd_boot::SystemdBoot;

/// Something that an experiment left on a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// What it is, in words that follow "removed".
    pub what: String,
    /// The command that a person would type to remove it.
    pub command: String,
}

/// A boot loader of a machine, as far as it boots an entry once.
pub trait Loader {
    /// Whether it boots this machine and can boot an entry once; nothing is written.
    ///
    /// # Errors
    /// Why not.
    fn check(&self) -> Result<(), BootError>;

    /// Whether it can boot a kernel.
    ///
    /// # Errors
    /// Why not.
    fn can_boot(&self, kernel: &Kernel) -> Result<(), BootError>;

    /// Whether it remembers that an entry was ordered before, though that order is done: then it
    /// is left with that memory.
    fn remembers_an_order(&self) -> bool {
        false
    }

    /// Writes an entry and orders it for the next boot alone.
    ///
    /// # Errors
    /// When that cannot be written.
    fn order(&self, kernel: &Kernel, line: &CommandLine) -> Result<(), BootError>;

    /// Whether our entry is still to be booted.
    ///
    /// # Errors
    /// When that cannot be read.
    fn is_ordered(&self) -> Result<bool, BootError>;

    /// What of ours is there. What cannot be read holds nothing of ours.
    fn traces(&self) -> Vec<Trace>;

    /// Removes what of ours is there.
    ///
    /// # Errors
    /// When something cannot be removed.
    fn remove(&self, remembered_an_order: bool) -> Result<(), BootError>;

    /// How the machine is started anew so that it is this loader that boots it.
    fn restart(&self) -> Restart {
        Restart::Firmware
    }
}

/// A machine's loader of this kind.
pub fn of(loader: BootLoader, root: &Root) -> Box<dyn Loader> {
    match loader {
        BootLoader::Grub => Box::new(Grub::new(root.clone())),
        BootLoader::SystemdBoot => Box::new(SystemdBoot::new(root.clone())),
        BootLoader::Kexec => Box::new(Kexec::new(root.clone())),
    }
}

/// The loader that is asked for, or the first that can boot an entry once.
///
/// # Errors
/// Why none can.
pub fn choose(root: &Root, by: Option<BootLoader>) -> Result<BootLoader, BootError> {
    if let Some(loader) = by {
        return of(loader, root).check().map(|()| loader);
    }
    let mut errors = Vec::new();
    for loader in BootLoader::ALL {
        match of(loader, root).check() {
            Ok(()) => return Ok(loader),
            Err(error @ BootError::OtherLoader { .. }) => errors.push((loader, error)),
            // One that boots the machine and cannot be used is not passed over in silence.
            Err(error) => return Err(error),
        }
    }
    Err(BootError::NoLoader(errors))
}

/// An error of a file, with where it is.
pub fn file_error<'e>(
    root: &'e Root,
    path: &'e str,
    action: &'static str,
) -> impl FnOnce(io::Error) -> BootError + 'e {
    move |source| BootError::File {
        path: root.resolve(path),
        action,
        source,
    }
}

/// The `rm` that a person would type.
pub fn rm(root: &Root, path: &str) -> String {
    format!(
        "rm {}",
        crate::restore::quote(&root.resolve(path).display().to_string())
    )
}
