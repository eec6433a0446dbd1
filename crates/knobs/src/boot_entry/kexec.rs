//! kexec: the running kernel starts another one. Nothing is written anywhere, so that whatever
//! ends that boot, the machine comes up by its default entry.

use knobstat_data::messages::BootLoader;
use knobstat_sys::restart;
use knobstat_sys::root::Root;

use super::command_line::CommandLine;
use super::error::BootError;
use super::kernels::Kernel;
use super::loader::{Loader, Trace, file_error};
use super::restart::Restart;

/// Tells whether a kernel is loaded; it is there where one can be.
const LOADED: &str = "/sys/kernel/kexec_loaded";
/// Tells whether loading one was forbidden until the next boot.
const FORBIDDEN: &str = "/proc/sys/kernel/kexec_load_disabled";

/// The running kernel beneath a root.
pub struct Kexec {
    root: Root,
}

impl Kexec {
    pub fn new(root: Root) -> Self {
        Self { root }
    }

    fn is_loaded(&self) -> bool {
        self.root.read(LOADED).is_ok_and(|loaded| loaded == "1")
    }
}

impl Loader for Kexec {
    fn check(&self) -> Result<(), BootError> {
        let reason = if !self.root.exists(LOADED) {
            "the kernel was built without kexec"
        } else if self.root.read(FORBIDDEN).is_ok_and(|value| value == "1") {
            "kernel.kexec_load_disabled is 1"
        } else {
            return Ok(());
        };
        Err(BootError::OtherLoader {
            loader: BootLoader::Kexec,
            reason: reason.to_owned(),
        })
    }

    fn can_boot(&self, _kernel: &Kernel) -> Result<(), BootError> {
        Ok(())
    }

    fn order(&self, kernel: &Kernel, line: &CommandLine) -> Result<(), BootError> {
        if !self.root.is_real() {
            return self
                .root
                .write(LOADED, "1\n")
                .map_err(file_error(&self.root, LOADED, "written"));
        }
        let initrd = kernel.initrd.as_ref().map(|path| self.root.resolve(path));
        restart::load_kernel(
            &self.root.resolve(&kernel.image),
            initrd.as_deref(),
            &line.to_string(),
        )
        .map_err(BootError::Kexec)
    }

    fn is_ordered(&self) -> Result<bool, BootError> {
        Ok(self.is_loaded())
    }

    /// A kernel that is loaded may be anybody's, and a reboot forgets it.
    fn traces(&self) -> Vec<Trace> {
        Vec::new()
    }

    fn remove(&self, _remembered_an_order: bool) -> Result<(), BootError> {
        Ok(())
    }

    fn restart(&self) -> Restart {
        Restart::Kexec
    }
}
