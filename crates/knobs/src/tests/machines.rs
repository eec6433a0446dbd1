//! Four machines as their files, for fakes and for trees on the disk.

use std::fs;
use std::path::Path;

use crate::fake::{FakeMachine, Tree};

/// A machine's files by path.
pub type Layout = Vec<(String, String)>;

const CPU: &str = "/sys/devices/system/cpu";
const CLOCK: &str = "/sys/devices/system/clocksource/clocksource0";

fn file(layout: &mut Layout, path: impl Into<String>, text: &str) {
    layout.push((path.into(), format!("{text}\n")));
}

fn common(flags: &str) -> Layout {
    let mut layout = Layout::new();
    file(&mut layout, format!("{CLOCK}/current_clocksource"), "tsc");
    // The kernel leaves a space at the end.
    file(
        &mut layout,
        format!("{CLOCK}/available_clocksource"),
        "tsc hpet acpi_pm ",
    );
    file(
        &mut layout,
        "/sys/kernel/mm/transparent_hugepage/enabled",
        "always [madvise] never",
    );
    file(&mut layout, "/proc/sys/kernel/randomize_va_space", "2");
    file(
        &mut layout,
        "/proc/sys/net/ipv4/tcp_rmem",
        "4096\t131072\t6291456",
    );
    file(&mut layout, "/proc/cpuinfo", flags);
    file(&mut layout, "/dev/cpu_dma_latency", "none");
    file(&mut layout, "/proc/cmdline", "root=/dev/vda quiet");
    file(&mut layout, "/proc/sys/kernel/osrelease", "6.1.0-40-amd64");
    file(
        &mut layout,
        "/boot/config-6.1.0-40-amd64",
        "CONFIG_HZ=250\nCONFIG_NO_HZ_COMMON=y",
    );
    layout
}

fn idle(layout: &mut Layout, cpu: u32, states: &[(&str, u32)]) {
    for (index, (name, latency)) in states.iter().enumerate() {
        let state = format!("{CPU}/cpu{cpu}/cpuidle/state{index}");
        file(layout, format!("{state}/name"), name);
        file(layout, format!("{state}/latency"), &latency.to_string());
        file(layout, format!("{state}/disable"), "0");
        file(layout, format!("{state}/default_status"), "enabled");
    }
}

fn intel_policy(layout: &mut Layout, policy: u32) {
    let policy = format!("{CPU}/cpufreq/policy{policy}");
    file(layout, format!("{policy}/scaling_governor"), "powersave");
    file(
        layout,
        format!("{policy}/scaling_available_governors"),
        "performance powersave",
    );
    file(
        layout,
        format!("{policy}/energy_performance_preference"),
        "balance_power",
    );
    file(
        layout,
        format!("{policy}/energy_performance_available_preferences"),
        "default performance balance_performance balance_power power",
    );
    file(layout, format!("{policy}/scaling_min_freq"), "400000");
    file(layout, format!("{policy}/scaling_max_freq"), "4800000");
}

/// Two cores of two threads, intel_pstate in active mode.
pub fn intel_laptop() -> Layout {
    let mut layout = common("flags\t\t: fpu tsc constant_tsc");
    for cpu in 0..4 {
        intel_policy(&mut layout, cpu);
        idle(
            &mut layout,
            cpu,
            &[
                ("POLL", 0),
                ("C1", 2),
                ("C1E", 10),
                ("C6", 85),
                ("C10", 890),
            ],
        );
        file(
            &mut layout,
            format!("{CPU}/cpu{cpu}/power/energy_perf_bias"),
            "6",
        );
    }
    file(&mut layout, format!("{CPU}/smt/control"), "on");
    let pstate = format!("{CPU}/intel_pstate");
    file(&mut layout, format!("{pstate}/no_turbo"), "0");
    file(&mut layout, format!("{pstate}/min_perf_pct"), "35");
    file(&mut layout, format!("{pstate}/max_perf_pct"), "100");
    layout
}

