//! What every program expects to find: the kernel's file systems, the loopback interface, the
//! modules that the guest was given, a search path.

use std::fs;
use std::path::Path;

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

/// Makes it all, and says in sentences what could not be made.
pub fn make() -> Vec<String> {
    let mut troubles = Vec::new();
    for (kind, directory, is_needed) in FILE_SYSTEMS {
        if let Err(error) = mount::mount(kind, Path::new(directory))
            && is_needed
        {
            troubles.push(format!("{kind} cannot be mounted at {directory} ({error})"));
        }
    }
    let loopback = RouteSocket::open().and_then(|socket| socket.bring_up("lo"));
    if let Err(error) = loopback {
        troubles.push(format!("the loopback interface cannot be brought up ({error})"));
    }
    troubles.extend(load_modules());
    troubles
}

fn load_modules() -> Vec<String> {
    let Ok(entries) = fs::read_dir(MODULES) else {
        return Vec::new();
    };
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
        .iter()
        .filter_map(|path| {
            let error = kernel_module::load(path).err()?;
            Some(format!("{} cannot be loaded ({error})", path.display()))
        })
        .collect()
}
