//! Who else turns knobs: daemons that set, or set back, what an experiment varies.

use knobstat_sys::processes;
use knobstat_sys::root::Root;

/// A daemon that turns knobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner {
    /// The name that people know it by.
    pub name: &'static str,
    /// The names of its processes, cut to the 15 bytes that the kernel keeps.
    processes: &'static [&'static str],
    /// The command that stops it for as long as an experiment takes.
    pub stop: &'static str,
}

/// The daemons that are known to turn knobs.
pub const OWNERS: &[Owner] = &[
    Owner {
        name: "tuned",
        processes: &["tuned"],
        stop: "systemctl stop tuned",
    },
    Owner {
        name: "power-profiles-daemon",
        processes: &["power-profiles-"],
        stop: "systemctl stop power-profiles-daemon",
    },
    Owner {
        name: "thermald",
        processes: &["thermald"],
        stop: "systemctl stop thermald",
    },
    Owner {
        name: "TLP",
        processes: &["tlp", "tlp-pd"],
        stop: "systemctl stop tlp",
    },
    Owner {
        name: "auto-cpufreq",
        processes: &["auto-cpufreq"],
        stop: "systemctl stop auto-cpufreq",
    },
    Owner {
        name: "irqbalance",
        processes: &["irqbalance"],
        stop: "systemctl stop irqbalance",
    },
    Owner {
        name: "gamemode",
        processes: &["gamemoded"],
        stop: "systemctl --user stop gamemoded",
    },
    Owner {
        name: "laptop-mode",
        processes: &["laptop_mode", "laptop-mode", "lmt-poll"],
        stop: "systemctl stop laptop-mode",
    },
    Owner {
        name: "powerd",
        processes: &["powerd"],
        stop: "service powerd stop",
    },
    Owner {
        name: "powerdxx",
        processes: &["powerd++"],
        stop: "service powerdxx stop",
    },
    Owner {
        name: "numad",
        processes: &["numad"],
        stop: "systemctl stop numad",
    },
];

/// The daemons that run now and turn knobs. None for a laid-out tree: they turn the real
/// machine's.
pub fn running(root: &Root) -> Vec<Owner> {
    if !root.is_real() {
        return Vec::new();
    }
    let names: Vec<String> = processes::all()
        .into_iter()
        .map(|process| process.name)
        .collect();
    among(&names)
}

fn among(names: &[String]) -> Vec<Owner> {
    OWNERS
        .iter()
        .filter(|owner| {
            names
                .iter()
                .any(|name| owner.processes.contains(&name.as_str()))
        })
        .copied()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_daemon_is_known_by_the_name_that_the_kernel_keeps() {
        let names = ["bash", "power-profiles-", "tuned-adm", "thermald"].map(str::to_owned);
        let found: Vec<&str> = among(&names).iter().map(|owner| owner.name).collect();
        assert_eq!(found, ["power-profiles-daemon", "thermald"]);
        for owner in OWNERS {
            assert!(owner.processes.iter().all(|name| name.len() <= 15));
        }
    }
}
