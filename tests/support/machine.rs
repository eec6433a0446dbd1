//! A machine laid out in a directory: the files of /sys, /proc and /etc that knobs live in.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::program::Place;

/// A laid-out machine; its files are gone with it.
pub struct Machine {
    directory: tempfile::TempDir,
}

const CLOCK_SOURCE: &str = "sys/devices/system/clocksource/clocksource0";

impl Machine {
    /// A machine of two CPUs with clock sources, a governor, turbo, idle states, SMT and
    /// transparent huge pages: an Intel desktop.
    pub fn desktop() -> Self {
        Self::of_cpus(2)
    }

    /// The same with this many CPUs, all but the first with a switch.
    pub fn of_cpus(cpus: u32) -> Self {
        let machine = Self {
            directory: tempfile::tempdir().expect("a temporary directory"),
        };
        let file = |path: &str, text: &str| machine.write(path, text);
        file(&format!("{CLOCK_SOURCE}/current_clocksource"), "tsc\n");
        file(
            &format!("{CLOCK_SOURCE}/available_clocksource"),
            "tsc hpet acpi_pm \n",
        );
        let cpu = "sys/devices/system/cpu";
        for list in ["online", "possible", "present"] {
            file(&format!("{cpu}/{list}"), &format!("0-{}\n", cpus - 1));
        }
        for number in 0..cpus {
            if number > 0 {
                file(&format!("{cpu}/cpu{number}/online"), "1\n");
            }
            let policy = format!("{cpu}/cpufreq/policy{number}");
            file(&format!("{policy}/scaling_governor"), "powersave\n");
            file(
                &format!("{policy}/scaling_available_governors"),
                "performance powersave\n",
            );
            file(
                &format!("{policy}/energy_performance_preference"),
                "balance_performance\n",
            );
            file(
                &format!("{policy}/energy_performance_available_preferences"),
                "default performance balance_performance balance_power power\n",
            );
            file(&format!("{policy}/affected_cpus"), &format!("{number}\n"));
            for (state, (name, latency)) in
                [("POLL", 0), ("C1", 2), ("C1E", 10), ("C3", 70), ("C6", 85)]
                    .into_iter()
                    .enumerate()
            {
                let directory = format!("{cpu}/cpu{number}/cpuidle/state{state}");
                file(&format!("{directory}/name"), &format!("{name}\n"));
                file(&format!("{directory}/desc"), &format!("{name}\n"));
                file(&format!("{directory}/latency"), &format!("{latency}\n"));
                file(
                    &format!("{directory}/residency"),
                    &format!("{}\n", latency * 3),
                );
                file(&format!("{directory}/disable"), "0\n");
                file(&format!("{directory}/usage"), "1000\n");
                file(&format!("{directory}/time"), "100000\n");
            }
        }
        file(&format!("{cpu}/cpuidle/current_driver"), "intel_idle\n");
        file(&format!("{cpu}/intel_pstate/status"), "active\n");
        file(&format!("{cpu}/intel_pstate/no_turbo"), "0\n");
        file(&format!("{cpu}/intel_pstate/min_perf_pct"), "8\n");
        file(&format!("{cpu}/intel_pstate/max_perf_pct"), "100\n");
        file(&format!("{cpu}/smt/control"), "on\n");
        file(&format!("{cpu}/smt/active"), "1\n");
        file(
            "sys/kernel/mm/transparent_hugepage/enabled",
            "always [madvise] never\n",
        );
        file("proc/sys/kernel/numa_balancing", "1\n");
        file("proc/sys/vm/swappiness", "60\n");
        file("proc/sys/kernel/osrelease", "6.1.0-test\n");
        file("proc/cmdline", "root=/dev/sda1 quiet\n");
        file(
            "proc/cpuinfo",
            "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: Test CPU\nflags\t\t: fpu tsc\n",
        );
        file(
            "boot/config-6.1.0-test",
            "CONFIG_HZ=250\nCONFIG_NO_HZ_IDLE=y\n",
        );
        file("etc/machine-id", "0123456789abcdef0123456789abcdef\n");
        machine
    }

    /// A machine whose kernel offers nothing to turn, as in most containers and guests.
    pub fn bare() -> Self {
        let machine = Self {
            directory: tempfile::tempdir().expect("a temporary directory"),
        };
        machine.write("proc/cmdline", "quiet\n");
        machine.write("sys/devices/system/cpu/online", "0-1\n");
        machine.write("proc/sys/kernel/osrelease", "6.1.0-test\n");
        machine
    }

    /// The directory that stands for `/`.
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Writes a file of the machine, as its owner or its kernel would.
    pub fn write(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("a laid-out file");
    }

    /// A file of the machine.
    pub fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.path().join(path)).expect("a laid-out file")
    }

    /// The clock source in force.
    pub fn clock_source(&self) -> String {
        self.read(&format!("{CLOCK_SOURCE}/current_clocksource"))
            .trim()
            .to_owned()
    }

    /// Every file by its path beneath the root.
    pub fn tree(&self) -> BTreeMap<String, Vec<u8>> {
        self.bytes()
            .into_iter()
            .filter_map(|(path, bytes)| {
                let path = path.strip_prefix(self.path()).ok()?;
                Some((path.to_str()?.to_owned(), bytes))
            })
            .collect()
    }

    /// Every file with its bytes: what must be the same before and after.
    pub fn bytes(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut found = BTreeMap::new();
        let mut folders = vec![self.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).expect("a folder") {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let bytes = std::fs::read(&path).expect("a laid-out file");
                    found.insert(path, bytes);
                }
            }
        }
        found
    }
}

impl Place {
    /// The program on a laid-out machine.
    pub fn knobstat_on(&self, machine: &Machine) -> Command {
        let mut command = self.knobstat();
        command.arg("--root").arg(machine.path());
        command
    }
}
