//! Machines laid out in trees, and booted by hand: the test plays boot loader and kernel.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use knobstat_data::messages::{Boot, BootLoader, BootName, MayReboot, Resume};
use knobstat_data::words::Setting;
use knobstat_sys::root::Root;

use super::grub_environment::GrubEnvironment;
use super::{BootError, Boots, Restart, Standing};
use crate::knob::Refused;
use crate::state_directory::StateDirectory;

const WORDS: &str = "root=UUID=1 ro quiet";
const GRUB: &str = "\
if [ \"${next_entry}\" ] ; then
   set default=\"${next_entry}\"
   set next_entry=
   save_env next_entry
fi
menuentry 'Debian' $menuentry_id_option 'gnulinux-a' {
\tsearch --no-floppy --fs-uuid --set=root 1
\tlinux\t/boot/vmlinuz-6.1-a root=UUID=1 ro quiet
\tinitrd\t/boot/initrd.img-6.1-a
}
menuentry 'Debian, other' $menuentry_id_option 'gnulinux-b' {
\tlinux\t/boot/vmlinuz-6.1-b root=UUID=1 ro quiet
}
if [ -f  ${config_directory}/custom.cfg ]; then
  source ${config_directory}/custom.cfg
fi
";
const MOUNTS: &str = "22 1 8:2 / / rw - ext4 /dev/sda2 rw\n";
const INTERFACE: &str = "sys/firmware/efi/efivars/";
const IDENTITY: &str = "-4a67b082-0a4c-41cf-b6c7-440b29bb8c4f";

/// A machine, and its state beside it.
struct Machine {
    tree: tempfile::TempDir,
    state: tempfile::TempDir,
    boots: u32,
}

/// Every file and link of a tree with its content.
type Content = BTreeMap<String, Vec<u8>>;

impl Machine {
    /// Kernels `6.1-a` (250 Hz, runs) and `6.1-b` (1000 Hz).
    fn new() -> Self {
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

    fn with_grub() -> Self {
        let machine = Self::new();
        machine.write("boot/grub/grub.cfg", GRUB);
        machine.write_environment("saved_entry=gnulinux-a\n");
        machine
    }

    fn with_systemd_boot() -> Self {
        let machine = Self::new();
        machine.write_variable("LoaderInfo", "systemd-boot 252");
        machine.write_variable("LoaderEntrySelected", "a.conf");
        machine.write(
            "efi/loader/entries/a.conf",
            "title A\nlinux /vmlinuz-6.1-a\ninitrd /initrd.img-6.1-a\noptions root=UUID=1 ro quiet\n",
        );
        machine.write("efi/loader/loader.conf", "default a.conf\n");
        machine
    }

    fn path(&self, path: &str) -> std::path::PathBuf {
        self.tree.path().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.path(path)).unwrap()
    }

    fn write_environment(&self, variables: &str) {
        let mut text = format!("# GRUB Environment Block\n{variables}");
        text.push_str(&"#".repeat(1024 - text.len()));
        self.write("boot/grub/grubenv", &text);
    }

    fn environment(&self) -> GrubEnvironment {
        GrubEnvironment::parse(self.read("boot/grub/grubenv").as_bytes()).unwrap()
    }

