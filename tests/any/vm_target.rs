//! Experiments in guests where there can be no guest: what is said then.

use std::os::unix::fs::symlink;
use std::path::Path;

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

/// The plan of an experiment where the cache has kernels of these tick rates.
fn plan_with(place: &Place, rates: &[u32], experiment: &Path) -> String {
    for hz in rates {
        // An image is only looked at when it is booted.
        place.file(&format!("bzImage-hz{hz}"), "");
        place.file(&format!("config-hz{hz}"), &format!("CONFIG_HZ={hz}\n"));
    }
    let mut command = place.knobstat();
    command
        .env("KNOBSTAT_KERNEL_CACHE", place.path())
        .env("XDG_CACHE_HOME", place.path())
        .args(["run", "--check"])
        .arg(experiment);
    output(&mut command).must_exit(0).stdout()
}

fn experiment(factors: &str, target: &str) -> String {
    format!(
        "name = \"boots\"\n[workload]\nkind = \"clock\"\n[factors]\n{factors}\n\
         [target]\nkind = \"vm\"\nkernel = \"hz250\"\n{target}\n"
    )
}

#[test]
fn a_plan_leaves_out_what_no_kernel_is_together() {
    let place = Place::new();
    let file = place.file(
        "both.toml",
        &experiment("hz = [250, 1000]\nkernel = [\"base\", \"hz1000\"]", ""),
    );
    let plan = plan_with(&place, &[250, 1000], &file);
    for part in [
        "2 of 4 treatments",
        "hz=250 kernel=hz1000  left out: the kernel hz1000 was not built for 250",
        "hz=1000 kernel=base  left out: the kernel hz250 was not built for 1000",
        "Boots by hz and kernel: 2 in each block",
    ] {
        assert!(plan.contains(part), "{part}\n{plan}");
    }
}

#[test]
fn a_plan_leaves_out_kernels_without_a_module_that_is_asked_for() {
    let place = Place::new();
    let modules = place.path().join("modules-hz250");
    std::fs::create_dir(&modules).unwrap();
    std::fs::write(modules.join("acpi-cpufreq.ko"), "").unwrap();
    let file = place.file(
        "modules.toml",
        &experiment("hz = [250, 1000]", "modules = [\"acpi-cpufreq\"]"),
    );
    let plan = plan_with(&place, &[250, 1000], &file);
    assert!(plan.contains("1 of 2 treatments"), "{plan}");
    let reason = "hz=1000: the kernel \"hz1000\" has no module \"acpi-cpufreq\"";
    assert!(plan.contains(reason), "{plan}");
}

#[test]
fn a_plan_leaves_out_boots_for_which_there_is_no_kernel() {
    let place = Place::new();
    let plan = plan_with(&place, &[250], Path::new(EXAMPLE));
    assert!(plan.contains("16 of 32 treatments"), "{plan}");
    assert!(
        plan.contains("hz=1000: there is no kernel with 1000 ticks"),
        "{plan}"
    );
    assert!(plan.contains("knobstat vm prepare hz1000"), "{plan}");
}
