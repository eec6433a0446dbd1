//! What a level of a knob that is decided at boot asks of a boot: a kernel, or a word of its
//! command line.
//!
//! For whoever starts kernels; nothing is read or written here.

use knobstat_data::words::Setting;

use crate::availability::Unavailable;
use crate::catalogue::{Fact, Mechanism};
use crate::knob::Knob;
use crate::special::kernel_fact::{ABSENT, BASE, NOTHING, PRESENT};

/// What a level asks of a boot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BootChange {
    /// This kernel, by the name that whoever boots it knows it by.
    Kernel(String),
    /// The kernel that is booted where nothing is asked for.
    BaseKernel,
    /// A kernel of so many ticks a second.
    TickRate(u32),
    /// A word of the command line, with its value where it has one.
    Word {
        /// The word.
        name: String,
        /// What follows its `=`.
        value: Option<String>,
    },
    /// The absence of a word from the command line.
    NoWord {
        /// The word.
        name: String,
    },
}

/// What a setting asks of a boot.
///
/// # Errors
/// When it is nothing that the kernel's command line or the choice of a kernel decides.
pub fn boot_change(setting: &Setting) -> Result<BootChange, Unavailable> {
    let knob = Knob::find(&setting.factor, &[]);
    let entry = knob.as_ref().and_then(Knob::entry);
    let level = setting.level.to_string();
    let word = |name: &str, value: &str| BootChange::Word {
        name: name.to_owned(),
        value: Some(value.to_owned()),
    };
    let fact = match entry.map(|entry| &entry.mechanism) {
        Some(Mechanism::KernelFact { fact }) => fact,
        _ => {
            return Err(Unavailable::new(
                format!("what {} is at boot is not known here", setting.factor),
                "vary a word of the kernel's command line instead, as cmdline:NAME",
            ));
        }
    };
    Ok(match fact {
        Fact::Release if level == BASE => BootChange::BaseKernel,
        Fact::Release => BootChange::Kernel(level),
        Fact::Hz => match level.parse() {
            Ok(hz) => BootChange::TickRate(hz),
            Err(_) => {
                return Err(Unavailable::new(
                    format!("{level} is no tick rate"),
                    "give ticks a second, as 250",
                ));
            }
        },
        Fact::StopsIdleTick => word("nohz", &level),
        Fact::KeepsIdleTick if level == "on" => word("nohz", "off"),
        Fact::KeepsIdleTick => word("nohz", "on"),
        Fact::CommandLine(name) => of_word(name, &level, ABSENT),
        Fact::File {
            parameter: Some(name),
            ..
        } => of_word(name, &level, NOTHING),
        Fact::File {
            parameter: None, ..
        } => {
            let remedy = entry.and_then(|entry| entry.remedies.get(&level).cloned());
            return Err(Unavailable {
                reason: format!("no single word of the kernel's command line makes {setting}"),
                remedy: Some(remedy.unwrap_or_else(|| {
                    "vary a word of the kernel's command line instead, as cmdline:NAME".to_owned()
                })),
            });
        }
    })
}

fn of_word(name: &str, level: &str, absent: &str) -> BootChange {
    let name = name.to_owned();
    if level == absent {
        BootChange::NoWord { name }
    } else {
        BootChange::Word {
            name,
            value: (level != PRESENT).then(|| level.to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(factor: &str, level: &str) -> BootChange {
        boot_change(&Setting::new(factor, level)).unwrap()
    }

    fn word(name: &str, value: Option<&str>) -> BootChange {
        BootChange::Word {
            name: name.to_owned(),
            value: value.map(str::to_owned),
        }
    }

    #[test]
    fn each_knob_of_the_boot_has_its_word() {
        assert_eq!(change("hz", "1000"), BootChange::TickRate(1000));
        assert_eq!(
            change("kernel", "hz250"),
            BootChange::Kernel("hz250".to_owned())
        );
        assert_eq!(change("kernel", "base"), BootChange::BaseKernel);
        assert_eq!(change("nohz", "off"), word("nohz", Some("off")));
        assert_eq!(change("idletick", "on"), word("nohz", Some("off")));
        assert_eq!(change("idletick", "off"), word("nohz", Some("on")));
        assert_eq!(change("highres", "off"), word("highres", Some("off")));
        assert_eq!(change("hpet", "disable"), word("hpet", Some("disable")));
        assert_eq!(change("threadirqs", "present"), word("threadirqs", None));
        assert_eq!(change("cmdline:nosmt", "present"), word("nosmt", None));
        assert_eq!(change("isolcpus", "1"), word("isolcpus", Some("1")));
        let absent = |name: &str| BootChange::NoWord {
            name: name.to_owned(),
        };
        assert_eq!(change("highres", "absent"), absent("highres"));
        assert_eq!(change("isolcpus", "none"), absent("isolcpus"));
    }

    #[test]
    fn what_no_word_makes_is_refused_with_a_remedy() {
        for (factor, level) in [
            ("idle_driver", "acpi_idle"),
            ("hz", "many"),
            ("fan", "fast"),
        ] {
            let refused = boot_change(&Setting::new(factor, level)).unwrap_err();
            assert!(refused.remedy.is_some(), "{factor}");
        }
    }
}
