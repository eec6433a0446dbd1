//! `knobstat vm shell`: a guest for a look.

use std::io::{Read, Write};
use std::process::{Command, Stdio};

use crate::Test;
use crate::boot::end_late;
use crate::needs::Need;

/// The tests of this group.
pub const TESTS: &[Test] = &[(
    "a_shell_answers_and_turns_the_guest_off",
    &[Need::Guest],
    a_shell_answers_and_turns_the_guest_off,
)];

fn a_shell_answers_and_turns_the_guest_off() {
    let mut qemu = Command::new(env!("CARGO_BIN_EXE_knobstat"))
        .args(["vm", "shell", "--kernel", "debian"])
        .args(["--acpi-table", "idle-states-1cpu"])
        .args(["--module", "acpi-cpufreq"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    end_late(&qemu);
    let mut console = qemu.stdout.take().unwrap();
    let mut said = Vec::new();
    while !String::from_utf8_lossy(&said).contains("guest# ") {
        let mut byte = [0];
        assert_eq!(console.read(&mut byte).unwrap(), 1, "it ended: {said:?}");
        said.push(byte[0]);
    }
    let mut keys = qemu.stdin.take().unwrap();
    keys.write_all(b"lsmod; knobstat --version; echo $((6 * 7)) states\nexit\n")
        .unwrap();
    console.read_to_end(&mut said).unwrap();
    let said = String::from_utf8_lossy(&said);
    for answer in ["acpi_cpufreq ", "knobstat 0.", "42 states"] {
        assert!(said.contains(answer), "{answer:?} is not in\n{said}");
    }
    assert!(qemu.wait().unwrap().success());
}
