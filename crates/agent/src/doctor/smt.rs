//! Do two logical CPUs share a core?

use knobstat_sys::root::Root;

use super::Finding;

const TOPIC: &str = "SMT";

/// `smt/active` of sysfs.
pub fn examine(root: &Root) -> Finding {
    match root.read("/sys/devices/system/cpu/smt/active").as_deref() {
        Ok("0") => Finding::good(TOPIC, "each logical CPU has a core of its own"),
        Ok("1") => Finding::notice(
            TOPIC,
            "on: logical CPUs share cores",
            "what runs on the sibling slows the measured CPU",
            "keep the sibling idle, or hold `[fixed] smt = \"off\"`; siblings: `cat /sys/devices/system/cpu/cpu*/topology/thread_siblings_list`",
        ),
        _ => Finding::unseen(TOPIC, "the kernel does not say whether CPUs share cores"),
    }
}
