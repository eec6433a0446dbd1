//! Which settings can be had because the machine may be rebooted for them.

use knobstat_data::messages::{Availability, MayReboot, Refusal, SettingState};
use knobstat_knobs::boot_entry::Boots;
use knobstat_sys::root::Root;

/// Makes those settings available that a boot brings about; the others keep a reason.
///
/// # Errors
/// When there are such settings and this machine cannot be rebooted for any.
pub fn make_available(
    root: &Root,
    may: MayReboot,
    settings: &mut [SettingState],
) -> Result<(), Refusal> {
    let mut of_a_boot = settings
        .iter_mut()
        .filter(|state| knobstat_knobs::needs_boot(&state.setting.factor))
        .peekable();
    if of_a_boot.peek().is_none() {
        return Ok(());
    }
    let boots = Boots::of(root).map_err(|error| Refusal::from(&error))?;
    let by = boots
        .can_reboot(may)
        .map_err(|error| Refusal::from(&error))?;
    for state in of_a_boot {
        state.availability = match boots.can_boot(by, &state.setting) {
            Ok(()) => Availability::Available,
            Err(error) => {
                let refusal = Refusal::from(&error);
                Availability::Unavailable {
                    reason: refusal.cause,
                    remedy: Some(refusal.remedy),
                }
            }
        };
    }
    Ok(())
}
