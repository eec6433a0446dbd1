//! Properties of the machine that limit what a result says.

use knobstat_data::experiment::{Accelerator, GuestTime};
use knobstat_data::machine::GuestMachine;

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
    } else if let Some(guest) = machine.guest {
        caveats.extend(of_guest(context, guest));
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

/// What a guest that was booted for the experiment can show and what not.
fn of_guest(context: &Context, guest: GuestMachine) -> Vec<Caveat> {
    let mut caveats = Vec::new();
    match (guest.time, guest.accelerator) {
        (GuestTime::Virtual, _) => caveats.push(Caveat {
            kind: "virtual-time",
            sentence:
                "The guest's time followed the instructions that it executed. That shows the \
                       step of a clock, whether the vDSO or a system call reads it, tick rates, \
                       counts, and how a pacer waits. It does not show how long a device takes to \
                       answer, so that it cannot rank hpet against acpi_pm, nor how fast any real \
                       processor is: for that take `time = \"wall\"` with KVM, or metal. Repeats \
                       are not independent: nothing of a real machine varies between them, and \
                       what does is how wake-ups fell on ticks. An interval tells how exact the \
                       repetition is, and a p-value nothing beyond it."
                    .to_owned(),
        }),
        (GuestTime::Wall, Accelerator::Tcg) => caveats.push(Caveat {
            kind: "emulated-guest",
            sentence:
                "The guest was emulated and its time was the host's: speeds are those of the \
                       emulator, and rise and fall with what else the host had to do."
                    .to_owned(),
        }),
        (GuestTime::Wall, Accelerator::Kvm) => caveats.push(Caveat {
            kind: "virtual-machine",
            sentence: "The machine is a guest (KVM): its devices, its idle states and its \
                       neighbours are the host's, so a result holds for this guest and not for \
                       the hardware."
                .to_owned(),
        }),
    }
    let is_vouched = context
        .record
        .machine
        .stopwatch
        .as_ref()
        .is_some_and(|stopwatch| stopwatch.contains("vouches"));
    if is_vouched {
        caveats.push(Caveat {
            kind: "vouched-stopwatch",
            sentence: "Runs were timed by the guest's time stamp counter. The emulated processor \
                       does not promise that its rate is constant; the host vouches for it, \
                       because the counter advances with the instructions executed and whatever \
                       clock source the guest's kernel uses."
                .to_owned(),
        });
    }
    caveats
}