    fn write_variable(&self, name: &str, text: &str) {
        let mut bytes = vec![7, 0, 0, 0];
        bytes.extend(text.encode_utf16().chain([0]).flat_map(u16::to_le_bytes));
        let path = self.path(&format!("{INTERFACE}{name}{IDENTITY}"));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    fn comes_up(&self, release: &str, words: &str, boot: u32) {
        self.write("proc/sys/kernel/osrelease", &format!("{release}\n"));
        self.write("proc/cmdline", &format!("BOOT_IMAGE=/boot/v {words}\n"));
        self.write("proc/sys/kernel/random/boot_id", &format!("boot {boot}\n"));
    }

    /// The machine starts anew and its loader is GRUB.
    fn grub_boots(&mut self) {
        self.boots += 1;
        let mut environment = self.environment();
        let order = environment
            .get("next_entry")
            .filter(|order| !order.is_empty());
        let Some(order) = order else {
            self.comes_up("6.1-a", WORDS, self.boots);
            return;
        };
        environment.set("next_entry", "").unwrap();
        std::fs::write(self.path("boot/grub/grubenv"), environment.to_bytes()).unwrap();
        let custom = self.read("boot/grub/custom.cfg");
        let (_, entry) = custom.split_once(&format!("--id {order} {{")).unwrap();
        let line = entry
            .lines()
            .map(str::trim)
            .find_map(|line| line.strip_prefix("linux"))
            .unwrap();
        let words: Vec<String> = line
            .split_whitespace()
            .map(|word| word.trim_matches('\'').to_owned())
            .collect();
        let release = words[0].split_once("vmlinuz-").unwrap().1;
        self.comes_up(release, &words[1..].join(" "), self.boots);
    }

    /// The machine starts anew and its loader is systemd-boot.
    fn systemd_boot_boots(&mut self) {
        self.boots += 1;
        let order = self.path(&format!("{INTERFACE}LoaderEntryOneShot{IDENTITY}"));
        if !order.exists() {
            self.comes_up("6.1-a", WORDS, self.boots);
            return;
        }
        std::fs::remove_file(order).unwrap();
        let entry = self.read("efi/loader/entries/knobstat-one-boot.conf");
        let options = entry.lines().find_map(|line| line.strip_prefix("options "));
        self.comes_up("6.1-a", options.unwrap(), self.boots);
    }

    fn boots(&self) -> Boots {
        let root = Root::laid_out(self.tree.path()).unwrap();
        let directory = StateDirectory::beneath(self.state.path(), &root).unwrap();
        Boots::new(root, directory, Refused(true), "/usr/bin/knobstat".into())
    }

    /// Asks for a boot with a setting, by whatever can.
    fn be_in(&self, place: (usize, usize), settings: &[Setting]) -> Result<Standing, BootError> {
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

    fn is_here(&self, place: (usize, usize), settings: &[Setting]) -> bool {
        matches!(self.be_in(place, settings), Ok(Standing::Here))
    }

    fn command_line(&self) -> String {
        self.read("proc/cmdline")
    }

    /// What a reboot does not change, in the tree and in the state.
    fn content(&self) -> Content {
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
            content.insert(name, std::fs::read(&path).unwrap());
        }
    }
}

fn nohz(level: &str) -> [Setting; 1] {
    [Setting::new("nohz", level)]
}

#[test]
fn grub_boots_each_boot_once_and_its_default_stays() {
    let mut machine = Machine::with_grub();
    machine.write("boot/grub/custom.cfg", "set timeout=3\n");
    let before = machine.content();
    let Standing::Ordered(ordered) = machine.be_in((0, 0), &nohz("off")).unwrap() else {
        panic!("the machine was not booted so");
    };
    assert_eq!(ordered.restart, Restart::Firmware);
    assert_eq!(
        machine.environment().get("saved_entry").as_deref(),
        Some("gnulinux-a")
    );
    assert_eq!(machine.read("boot/grub/grub.cfg"), GRUB);
    drop(ordered);

    machine.grub_boots();
    assert_eq!(
        machine.command_line(),
        "BOOT_IMAGE=/boot/v root=UUID=1 ro quiet nohz=off panic=10 \
         knobstat.boot=0123456789ab-0-0-1\n"
    );
    assert!(machine.is_here((0, 0), &nohz("off")));
    // The same boot again, after the program was killed in it.
    assert!(machine.is_here((0, 0), &nohz("off")));
    // The next boot, from within this one: what this one added is not in it.
    let hz = [Setting::new("hz", 1000), Setting::new("highres", "off")];
    assert!(!machine.is_here((0, 1), &hz));
    machine.grub_boots();
    assert_eq!(machine.read("proc/sys/kernel/osrelease"), "6.1-b\n");
    assert_eq!(
        machine.command_line(),
        "BOOT_IMAGE=/boot/v root=UUID=1 ro quiet highres=off panic=10 \
         knobstat.boot=0123456789ab-0-1-1\n"
    );
    assert!(machine.is_here((0, 1), &hz));
    // The same settings in another block are another boot.
    assert!(!machine.is_here((1, 0), &hz));
    machine.grub_boots();
    assert!(machine.is_here((1, 0), &hz));

    let ended = machine.boots().end().unwrap();
    let restart = ended.restart.map(|ordered| ordered.restart);
    assert_eq!(restart, Some(Restart::Firmware), "{:?}", ended.sentences);
    assert_eq!(machine.content(), before);
    machine.grub_boots();
    assert_eq!(
        machine.command_line(),
        "BOOT_IMAGE=/boot/v root=UUID=1 ro quiet\n"
    );
    assert!(machine.boots().end().unwrap().sentences.is_empty());
}

#[test]
fn systemd_boot_boots_each_boot_once_and_its_default_stays() {
    let mut machine = Machine::with_systemd_boot();
    let before = machine.content();
    assert!(!machine.is_here((0, 0), &nohz("off")));
    assert_eq!(machine.read("efi/loader/loader.conf"), "default a.conf\n");
    machine.systemd_boot_boots();
    assert!(machine.is_here((0, 0), &nohz("off")));
    assert!(
        machine
            .command_line()
            .contains("nohz=off panic=10 knobstat.boot=")
    );
    assert!(!machine.is_here((0, 1), &nohz("on")));
    assert_eq!(machine.boots().traces().len(), 5);
    machine.boots().remove_traces().unwrap();
    assert_eq!(machine.content(), before);
    machine.systemd_boot_boots();
    assert!(!machine.boots().is_in_a_boot());
}

#[test]
fn kexec_needs_no_entry() {
    let machine = Machine::new();
    machine.write("sys/kernel/kexec_loaded", "0\n");
    let standing = machine.be_in((0, 0), &nohz("off")).unwrap();
    assert!(matches!(standing, Standing::Ordered(ordered) if ordered.restart == Restart::Kexec));
    assert_eq!(machine.read("sys/kernel/kexec_loaded"), "1\n");
    assert!(!machine.path("boot/grub").exists());
    machine.write("sys/kernel/kexec_loaded", "0\n");
    machine.comes_up("6.1-a", "nohz=off knobstat.boot=0123456789ab-0-0-1", 1);
    assert!(machine.is_here((0, 0), &nohz("off")));
}

#[test]
fn three_failed_boots_end_it_and_leave_nothing() {
    let mut machine = Machine::with_grub();
    let before = machine.content();
    for attempt in 1..=3 {
        assert!(!machine.is_here((0, 0), &nohz("off")), "try {attempt}");
        machine.grub_boots();
        // It hung: somebody, or the watchdog, started it anew, and the default came up.
        machine.grub_boots();
    }
    match machine.be_in((0, 0), &nohz("off")) {
        Err(BootError::GivenUp { tries: 3, what, .. }) => assert_eq!(what, "did not come up"),
        other => panic!("{other:?}"),
    }
    assert_eq!(machine.content(), before);
}

#[test]
fn a_boot_that_ends_early_three_times_ends_it_too() {
    let mut machine = Machine::with_grub();
    for _ in 0..3 {
        assert!(!machine.is_here((0, 0), &nohz("off")));
        machine.grub_boots();
        assert!(machine.is_here((0, 0), &nohz("off")));
        machine.grub_boots();
    }
    let ended = machine.be_in((0, 0), &nohz("off"));
    let Err(BootError::GivenUp { what, .. }) = ended else {
        panic!("{ended:?}");
    };
    assert_eq!(what, "ended before its runs were done");
    assert!(machine.boots().traces().is_empty());
}

#[test]
fn an_order_that_grub_did_not_clear_is_taken_back() {
    let mut machine = Machine::with_grub();
    assert!(!machine.is_here((0, 0), &nohz("off")));
    let armed = machine.read("boot/grub/grubenv");
    machine.grub_boots();
    machine.write("boot/grub/grubenv", &armed);
    let ended = machine.be_in((0, 0), &nohz("off"));
    assert!(
        matches!(ended, Err(BootError::NeverCleared { .. })),
        "{ended:?}"
    );
    assert_eq!(machine.environment().get("next_entry"), None);
    assert!(machine.boots().traces().is_empty());
}

/// Each way in which GRUB would boot an order for ever, or has none to give.
#[test]
fn grub_is_refused_where_it_could_not_clear_the_order() {
    type Change = fn(&Machine);
    let refusals: [(&str, Change); 8] = [
        ("cannot be read", |machine| {
            std::fs::remove_file(machine.path("boot/grub/grubenv")).unwrap();
        }),
        ("no environment of GRUB", |machine| {
            machine.write("boot/grub/grubenv", "next_entry=\n");
        }),
        ("which GRUB does not write", |machine| {
            let btrfs = format!("{MOUNTS}30 22 8:1 / /boot rw - btrfs /dev/sda1 rw\n");
            machine.write("proc/self/mountinfo", &btrfs);
        }),
        ("a volume that GRUB does not write", |machine| {
            let volume = "22 1 8:2 / / rw - ext4 /dev/mapper/vg-root rw\n";
            machine.write("proc/self/mountinfo", volume);
        }),
        ("does not take next_entry", |machine| {
            let other = GRUB.replace("save_env next_entry", "");
            machine.write("boot/grub/grub.cfg", &other);
        }),
        ("does not read custom.cfg", |machine| {
            machine.write("boot/grub/grub.cfg", &GRUB.replace("custom", "other"));
        }),
        ("somebody else has ordered", |machine| {
            machine.write_environment("next_entry=memtest\n");
        }),
        ("there is no /boot/grub/grub.cfg", |machine| {
            std::fs::remove_dir_all(machine.path("boot/grub")).unwrap();
        }),
    ];
    for (cause, change) in refusals {
        let machine = Machine::with_grub();
        change(&machine);
        let before = machine.content();
        let error = machine.be_in((0, 0), &nohz("off")).unwrap_err();
        assert!(error.to_string().contains(cause), "{error}");
        assert_eq!(machine.content(), before, "{cause}");
    }
}

#[test]
fn a_read_only_environment_is_refused() {
    let machine = Machine::with_grub();
    let path = machine.path("boot/grub/grubenv");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o400)).unwrap();
    if std::fs::OpenOptions::new().write(true).open(&path).is_ok() {
        // Root writes whatever the mode says: a file that is no file is as closed to it.
        std::fs::remove_file(&path).unwrap();
        std::fs::create_dir(&path).unwrap();
    }
    let error = machine.be_in((0, 0), &nohz("off")).unwrap_err();
    assert!(matches!(error, BootError::NeverCleared { .. }), "{error}");
    assert!(machine.boots().traces().is_empty());
}

