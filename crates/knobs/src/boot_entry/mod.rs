//! Boots of a real machine with other settings than it boots with by itself: entries that are
//! booted once, what continues the experiment afterwards, and the removal of every trace of both.
//!
//! [`Boots`] is what the agent uses. Each boot loader is a file behind `loader::Loader`; what is
//! decided, parsed and printed is in files of their own without input or output. Nothing here
//! knows a plan: a boot is a name and its settings.
//!
//! The default entry of a machine is never touched. An entry is booted once because the boot
//! loader itself clears the order to boot it before it does; where it could not, nothing is
//! begun. A machine that hangs or panics in such a boot therefore comes up by its default entry,
//! where the experiment asks for the boot again, and gives up after `sequence::LARGEST_TRY`.

mod boots;
mod command_line;
mod error;
mod grub;
mod grub_configuration;
mod grub_environment;
mod kernels;
mod kexec;
mod loader;
mod mounts;
mod requirements;
mod restart;
mod resume_unit;
mod sequence;
mod state;
mod systemd_boot;
#[cfg(test)]
mod tests;

pub use boots::{Boots, Ended, Ordered, Standing};
pub use error::BootError;
pub use restart::Restart;
pub use state::Resumption;
