//! Properties of the machine that limit what a result says.

use super::Context;
use crate::analysis::Caveat;
use crate::phrase;

pub(super) fn check(context: &Context) -> Vec<Caveat> {
    let machine = &context.record.machine;
    let mut caveats = Vec::new();
    if machine.laid_out {
        caveats.push(Caveat {
            kind: "laid-out-tree",
            sentence: "The settings were those of a laid-out tree of files and not of a machine: \
                       no effect of a knob can be real here."
                .to_owned(),
        });
    }
    if let Some(model) = machine.simulated() {
        caveats.push(Caveat {
            kind: "simulated-machine",
            sentence: format!(
                "The machine is simulated ({model}): a result says what follows from its machine \
                 file, and nothing that was measured."
            ),
        });
    } else if let Some(hypervisor) = &machine.virtualization {
        caveats.push(Caveat {
            kind: "virtual-machine",
            sentence: format!(
                "The machine is virtual ({hypervisor}): its clocks, its idle states and its \
                 neighbours are the host's, so a result holds for this guest and not for the \
                 hardware."
            ),
        });
    }
    if !machine.other_owners.is_empty() {
        caveats.push(Caveat {
            kind: "other-owners",
            sentence: format!(
                "{} {} on this machine and turn{} knobs too; stop {} to be sure that settings \
                 hold.",
                phrase::list(&machine.other_owners, "and"),
                if machine.other_owners.len() == 1 {
                    "runs"
                } else {
                    "run"
                },
                if machine.other_owners.len() == 1 {
                    "s"
                } else {
                    ""
                },
                if machine.other_owners.len() == 1 {
                    "it"
                } else {
                    "them"
                },
            ),
        });
    }
    caveats
}
