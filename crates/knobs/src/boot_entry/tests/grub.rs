//! GRUB: its entries, its environment, and where it could not clear an order.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;

use knobstat_data::words::Setting;

use super::machine::{MOUNTS, Machine, WORDS, nohz};
use crate::boot_entry::grub_environment::GrubEnvironment;
use crate::boot_entry::{BootError, Restart, Standing};

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

impl Machine {
    /// One whose loader is GRUB.
    pub fn with_grub() -> Self {
        let machine = Self::new();
        machine.write("boot/grub/grub.cfg", GRUB);
        machine.write_environment("saved_entry=gnulinux-a\n");
        machine
    }

    fn write_environment(&self, variables: &str) {
        let mut text = format!("# GRUB Environment Block\n{variables}");
        text.push_str(&"#".repeat(1024 - text.len()));
        self.write("boot/grub/grubenv", &text);
    }

    fn environment(&self) -> GrubEnvironment {
        GrubEnvironment::parse(self.read("boot/grub/grubenv").as_bytes()).unwrap()
    }

    /// The machine starts anew and its loader is GRUB.
    pub fn grub_boots(&mut self) {
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
}

#[test]
fn grub_boots_each_boot_once_and_its_default_stays() {
    let mut machine = Machine::with_grub();
    machine.write("boot/grub/custom.cfg", "set timeout=3\n");
    let secret = Permissions::from_mode(0o600);
    std::fs::set_permissions(machine.path("boot/grub/custom.cfg"), secret).unwrap();
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
