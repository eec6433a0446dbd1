//! systemd-boot: its entries and its variables.

use super::machine::{Machine, WORDS, nohz};

const INTERFACE: &str = "sys/firmware/efi/efivars/";
const IDENTITY: &str = "-4a67b082-0a4c-41cf-b6c7-440b29bb8c4f";

impl Machine {
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

    fn write_variable(&self, name: &str, text: &str) {
        let mut bytes = vec![7, 0, 0, 0];
        bytes.extend(text.encode_utf16().chain([0]).flat_map(u16::to_le_bytes));
        let path = self.path(&format!("{INTERFACE}{name}{IDENTITY}"));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
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
