//! Why a machine is not rebooted for an experiment.

use std::io;
use std::path::PathBuf;

use knobstat_data::messages::{BootLoader, Refusal, RefusalKind};
use thiserror::Error;

use super::grub_environment::BlockError;
use crate::availability::Unavailable;
use crate::leftovers::BeginError;
use crate::refusal::refusal;
use crate::state_directory::StateDirectoryError;

/// Why a machine is not rebooted for an experiment, or no longer.
#[derive(Debug, Error)]
pub enum BootError {
    /// Only root reboots.
    #[error("only root can have this machine rebooted; start knobstat by sudo")]
    NotRoot,
    /// The environment refuses changes of the machine.
    #[error(
        "KNOBSTAT_NO_KNOBS is set, which refuses every change of this machine; unset KNOBSTAT_NO_KNOBS"
    )]
    Refused,
    /// The program that root would start at boot could be replaced by somebody else.
    #[error(
        "root would start {0} at boot, which others than root can write; install it as root's own (sudo install {0} /usr/local/bin/knobstat)"
    )]
    ProgramOfOthers(PathBuf),
    /// No loader can boot an entry once.
    #[error(
        "nothing here can boot this machine once in another way: {}; boot it by hand and leave the other levels out",
        reasons(.0)
    )]
    NoLoader(Vec<(BootLoader, BootError)>),
    /// The machine is not booted by this loader.
    #[error("this machine is not booted by {loader} ({reason}); ask for another with --reboot=")]
    OtherLoader {
        /// The loader.
        loader: BootLoader,
        /// How that is known.
        reason: String,
    },
    /// GRUB could not clear the order to boot an entry once.
    #[error(
        "GRUB could not clear an order to boot an entry once, and would boot it for ever: {reason}; {remedy}"
    )]
    NeverCleared {
        /// Why not.
        reason: String,
        /// What to do.
        remedy: String,
    },
    /// grubenv is no environment block.
    #[error(
        "{path} is no environment of GRUB: {source}; make one with `grub-editenv {path} create`"
    )]
    Environment {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: BlockError,
    },
    /// Another entry is to be booted once already.
    #[error(
        "somebody else has ordered the entry \"{0}\" for the next boot; reboot first, or take the order back"
    )]
    Ordered(String),
    /// The loader has no entry for this kernel that could be copied.
    #[error(
        "{loader} has no entry that boots the kernel {release}; update its configuration, or use --reboot=kexec"
    )]
    NoEntry {
        /// The loader.
        loader: BootLoader,
        /// The kernel.
        release: String,
    },
    /// A kernel is not installed.
    #[error("the kernel {0} is not installed in /boot; install it, or leave that level out")]
    NoKernel(String),
    /// No installed kernel has this tick rate.
    #[error(
        "no kernel in /boot was built with CONFIG_HZ={0}; install one with its config-RELEASE, or leave that level out"
    )]
    NoTickRate(u32),
    /// The setting is none that a kernel or its command line decides.
    #[error("{}; {}", .0.reason, .0.remedy.as_deref().unwrap_or("boot the machine so by hand"))]
    NotOfABoot(Unavailable),
    /// A level that cannot stand on a command line.
    #[error(
        "{0} cannot be a word of the kernel's command line; use letters, digits and signs without spaces and quotes"
    )]
    BadWord(String),
    /// The command line is too long.
    #[error(
        "the kernel's command line would be {0} bytes long, and the kernel reads 2047; leave words out"
    )]
    TooLong(usize),
    /// An experiment is in the midst of its boots.
    #[error(
        "experiment {0} is in the midst of its boots; let `knobstat resume` continue it, or end it with `knobstat restore`"
    )]
    AnotherExperiment(String),
    /// The machine is in a boot of an experiment of which nothing else is known.
    #[error(
        "the machine is still in a boot of an experiment; reboot it, so that it is as it boots by itself"
    )]
    StillInABoot,
    /// The machine did not come up, or not so, too often.
    #[error(
        "the boot with {settings} was asked for {tries} times and {what}; look at the console and at the kernel's log of that boot, then start anew"
    )]
    GivenUp {
        /// The settings of the boot.
        settings: String,
        /// How often it was asked for.
        tries: u32,
        /// What came of it the last time.
        what: &'static str,
    },
    /// The kernel does not load another.
    #[error(
        "the kernel cannot start another one ({0}); use a kernel with CONFIG_KEXEC_FILE that is not locked down"
    )]
    Kexec(#[source] io::Error),
    /// A file cannot be read or written.
    #[error("{path} cannot be {action} ({source}); check its permissions and its file system")]
    File {
        /// The file.
        path: PathBuf,
        /// `read`, `written` or `removed`.
        action: &'static str,
        /// What the system says.
        source: io::Error,
    },
    /// What is known of the experiment's boots does not read.
    #[error("{path} does not read ({reason}); `knobstat restore` removes it")]
    State {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// The machine cannot be restarted.
    #[error("the machine cannot be rebooted ({0}); reboot it by hand")]
    Restart(String),
    /// There is no place for the state.
    #[error(transparent)]
    StateDirectory(#[from] StateDirectoryError),
    /// Another experiment has the machine.
    #[error(transparent)]
    Busy(#[from] BeginError),
}

fn reasons(errors: &[(BootLoader, BootError)]) -> String {
    let of_each: Vec<String> = errors
        .iter()
        .map(|(loader, error)| {
            format!(
                "{loader}: {}",
                refusal(RefusalKind::Request, &error.to_string()).cause
            )
        })
        .collect();
    of_each.join(", ")
}

impl From<&BootError> for Refusal {
    fn from(error: &BootError) -> Self {
        let kind = match error {
            BootError::Busy(error) => return Self::from(error),
            BootError::File { .. } | BootError::State { .. } | BootError::StateDirectory(_) => {
                RefusalKind::Disk
            }
            BootError::GivenUp { .. } | BootError::Restart(_) | BootError::Kexec(_) => {
                RefusalKind::Step
            }
            _ => RefusalKind::Request,
        };
        refusal(kind, &error.to_string())
    }
}
