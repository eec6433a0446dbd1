//! From the settings of a boot to a kernel and its command line, and back: the release that the
//! guest says it runs.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use knobstat_agent::{BootChange, Unavailable, boot_change};
use knobstat_data::experiment::VirtualMachine;
use knobstat_data::messages::Availability;
use knobstat_data::words::{Level, Setting};
use thiserror::Error;

use crate::kernels::{Cache, Kernel, KernelError};

/// The knob whose levels are names of kernels here, and releases in the guest.
const KERNEL: &str = "kernel";

/// Why there is no such boot.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{reason}; {remedy}")]
pub struct BootsError {
    /// Why, in one sentence.
    pub reason: String,
    /// What would make it possible.
    pub remedy: String,
}

impl From<Unavailable> for BootsError {
    fn from(unavailable: Unavailable) -> Self {
        Self {
            reason: unavailable.reason,
            remedy: unavailable
                .remedy
                .unwrap_or_else(|| "leave that level out".to_owned()),
        }
    }
}

impl From<KernelError> for BootsError {
    fn from(error: KernelError) -> Self {
        let sentence = error.to_string();
        let (reason, remedy) = sentence
            .split_once("; ")
            .unwrap_or((&sentence, "leave it out"));
        Self {
            reason: reason.to_owned(),
            remedy: remedy.to_owned(),
        }
    }
}

/// What is booted for some settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Boot {
    /// The kernel's image.
    pub kernel: PathBuf,
    /// The words of its command line.
    pub append: String,
    /// The files of the modules that are loaded, in order.
    pub modules: Vec<PathBuf>,
}

/// Every boot that a machine can have.
#[derive(Clone, Debug)]
pub struct Boots {
    cache: Cache,
    directory: PathBuf,
    base: Kernel,
    append: String,
    modules: Vec<String>,
}

impl Boots {
    /// The boots of a machine.
    ///
    /// # Errors
    /// When there is no kernel of the name that it asks for, or none at all.
    pub fn new(
        machine: &VirtualMachine,
        directory: PathBuf,
        cache: Cache,
    ) -> Result<Self, BootsError> {
        let mut boots = Self {
            base: Kernel {
                name: String::new(),
                image: PathBuf::new(),
                config: None,
                modules: None,
            },
            append: machine.append.clone(),
            modules: machine.modules.clone(),
            cache,
            directory,
        };
        boots.base = match &machine.kernel {
            Some(name) => boots.kernel(name)?,
            None => boots.cache.newest()?,
        };
        Ok(boots)
    }

    /// What is booted for these settings.
    ///
    /// # Errors
    /// When there is no such kernel, it lacks a module, or no word of the command line makes a
    /// level.
    pub fn of(&self, settings: &[Setting]) -> Result<Boot, BootsError> {
        let changes: Vec<BootChange> = settings
            .iter()
            .map(boot_change)
            .collect::<Result<_, Unavailable>>()?;
        let mut kernel = self.base.clone();
        let mut is_asked_for = false;
        for change in &changes {
            match change {
                BootChange::Kernel(name) => kernel = self.kernel(name)?,
                BootChange::BaseKernel => kernel = self.base.clone(),
                _ => continue,
            }
            is_asked_for = true;
        }
        let mut words: Vec<&str> = self.append.split_whitespace().collect();
        let mut added: Vec<String> = Vec::new();
        for change in &changes {
            match change {
                BootChange::Kernel(_) | BootChange::BaseKernel => {}
                BootChange::TickRate(hz) if kernel.hz() == Some(*hz) => {}
                // Where nobody knows its tick rate, the guest itself will say.
                BootChange::TickRate(_) if is_asked_for && kernel.hz().is_none() => {}
                BootChange::TickRate(hz) if is_asked_for => {
                    return Err(BootsError {
                        reason: format!(
                            "the kernel {} was not built for {hz} ticks a second",
                            kernel.name
                        ),
                        remedy: "exclude that combination, or vary one of the two".to_owned(),
                    });
                }
                BootChange::TickRate(hz) => kernel = self.cache.with_hz(*hz)?,
                BootChange::Word { name, value } => {
                    words.retain(|word| !is_named(word, name));
                    added.retain(|word| !is_named(word, name));
                    added.push(match value {
                        Some(value) => format!("{name}={value}"),
                        None => name.clone(),
                    });
                }
                BootChange::NoWord { name } => words.retain(|word| !is_named(word, name)),
            }
        }
        words.extend(added.iter().map(String::as_str));
        let modules = self.modules.iter();
        Ok(Boot {
            append: words.join(" "),
            modules: modules
                .map(|name| self.module(name, &kernel))
                .collect::<Result<_, KernelError>>()?,
            kernel: kernel.image,
        })
    }

    /// The name of the machine's own kernel.
    pub fn kernel_name(&self) -> &str {
        &self.base.name
    }

    /// Whether a level of a factor that needs a boot can be had by booting so.
    pub fn availability(&self, setting: &Setting) -> Availability {
        match self.of(std::slice::from_ref(setting)) {
            Ok(_) => Availability::Available,
            Err(error) => Availability::Unavailable {
                reason: error.reason,
                remedy: Some(error.remedy),
            },
        }
    }

