//! The promise to put the machine back, shown by force on a machine of 16 CPUs: see the campaign.

use crate::support::campaign::{Campaign, carry_out};
use crate::support::machine::Machine;

const FILE: &str = r#"
name = "forced"
[workload]
kind = "command"
command = "true"
warmup_runs = 0
[factors]
clocksource = ["hpet", "acpi_pm"]
cstate = ["C1", "C6"]
governor = ["performance", "powersave"]
cpus_online = ["0-15", "0-11"]
[fixed]
turbo = "off"
thp = "never"
swappiness = 10
[design]
replicates = 400
seed = 5
settle = "0s"
"#;

#[test]
fn killed_at_random_moments_the_machine_is_put_back_and_no_run_is_lost() {
    let machine = Machine::of_cpus(16);
    let long = std::env::var_os("KNOBSTAT_LONG").is_some();
    carry_out(&Campaign {
        root: machine.path(),
        experiment: FILE,
        kills: if long { 1000 } else { 100 },
        bytes: &|| machine.tree(),
        write: &|path, text| machine.write(path, text),
    });
}