/// Twelve cores, acpi-cpufreq, a global boost switch, SMT off in the firmware.
pub fn amd_server() -> Layout {
    let mut layout = common("flags\t\t: fpu tsc constant_tsc");
    for cpu in 0..12 {
        let policy = format!("{CPU}/cpufreq/policy{cpu}");
        file(
            &mut layout,
            format!("{policy}/scaling_governor"),
            "ondemand",
        );
        file(
            &mut layout,
            format!("{policy}/scaling_available_governors"),
            "conservative ondemand userspace powersave performance schedutil ",
        );
        idle(&mut layout, cpu, &[("POLL", 0), ("C1", 1), ("C2", 400)]);
    }
    file(&mut layout, format!("{CPU}/cpufreq/boost"), "1");
    file(&mut layout, format!("{CPU}/smt/control"), "notsupported");
    file(&mut layout, "/proc/sys/kernel/numa_balancing", "1");
    layout
}

/// Two CPUs of a hypervisor, neither cpufreq nor cpuidle.
pub fn guest() -> Layout {
    let mut layout = common("flags\t\t: fpu tsc hypervisor");
    file(&mut layout, "/sys/class/dmi/id/sys_vendor", "QEMU");
    file(&mut layout, format!("{CPU}/cpu0/online"), "1");
    file(&mut layout, format!("{CPU}/cpu1/online"), "1");
    layout
}

/// Performance and efficiency cores with idle states of different names and latencies.
pub fn hybrid() -> Layout {
    let mut layout = common("flags\t\t: fpu tsc constant_tsc");
    for cpu in 0..2 {
        idle(
            &mut layout,
            cpu,
            &[("POLL", 0), ("C1E", 2), ("C6", 220), ("C10", 680)],
        );
    }
    for cpu in 2..4 {
        idle(
            &mut layout,
            cpu,
            &[("POLL", 0), ("C1", 1), ("C6S", 270), ("C10", 310)],
        );
    }
    layout
}

/// A machine whose files behave as the kernel's do.
pub fn fake(layout: &Layout) -> FakeMachine {
    let files: Vec<(&str, &str)> = layout
        .iter()
        .map(|(path, text)| (path.as_str(), text.as_str()))
        .collect();
    let machine = FakeMachine::new(&files);
    let defaults: Tree = machine.tree();
    machine.react(move |tree, path, value| {
        if path.ends_with("/intel_pstate/no_turbo") && value == "1" {
            // The driver squeezes the lower limit and does not let it out again.
            let limit = path.replace("no_turbo", "min_perf_pct");
            tree.insert(limit, b"20\n".to_vec());
        }
        if let Some(policy) = path.strip_suffix("/scaling_governor") {
            let preference = format!("{policy}/energy_performance_preference");
            let reset = match value {
                "performance" => "performance\n",
                _ => "balance_performance\n",
            };
            if let Some(bytes) = tree.get_mut(&preference) {
                *bytes = reset.as_bytes().to_vec();
            }
        }
        if path.ends_with("/smt/control") {
            let siblings = |path: &str| {
                ["cpu1/cpuidle/", "cpu3/cpuidle/", "policy1/", "policy3/"]
                    .iter()
                    .any(|part| path.contains(part))
            };
            match value {
                "off" => tree.retain(|path, _| !siblings(path)),
                _ => {
                    for (path, bytes) in &defaults {
                        if siblings(path) && !tree.contains_key(path) {
                            // As the kernel makes them, not as they were.
                            let fresh = if path.ends_with("energy_performance_preference") {
                                b"balance_performance\n".to_vec()
                            } else {
                                bytes.clone()
                            };
                            tree.insert(path.clone(), fresh);
                        }
                    }
                }
            }
        }
    });
    machine
}

/// Lays a machine out beneath a directory.
pub fn lay_out(layout: &Layout, directory: &Path) {
    for (path, text) in layout {
        let path = directory.join(path.trim_start_matches('/'));
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).unwrap();
        }
        fs::write(path, text).unwrap();
    }
}

/// The files beneath a directory, as they are now.
pub fn read_back(layout: &Layout, directory: &Path) -> Layout {
    layout
        .iter()
        .map(|(path, _)| {
            let text = fs::read_to_string(directory.join(path.trim_start_matches('/'))).unwrap();
            (path.clone(), text)
        })
        .collect()
}