    /// The file of a module: one that is named by its path, or one of the kernel.
    fn module(&self, name: &str, kernel: &Kernel) -> Result<PathBuf, KernelError> {
        if name.contains('/') || name.ends_with(".ko") && self.directory.join(name).is_file() {
            Ok(self.directory.join(name))
        } else {
            kernel.module(name)
        }
    }

    /// Why no boot has these settings together.
    pub fn cannot(&self, settings: &[Setting]) -> Option<String> {
        Some(self.of(settings).err()?.to_string())
    }

    /// A setting as the guest reads it: a kernel is its release there.
    pub fn in_guest(&self, setting: &Setting) -> Setting {
        if setting.factor != KERNEL {
            return setting.clone();
        }
        let name = setting.level.to_string();
        let kernel = match name.as_str() {
            "base" => Ok(self.base.clone()),
            name => self.kernel(name),
        };
        let release = kernel.ok().and_then(|kernel| release(&kernel.image).ok());
        Setting {
            factor: setting.factor.clone(),
            // A release that cannot be found out matches none.
            level: Level::text(release.unwrap_or(name)),
        }
    }

    /// A kernel by its path, where it has a slash, or by its name in the cache.
    fn kernel(&self, name: &str) -> Result<Kernel, BootsError> {
        if !name.contains('/') {
            return Ok(self.cache.find(name)?);
        }
        let image = self.directory.join(name);
        match release(&image) {
            Ok(_) => Ok(Kernel {
                name: name.to_owned(),
                image,
                config: None,
                modules: None,
            }),
            Err(error) => Err(BootsError {
                reason: format!(
                    "{} is no kernel that can be booted ({error})",
                    image.display()
                ),
                remedy: "name the bzImage of an x86-64 kernel".to_owned(),
            }),
        }
    }
}

/// Whether a word of a command line has this name; dashes and underscores are the same.
fn is_named(word: &str, name: &str) -> bool {
    let same = |text: &str| text.replace('-', "_");
    same(word.split('=').next().unwrap_or(word)) == same(name)
}