#[test]
fn what_no_boot_brings_about_is_told() {
    let machine = Machine::with_grub();
    let refused = |setting: Setting| {
        machine
            .boots()
            .can_boot(BootLoader::Grub, &setting)
            .map_err(|error| error.to_string())
    };
    for setting in [
        Setting::new("nohz", "off"),
        Setting::new("idletick", "on"),
        Setting::new("highres", "absent"),
        Setting::new("hz", 1000),
        Setting::new("kernel", "6.1-b"),
        Setting::new("kernel", "base"),
        Setting::new("cmdline:hpet", "disable"),
        Setting::new("cmdline:quiet", "absent"),
        Setting::new("isolcpus", "none"),
    ] {
        assert_eq!(refused(setting.clone()), Ok(()), "{setting}");
    }
    for (setting, cause) in [
        (Setting::new("hz", 300), "CONFIG_HZ=300"),
        (Setting::new("kernel", "6.9"), "6.9 is not installed"),
        (Setting::new("kernel", "../a"), "is not installed"),
        (Setting::new("cmdline:x", "a b"), "cannot be a word"),
        (Setting::new("clockevent", "hpet"), "no single word"),
        (Setting::new("governor", "performance"), "is not known here"),
    ] {
        let told = refused(setting.clone()).unwrap_err();
        assert!(told.contains(cause), "{setting}: {told}");
    }
}

