//! What an experiment file may speak of: the knobs of the catalogue and the workloads there are.

use knobstat_data::Vocabulary;

/// Every knob and workload of this program.
pub fn vocabulary() -> Vocabulary {
    Vocabulary {
        knobs: knobstat_knobs::vocabulary(),
        workloads: knobstat_load::workloads::schemas(),
    }
}
