//! Whether the workload's address space is laid out at random: handed to the process that is
//! started, with personality(2), so that nothing of the machine is changed.

use knobstat_data::Level;
use knobstat_sys::spawn::may_disable_address_randomization;

use crate::availability::Unavailable;
use crate::files::Files;
use crate::knob::Plan;

/// The file that says whether the kernel lays address spaces out at random.
const RANDOMIZE: &str = "/proc/sys/kernel/randomize_va_space";

/// The level that a process has to which nothing is handed.
///
/// # Errors
/// When the kernel does not tell.
pub fn read(files: &dyn Files) -> Result<Level, Unavailable> {
    let bytes = files.read(RANDOMIZE).map_err(|error| {
        Unavailable::without_remedy(format!("{RANDOMIZE} cannot be read: {error}"))
    })?;
    let off = String::from_utf8_lossy(&bytes).trim() == "0";
    Ok(Level::text(if off { "off" } else { "on" }))
}

/// Nothing has to be written; the level may be one that cannot be handed on.
///
/// # Errors
/// When it is none, or the kernel has no random layout to leave on.
pub fn plan(files: &dyn Files, level: &str) -> Result<Plan, Unavailable> {
    match level {
        "off" => match may_disable_address_randomization() {
            Ok(()) => Ok(Plan::default()),
            Err(error) => Err(Unavailable::new(
                format!("personality(2) is refused here ({error}), as in most containers"),
                "run knobstat on the host, or let the container call personality(2)",
            )),
        },
        "on" if read(files)? == Level::text("on") => Ok(Plan::default()),
        "on" => Err(Unavailable::new(
            "the kernel lays no address space out at random (kernel.randomize_va_space is 0)",
            "set kernel.randomize_va_space to 2, its default",
        )),
        other => Err(Unavailable::without_remedy(format!(
            "{other} is no level of aslr: it has on, off"
        ))),
    }
}
