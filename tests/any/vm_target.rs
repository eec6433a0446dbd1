//! Experiments in guests where there can be no guest: what is said then.

use std::os::unix::fs::symlink;

use crate::support::program::{Place, output};

const EXAMPLE: &str = "examples/clock-sources-vm.toml";

/// A search path on which there is nothing but what starts the program.
fn bare_path(place: &Place) -> std::path::PathBuf {
    let directory = place.path().join("bin");
    std::fs::create_dir(&directory).unwrap();
    symlink("/usr/bin/env", directory.join("env")).unwrap();
    directory
}

#[test]
fn without_qemu_it_is_said_in_one_sentence() {
    let place = Place::new();
    let mut command = place.knobstat();
    command
        .env("PATH", bare_path(&place))
        .args(["run", EXAMPLE]);
    let ended = output(&mut command).must_exit(2);
    let said = ended.stderr();
    assert!(
        said.contains("qemu-system-x86_64 is not installed"),
        "{said}"
    );
    assert!(said.contains("apt install qemu-system-x86"), "{said}");
    assert!(said.lines().count() <= 2, "{said}");
}

#[test]
fn a_plan_needs_neither_qemu_nor_a_kernel() {
    let place = Place::new();
    let mut command = place.knobstat();
    command
        .env("PATH", bare_path(&place))
        .env("KNOBSTAT_KERNEL_CACHE", place.path())
        .env("XDG_CACHE_HOME", place.path())
        .args(["run", "--check", EXAMPLE]);
    let plan = output(&mut command).must_exit(0).stdout();
    for part in [
        "32 treatments in 3 blocks",
        "Boots by hz: 2 in each block",
        "No guest is booted for a plan",
        "None could be booted here: there is no kernel",
        "None could be booted here: qemu-system-x86_64 is not installed",
    ] {
        assert!(plan.contains(part), "{part}\n{plan}");
    }
}

#[test]
fn a_plan_leaves_out_boots_for_which_there_is_no_kernel() {
    let place = Place::new();
    // An image is only looked at when it is booted.
    std::fs::write(place.path().join("bzImage-hz250"), "").unwrap();
    std::fs::write(place.path().join("config-hz250"), "CONFIG_HZ=250\n").unwrap();
    let mut command = place.knobstat();
    command
        .env("KNOBSTAT_KERNEL_CACHE", place.path())
        .env("XDG_CACHE_HOME", place.path())
        .args(["run", "--check", EXAMPLE]);
    let plan = output(&mut command).must_exit(0).stdout();
    assert!(plan.contains("16 of 32 treatments"), "{plan}");
    assert!(
        plan.contains("hz=1000: there is no kernel with 1000 ticks"),
        "{plan}"
    );
    assert!(plan.contains("knobstat vm prepare hz1000"), "{plan}");
}
