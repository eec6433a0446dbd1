//! What processor is this, and are its CPUs alike?

use knobstat_sys::machine;
use knobstat_sys::root::Root;

use super::Finding;

const TOPIC: &str = "processor";

/// The kernel's lists of the CPUs of each kind of a hybrid Intel part.
const KINDS: [(&str, &str); 2] = [
    ("/sys/devices/cpu_core/cpus", "performance cores"),
    ("/sys/devices/cpu_atom/cpus", "efficiency cores"),
];

/// Vendor and model of /proc/cpuinfo; the core types of hybrid parts, or CPUs of unequal capacity.
pub fn examine(root: &Root) -> Finding {
    let processor = machine::processor(root);
    let name = match (&processor.vendor, &processor.model) {
        (Some(vendor), Some(model)) => format!("{model} ({vendor})"),
        (None, Some(name)) | (Some(name), None) => name.clone(),
        (None, None) => {
            return Finding::unseen(TOPIC, "/proc/cpuinfo names neither a vendor nor a model");
        }
    };
    let kinds: Vec<String> = KINDS
        .iter()
        .filter_map(|(path, kind)| {
            let cpus = root.read(path).ok().filter(|cpus| !cpus.is_empty())?;
            Some(format!("{kind} {cpus}"))
        })
        .collect();
    let unequal = capacities(root).windows(2).any(|pair| pair[0] != pair[1]);
    let differ = if kinds.len() > 1 {
        kinds.join(", ")
    } else if unequal {
        "CPUs of unequal capacity (cpu_capacity)".to_owned()
    } else {
        return Finding::good(TOPIC, format!("{name}; its CPUs are alike"));
    };
    Finding::notice(
        TOPIC,
        format!("{name}: {differ}"),
        "the same work takes another time on another kind of CPU",
        "pin the workload with `cpus` to CPUs of one kind",
    )
}

fn capacities(root: &Root) -> Vec<String> {
    const CPUS: &str = "/sys/devices/system/cpu";
    root.list(CPUS)
        .unwrap_or_default()
        .iter()
        .filter_map(|cpu| root.read(&format!("{CPUS}/{cpu}/cpu_capacity")).ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::Grade;
    use super::super::tests::machine;
    use super::*;

    #[test]
    fn a_hybrid_part_is_told_with_its_kinds() {
        let cpuinfo = (
            "proc/cpuinfo",
            "vendor_id : GenuineIntel\nmodel name : 12900K\n",
        );
        let (_alike, root) = machine(&[cpuinfo]);
        assert_eq!(examine(&root).grade, Grade::Good);
        let (_hybrid, root) = machine(&[
            cpuinfo,
            ("sys/devices/cpu_core/cpus", "0-15\n"),
            ("sys/devices/cpu_atom/cpus", "16-23\n"),
        ]);
        let finding = examine(&root);
        assert_eq!(finding.grade, Grade::Notice);
        assert!(finding.evidence.contains("efficiency cores 16-23"));
        let (_arm, root) = machine(&[
            cpuinfo,
            ("sys/devices/system/cpu/cpu0/cpu_capacity", "446\n"),
            ("sys/devices/system/cpu/cpu4/cpu_capacity", "1024\n"),
        ]);
        assert!(examine(&root).evidence.contains("unequal capacity"));
    }
}