/// The release that a kernel's image says it is (the x86 boot protocol: the signature `HdrS` at
/// 202h, and at 20Eh where the version's text begins, less 200h).
fn release(image: &Path) -> io::Result<String> {
    const SIGNATURE_AT: u64 = 0x202;
    const VERSION_AT: u64 = 0x20e;
    const TEXT_BASE: u64 = 0x200;
    let no_kernel = || io::Error::other("it does not begin as a kernel does");
    let file = File::open(image)?;
    let mut signature = [0; 4];
    file.read_exact_at(&mut signature, SIGNATURE_AT)
        .map_err(|_| no_kernel())?;
    if &signature != b"HdrS" {
        return Err(no_kernel());
    }
    let mut offset = [0; 2];
    file.read_exact_at(&mut offset, VERSION_AT)?;
    let mut text = [0; 128];
    let length = file.read_at(&mut text, TEXT_BASE + u64::from(u16::from_le_bytes(offset)))?;
    let text = String::from_utf8_lossy(&text[..length]);
    let release = text.split(['\0', ' ']).next().unwrap_or_default();
    if release.is_empty() {
        Err(no_kernel())
    } else {
        Ok(release.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The beginning of an image that says that it is this release.
    fn image(release: &str) -> Vec<u8> {
        let mut bytes = vec![0; 0x400];
        bytes[0x202..0x206].copy_from_slice(b"HdrS");
        bytes[0x20e..0x210].copy_from_slice(&0x100u16.to_le_bytes());
        let text = format!("{release} (somebody@somewhere) #1 SMP\0");
        bytes[0x300..0x300 + text.len()].copy_from_slice(text.as_bytes());
        bytes
    }

    fn cache() -> (tempfile::TempDir, Cache) {
        let directory = tempfile::tempdir().unwrap();
        for hz in [250, 1000] {
            let name = format!("hz{hz}");
            let image = image(&format!("6.1.1-{name}"));
            std::fs::write(Cache::image_in(directory.path(), &name), image).unwrap();
            let config = format!("CONFIG_HZ={hz}\n");
            std::fs::write(Cache::config_in(directory.path(), &name), config).unwrap();
        }
        let cache = Cache::of([directory.path().to_owned()]);
        (directory, cache)
    }

    fn boots(append: &str) -> (tempfile::TempDir, Boots) {
        let (directory, cache) = cache();
        let machine = VirtualMachine {
            kernel: Some("hz250".to_owned()),
            append: append.to_owned(),
            ..VirtualMachine::default()
        };
        let boots = Boots::new(&machine, directory.path().to_owned(), cache).unwrap();
        (directory, boots)
    }

    #[test]
    fn settings_become_a_kernel_and_words() {
        let (directory, boots) = boots("nohz=off highres=off");
        let boot = boots
            .of(&[Setting::new("hz", 1000), Setting::new("nohz", "on")])
            .unwrap();
        assert_eq!(boot.kernel, directory.path().join("bzImage-hz1000"));
        assert_eq!(boot.append, "highres=off nohz=on");
        let boot = boots
            .of(&[Setting::new("hz", 250), Setting::new("highres", "absent")])
            .unwrap();
        assert_eq!(boot.kernel, directory.path().join("bzImage-hz250"));
        assert_eq!(boot.append, "nohz=off");
        let boot = boots
            .of(&[Setting::new("cmdline:nosmt", "present")])
            .unwrap();
        assert_eq!(boot.append, "nohz=off highres=off nosmt");
    }

    #[test]
    fn what_cannot_be_booted_says_why() {
        let (_directory, boots) = boots("");
        for (settings, part) in [
            (vec![Setting::new("hz", 300)], "300 ticks"),
            (
                vec![Setting::new("kernel", "mainline")],
                "no kernel \"mainline\"",
            ),
            (
                vec![Setting::new("kernel", "hz250"), Setting::new("hz", 1000)],
                "the kernel hz250 was not built for 1000",
            ),
            (
                vec![Setting::new("hz", 1000), Setting::new("kernel", "base")],
                "the kernel hz250 was not built for 1000",
            ),
            (vec![Setting::new("kernel", "./none")], "is no kernel"),
        ] {
            let error = boots.of(&settings).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
        assert!(matches!(
            boots.availability(&Setting::new("hz", 300)),
            Availability::Unavailable {
                remedy: Some(_),
                ..
            }
        ));
        assert_eq!(
            boots.availability(&Setting::new("hz", 1000)),
            Availability::Available
        );
    }

    #[test]
    fn a_kernel_whose_tick_rate_nobody_knows_is_left_to_say_it() {
        let (directory, boots) = boots("");
        std::fs::write(directory.path().join("bzImage"), image("6.1.1")).unwrap();
        let settings = [Setting::new("kernel", "./bzImage"), Setting::new("hz", 300)];
        let boot = boots.of(&settings).unwrap();
        assert_eq!(boot.kernel, directory.path().join("./bzImage"));
    }

    #[test]
    fn each_kernel_has_modules_of_its_own() {
        let (directory, cache) = cache();
        let with = ["hz1000", "other"];
        std::fs::write(
            Cache::image_in(directory.path(), "other"),
            image("6.1.1-other"),
        )
        .unwrap();
        for name in with {
            let modules = Cache::modules_in(directory.path(), name).join("kernel");
            std::fs::create_dir_all(&modules).unwrap();
            std::fs::write(modules.join("acpi-cpufreq.ko"), name).unwrap();
        }
        std::fs::write(directory.path().join("own.ko"), "own").unwrap();
        let machine = VirtualMachine {
            kernel: Some("hz250".to_owned()),
            modules: vec!["acpi_cpufreq".to_owned(), "own.ko".to_owned()],
            ..VirtualMachine::default()
        };
        let boots = Boots::new(&machine, directory.path().to_owned(), cache).unwrap();
        for (setting, name) in [
            (Setting::new("hz", 1000), "hz1000"),
            (Setting::new("kernel", "other"), "other"),
        ] {
            let modules = boots.of(&[setting]).unwrap().modules;
            let read = |path: &PathBuf| std::fs::read_to_string(path).unwrap();
            let contents: Vec<String> = modules.iter().map(read).collect();
            assert_eq!(contents, [name, "own"]);
        }
        let lacking = boots.availability(&Setting::new("kernel", "base"));
        let Availability::Unavailable { reason, .. } = lacking else {
            panic!("the kernel hz250 has no modules");
        };
        assert!(
            reason.contains("\"hz250\" has no module \"acpi_cpufreq\""),
            "{reason}"
        );
    }

    #[test]
    fn a_kernel_is_its_release_in_the_guest() {
        let (_directory, boots) = boots("");
        let seen = |level: &str| {
            let setting = boots.in_guest(&Setting::new("kernel", level));
            setting.level.to_string()
        };
        assert_eq!(seen("hz1000"), "6.1.1-hz1000");
        assert_eq!(seen("base"), "6.1.1-hz250");
        let other = Setting::new("nohz", "off");
        assert_eq!(boots.in_guest(&other), other);
    }

    proptest! {
        #[test]
        fn a_word_is_on_the_line_once_with_its_last_value(
            append in "([a-c][-_]?[a-c](=[a-z]{1,3})? ){0,5}",
            name in "[a-c][-_]?[a-c]",
            values in prop::collection::vec("[a-z]{1,3}", 1..4),
        ) {
            let (_directory, boots) = boots(&append);
            let settings: Vec<Setting> = values
                .iter()
                .map(|value| Setting::new(format!("cmdline:{name}"), value.as_str()))
                .collect();
            let boot = boots.of(&settings).unwrap();
            let named: Vec<&str> = boot
                .append
                .split_whitespace()
                .filter(|word| is_named(word, &name))
                .collect();
            let last = values.last().unwrap();
            // `present` and `absent` are levels of their own and too long to be drawn.
            prop_assert_eq!(named, [format!("{name}={last}")]);
        }
    }
}
