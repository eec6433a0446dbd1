//! Who else turns knobs here?

use knobstat_sys::root::Root;

use super::Finding;

const TOPIC: &str = "other owners of knobs";

/// Daemons that are known to write the settings that experiments turn.
pub fn examine(root: &Root) -> Finding {
    let owners = knobstat_knobs::running_owners(root);
    if owners.is_empty() {
        return Finding::good(TOPIC, "no daemon that is known to turn knobs is running");
    }
    let names: Vec<&str> = owners.iter().map(|owner| owner.name).collect();
    let stops: Vec<&str> = owners.iter().map(|owner| owner.stop).collect();
    Finding::warning(
        TOPIC,
        format!("running: {}", names.join(", ")),
        "they may turn a knob back in the middle of a run, which taints it",
        format!("for the time of an experiment: {}", stops.join("; ")),
    )
}
