//! kexec, which needs no boot loader.

use super::machine::{Machine, nohz};
use crate::boot_entry::{Restart, Standing};

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
