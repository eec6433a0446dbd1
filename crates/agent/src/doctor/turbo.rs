//! May cores clock above their nominal frequency?

use knobstat_sys::root::Root;

use super::Finding;

const TOPIC: &str = "turbo";

/// `intel_pstate/no_turbo`, or the boost file of the other drivers.
pub fn examine(root: &Root) -> Finding {
    let intel = root.read("/sys/devices/system/cpu/intel_pstate/no_turbo");
    let boost = root.read("/sys/devices/system/cpu/cpufreq/boost");
    let on = match (intel.as_deref(), boost.as_deref()) {
        (Ok("0"), _) | (Err(_), Ok("1")) => true,
        (Ok(_), _) | (Err(_), Ok(_)) => false,
        (Err(_), Err(_)) => {
            return Finding::unseen(
                TOPIC,
                "no turbo setting is visible: the host or the firmware decides",
            );
        }
    };
    if on {
        Finding::notice(
            TOPIC,
            "on (a permission, not a promise)",
            "speed depends on temperature and on how many cores are awake, and so varies from run to run",
            "leave it if it is what is measured; else hold it: `[fixed] turbo = \"off\"`",
        )
    } else {
        Finding::good(TOPIC, "off")
    }
}
