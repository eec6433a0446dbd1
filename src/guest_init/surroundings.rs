//! What every program expects to find: the kernel's file systems, the loopback interface, clock
//! sources that stay; and the modules that the guest was given.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use knobstat_sys::net::netlink::RouteSocket;
use knobstat_sys::{kernel_module, mount};

/// File systems and where they belong, in order. One that this kernel lacks is missed by whoever
/// needs it; the first three by everybody.
const FILE_SYSTEMS: [(&str, &str, bool); 9] = [
    ("proc", "/proc", true),
    ("sysfs", "/sys", true),
    ("devtmpfs", "/dev", true),
    ("devpts", "/dev/pts", false),
    ("tmpfs", "/dev/shm", false),
    ("tmpfs", "/tmp", false),
    ("tmpfs", "/run", false),
    ("cgroup2", "/sys/fs/cgroup", false),
    ("debugfs", "/sys/kernel/debug", false),
];

/// Where the modules are, in the order of their names.
const MODULES: &str = "/knobstat/modules";

/// The clock sources that the kernel offers.
const CLOCK_SOURCES: &str = "/sys/devices/system/clocksource/clocksource0/available_clocksource";
const A_MOMENT: Duration = Duration::from_millis(20);
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// Makes it all, and says in sentences what could not be made.
pub fn make() -> Vec<String> {
    let mut troubles = Vec::new();
    for (kind, directory, is_needed) in FILE_SYSTEMS {
        // What the guest was given there stays visible.
        if kind == "tmpfs" && !is_empty(directory) {
            continue;
        }
        if let Err(error) = mount::mount(kind, Path::new(directory))
            && is_needed
        {
            troubles.push(format!("{kind} cannot be mounted at {directory} ({error})"));
        }
    }
    let loopback = RouteSocket::open().and_then(|socket| socket.bring_up("lo"));
    if let Err(error) = loopback {
        troubles.push(format!(
            "the loopback interface cannot be brought up ({error})"
        ));
    }
    wait_for_clock_sources();
    troubles
}

/// Loads the modules that the guest was given.
///
/// # Errors
/// Says which of them cannot be loaded, and why.
pub fn load_modules() -> Result<(), String> {
    let Ok(entries) = fs::read_dir(MODULES) else {
        return Ok(());
    };
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths.iter().try_for_each(|path| {
        kernel_module::load(path)
            .map_err(|error| format!("the module {} cannot be loaded ({error})", name_of(path)))
    })
}

/// The name of a module's file, without the number that orders it.
fn name_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let (_, name) = name.split_once('-').unwrap_or(("", &name));
    name.to_owned()
}

fn is_empty(directory: &str) -> bool {
    fs::read_dir(directory).map_or(true, |mut entries| entries.next().is_none())
}

/// Waits until the kernel has made up its mind about the time stamp counter: for about a second
/// after its start it offers one of another name that goes away. Where it never does, it is
/// waited for no longer than it could take.
fn wait_for_clock_sources() {
    for _ in 0..LONGEST_WAIT.as_millis() / A_MOMENT.as_millis() {
        let offered = fs::read_to_string(CLOCK_SOURCES).unwrap_or_default();
        if !offered
            .split_whitespace()
            .any(|source| source == "tsc-early")
        {
            return;
        }
        thread::sleep(A_MOMENT);
    }
}