#[test]
fn a_machine_that_is_still_in_a_boot_is_not_taken_for_itself() {
    let machine = Machine::with_grub();
    machine.comes_up("6.1-a", "nohz=off knobstat.boot=0123456789ab-0-0-1", 1);
    let refused = machine.be_in((0, 0), &nohz("on"));
    assert!(
        matches!(refused, Err(BootError::StillInABoot)),
        "{refused:?}"
    );
}

#[test]
fn an_experiment_in_the_midst_of_its_boots_is_not_disturbed() {
    let machine = Machine::with_grub();
    assert!(!machine.is_here((0, 0), &nohz("off")));
    let before = machine.content();
    let other = machine.boots().be_in(&Boot {
        name: BootName {
            experiment: "ba9876543210".parse().unwrap(),
            block: 0,
            boot: 0,
        },
        settings: nohz("on").to_vec(),
        may: MayReboot::default(),
        resume: Resume::default(),
    });
    assert!(
        matches!(other, Err(BootError::AnotherExperiment(_))),
        "{other:?}"
    );
    assert_eq!(machine.content(), before);
    let resumption = machine.boots().resumption().unwrap().unwrap();
    assert_eq!(resumption.resume.arguments, ["run", "file.toml"]);
    assert_eq!(resumption.program, Path::new("/usr/bin/knobstat"));
}

#[test]
fn what_is_left_is_removed_even_where_nothing_is_known_of_it() {
    let machine = Machine::with_grub();
    let before = machine.content();
    assert!(!machine.is_here((0, 0), &nohz("off")));
    let state = machine
        .content()
        .into_keys()
        .find(|path| path.ends_with("boots.json"))
        .unwrap();
    std::fs::write(machine.state.path().join(state), "torn").unwrap();
    let commands: Vec<String> = machine
        .boots()
        .traces()
        .into_iter()
        .map(|trace| trace.command)
        .collect();
    for (command, what) in commands
        .iter()
        .zip(["grub-editenv ", "rm ", "rm ", "rm ", "rm "])
    {
        assert!(command.starts_with(what), "{commands:?}");
    }
    assert_eq!(commands.len(), 5);
    machine.boots().remove_traces().unwrap();
    let mut after = machine.content();
    // Whether that directory had to be made is not known any more.
    after.remove("etc/systemd/system/multi-user.target.wants");
    assert_eq!(after, before);
}

#[test]
fn the_machine_itself_is_left_alone_where_that_is_asked() {
    let state = tempfile::tempdir().unwrap();
    let boots = Boots::new(
        Root::real(),
        StateDirectory::at(state.path().to_owned()),
        Refused(true),
        "/usr/bin/knobstat".into(),
    );
    let refused = boots.can_reboot(MayReboot::default());
    assert!(matches!(refused, Err(BootError::Refused)), "{refused:?}");
}
