//! What an experiment file may speak of: the knobs of the catalogue and the workloads there are.

use knobstat_data::Vocabulary;
use knobstat_sys::root::Root;

/// Every knob and workload of this program, for experiments on the machine beneath a root.
pub fn vocabulary(root: &Root) -> Vocabulary {
    Vocabulary {
        knobs: knobstat_knobs::vocabulary(root),
        workloads: knobstat_load::workloads::schemas(),
    }
}
