//! Is this a guest or a container?

use knobstat_sys::root::Root;

use super::Finding;

const TOPIC: &str = "virtualisation";

/// The `hypervisor` flag of /proc/cpuinfo, the DMI product, and the marks that containers leave.
pub fn examine(root: &Root) -> Finding {
    let Ok(cpuinfo) = root.read("/proc/cpuinfo") else {
        return Finding::unseen(TOPIC, "/proc/cpuinfo cannot be read");
    };
    let guest = cpuinfo.lines().any(|line| {
        line.starts_with("flags")
            && line
                .split_once(':')
                .is_some_and(|(_, flags)| flags.split_whitespace().any(|flag| flag == "hypervisor"))
    });
    let product = root
        .read("/sys/class/dmi/id/product_name")
        .ok()
        .filter(|product| !product.is_empty());
    let container = [
        "/.dockerenv",
        "/run/.containerenv",
        "/run/systemd/container",
    ]
    .into_iter()
    .find(|mark| root.exists(mark));
    let within = container
        .map(|mark| format!(", and a container within ({mark} exists): sysfs is usually read-only"))
        .unwrap_or_default();
    if guest {
        let product = product
            .map(|product| format!(" ({product})"))
            .unwrap_or_default();
        return Finding::warning(
            TOPIC,
            format!("a virtual machine{product}: /proc/cpuinfo has the hypervisor flag{within}"),
            "idle states, frequency and turbo are the host's, and other guests take time from this one",
            "measure power settings on the host itself; here, look at steal time in the evidence and prefer more replicates",
        );
    }
    if let Some(mark) = container {
        return Finding::notice(
            TOPIC,
            format!("a container: {mark} exists"),
            "sysfs is usually read-only here, so that most knobs cannot be turned",
            "run knobstat on the host, or with --privileged and /sys writable",
        );
    }
    Finding::good(TOPIC, "neither a hypervisor nor a container is seen")
}
