//! A machine laid out in a tree, and booted by hand: the test plays boot loader and kernel.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use knobstat_data::messages::{Boot, BootName, MayReboot, Resume};
use knobstat_data::words::Setting;
use knobstat_sys::root::Root;

use crate::boot_entry::{BootError, Boots, Standing};
use crate::knob::Refused;
use crate::state_directory::StateDirectory;

/// The kernel's command line as the machine boots by itself.
pub const WORDS: &str = "root=UUID=1 ro quiet";

/// The machine's mounts.
pub const MOUNTS: &str = "22 1 8:2 / / rw - ext4 /dev/sda2 rw\n";

/// A machine, and its state beside it.
pub struct Machine {
    pub tree: tempfile::TempDir,
    pub state: tempfile::TempDir,
    /// How many times it was booted.
    pub boots: u32,
}

/// Every file of a tree with its mode and content, and every link.
pub type Content = BTreeMap<String, Vec<u8>>;

impl Machine {
    /// Kernels `6.1-a` (250 Hz, runs) and `6.1-b` (1000 Hz).
    pub fn new() -> Self {
        let machine = Self {
            tree: tempfile::tempdir().unwrap(),
            state: tempfile::tempdir().unwrap(),
            boots: 0,
        };
        for (release, hz) in [("6.1-a", 250), ("6.1-b", 1000)] {
            machine.write(&format!("boot/vmlinuz-{release}"), "kernel");
            machine.write(
                &format!("boot/config-{release}"),
                &format!("CONFIG_HZ={hz}\n"),
            );
        }
        machine.write("boot/initrd.img-6.1-a", "initrd");
        machine.write("etc/systemd/system/other.service", "[Unit]\n");
        machine.write("proc/self/mountinfo", MOUNTS);
        machine.comes_up("6.1-a", WORDS, 0);
        machine
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.tree.path().join(path)
    }

    pub fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.path(path)).unwrap()
    }

    pub fn comes_up(&self, release: &str, words: &str, boot: u32) {
        self.write("proc/sys/kernel/osrelease", &format!("{release}\n"));
        self.write("proc/cmdline", &format!("BOOT_IMAGE=/boot/v {words}\n"));
        self.write("proc/sys/kernel/random/boot_id", &format!("boot {boot}\n"));
    }

    pub fn boots(&self) -> Boots {
        let root = Root::laid_out(self.tree.path()).unwrap();
        let directory = StateDirectory::beneath(self.state.path(), &root).unwrap();
        Boots::new(root, directory, Refused(true), "/usr/bin/knobstat".into())
    }

    /// Asks for a boot with a setting, by whatever can.
    pub fn be_in(
        &self,
        place: (usize, usize),
        settings: &[Setting],
    ) -> Result<Standing, BootError> {
        self.boots().be_in(&Boot {
            name: BootName {
                experiment: "0123456789ab".parse().unwrap(),
                block: place.0,
                boot: place.1,
            },
            settings: settings.to_vec(),
            may: MayReboot::default(),
            resume: Resume {
                arguments: vec!["run".to_owned(), "file.toml".to_owned()],
                directory: "/home/me".to_owned(),
                environment: vec![("SUDO_UID".to_owned(), "1000".to_owned())],
            },
        })
    }

    pub fn is_here(&self, place: (usize, usize), settings: &[Setting]) -> bool {
        matches!(self.be_in(place, settings), Ok(Standing::Here))
    }

    pub fn command_line(&self) -> String {
        self.read("proc/cmdline")
    }

    /// What a reboot does not change, in the tree and in the state.
    pub fn content(&self) -> Content {
        let mut content = Content::new();
        for base in [self.tree.path(), self.state.path()] {
            gather(base, base, &mut content);
        }
        content.retain(|path, _| !path.starts_with("proc/"));
        content
    }
}

fn gather(base: &Path, directory: &Path, content: &mut Content) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.strip_prefix(base).unwrap().display().to_string();
        if path.is_symlink() {
            let target = std::fs::read_link(&path).unwrap();
            content.insert(name, target.display().to_string().into_bytes());
        } else if path.is_dir() {
            content.insert(name, b"directory".to_vec());
            gather(base, &path, content);
        } else {
            let mode = path.metadata().unwrap().permissions().mode();
            let mut entry = format!("{mode:o} ").into_bytes();
            entry.extend(std::fs::read(&path).unwrap());
            content.insert(name, entry);
        }
    }
}

/// A setting that any loader can boot with.
pub fn nohz(level: &str) -> [Setting; 1] {
    [Setting::new("nohz", level)]
}
