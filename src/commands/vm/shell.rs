//! `knobstat vm shell`: opens a guest for a look. This process becomes QEMU, whose console is the
//! terminal.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use knobstat_data::experiment::{GuestTime, VirtualMachine};
use knobstat_sys::spawn::{Lookup, find_program};

use crate::arguments::VmShell;
use crate::front;
use crate::guests;
use crate::trouble::{Exit, Trouble};

/// The program that the guest's shell is.
pub const BUSYBOX: &str = "busybox";

/// Opens a guest; comes back only where that cannot be done.
pub fn run(arguments: &VmShell) -> Result<(), Trouble> {
    front::become_invoking_user()?;
    let search_path = std::env::var_os("PATH");
    let Lookup::Found(busybox) =
        find_program(BUSYBOX.as_ref(), search_path.as_deref(), Path::new("/"))
    else {
        return Err(Trouble::request(
            "busybox is not installed, and the shell of a guest is its",
            "As root: apt-get install busybox-static.",
        ));
    };
    let machine = VirtualMachine {
        kernel: arguments.kernel.clone(),
        cpus: arguments.cpus,
        append: arguments.append.clone().unwrap_or_default(),
        acpi_tables: arguments.acpi_tables.clone(),
        files: arguments.files.clone(),
        modules: arguments.modules.clone(),
        // A person waits: an hour of virtual time would pass between two keys.
        time: GuestTime::Wall,
        ..VirtualMachine::default()
    };
    let mut target = guests::for_a_look(&machine, &busybox)?;
    let (qemu, words) = target
        .at_the_console("knobstat.init=shell")
        .map_err(|error| guests::in_two(&error.to_string()))?;
    let error = Command::new(&qemu).args(words).exec();
    Err(Trouble::new(
        Exit::Missing,
        format!("{} cannot be started ({error})", qemu.display()),
        "`knobstat vm prepare` brings what guests need.",
    ))
}
