//! The campaign of kills over files that behave as the kernel's do.

use fuser::Errno;

use crate::Test;
use crate::needs::Need;
use crate::settings_file_system::{Behaviour, SettingsFileSystem};
use crate::support::campaign::{Campaign, carry_out};
use crate::support::machine::Machine;

/// The tests of this group.
pub const TESTS: &[Test] = &[(
    "killed_at_random_moments_over_files_that_behave",
    &[Need::Fuse],
    killed_at_random_moments_over_files_that_behave,
)];

const FILE: &str = r#"
name = "forced over files that behave"
[workload]
kind = "command"
command = "true"
warmup_runs = 0
[factors]
clocksource = ["hpet", "acpi_pm"]
cstate = ["C1", "C6"]
governor = ["performance", "powersave"]
turbo = ["on", "off"]
[fixed]
thp = "never"
swappiness = 10
[design]
replicates = 100
seed = 5
settle = "0s"
"#;

const CPUS: u32 = 4;

fn killed_at_random_moments_over_files_that_behave() {
    let policy =
        |number: u32, file: &str| format!("sys/devices/system/cpu/cpufreq/policy{number}/{file}");
    let names: Vec<(String, String)> = (0..CPUS)
        .map(|number| {
            (
                policy(number, "scaling_governor"),
                policy(number, "energy_performance_preference"),
            )
        })
        .collect();
    let pstate = "sys/devices/system/cpu/intel_pstate";
    let (no_turbo, limit) = (
        format!("{pstate}/no_turbo"),
        format!("{pstate}/min_perf_pct"),
    );
    let mut behaviours = vec![(no_turbo, Behaviour::changes_too("1", &limit, "20"))];
    for (governor, preference) in names {
        for (value, becomes) in [
            ("performance", "performance"),
            ("powersave", "balance_performance"),
        ] {
            let change = Behaviour::changes_too(value, &preference, becomes);
            behaviours.push((governor.clone(), change));
        }
        let performance = "performance".to_owned();
        let busy = Behaviour::RefusedWhile(governor, performance, Errno::EBUSY);
        behaviours.push((preference, busy));
    }
    let files = SettingsFileSystem::mount(&Machine::of_cpus(CPUS), behaviours);
    let long = std::env::var_os("KNOBSTAT_LONG").is_some();
    carry_out(&Campaign {
        root: files.path(),
        experiment: FILE,
        kills: if long { 300 } else { 30 },
        bytes: &|| files.bytes(),
        write: &|path, text| files.write(path, text),
    });
}
