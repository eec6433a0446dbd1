//! What machine this is, as far as a report needs to know: processor, kernel, memory,
//! hypervisor or container, and the configured tick rate.
//!
//! Everything is optional, because kernels, vendors and containers differ. What is a setting or
//! a fact of the machine is read beneath a root; nothing is written.

use miniz_oxide::inflate::decompress_to_vec_with_limit;

use crate::root::Root;

/// The kernel's own word on itself: uname(2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// The host name.
    pub host: String,
    /// The kernel's release.
    pub release: String,
    /// The hardware architecture.
    pub architecture: String,
}

/// The kernel that runs.
pub fn kernel() -> Kernel {
    let uname = rustix::system::uname();
    let text = |name: &std::ffi::CStr| name.to_string_lossy().into_owned();
    Kernel {
        host: text(uname.nodename()),
        release: text(uname.release()),
        architecture: text(uname.machine()),
    }
}

/// The processor as /proc/cpuinfo describes the first CPU.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Processor {
    /// `model name`, or on Arm the implementer and part in hexadecimal digits.
    pub model: Option<String>,
    /// `vendor_id`, or on Arm the implementer.
    pub vendor: Option<String>,
    /// Whether the processor says that a hypervisor is beneath it.
    pub has_hypervisor: bool,
}

/// The processor.
pub fn processor(root: &Root) -> Processor {
    let text = root.read("/proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| {
        text.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            let value = value.trim();
            (key.trim() == name && !value.is_empty()).then(|| value.to_owned())
        })
    };
    let implementer = field("CPU implementer");
    let arm_model = || {
        let part = field("CPU part")?;
        Some(format!("Arm {} part {part}", implementer.as_deref()?))
    };
    Processor {
        model: field("model name").or_else(arm_model),
        vendor: field("vendor_id").or_else(|| implementer.clone()),
        has_hypervisor: field("flags")
            .is_some_and(|flags| flags.split(' ').any(|flag| flag == "hypervisor")),
    }
}

/// The container or hypervisor that the machine is, in a few words.
pub fn virtualization(root: &Root) -> Option<String> {
    match (container(root), hypervisor(root)) {
        (Some(container), Some(hypervisor)) => Some(format!("{container} in {hypervisor}")),
        (container, hypervisor) => container.or(hypervisor),
    }
}

fn container(root: &Root) -> Option<String> {
    // Written by systemd for what runs in a container of whatever manager.
    if let Ok(manager) = root.read("/run/systemd/container") {
        return Some(format!("container ({manager})"));
    }
    for (marker, manager) in [("/.dockerenv", "docker"), ("/run/.containerenv", "podman")] {
        if root.exists(marker) {
            return Some(format!("container ({manager})"));
        }
    }
    let groups = root.read("/proc/1/cgroup").ok()?;
    ["docker", "kubepods", "lxc"]
        .into_iter()
        .find(|manager| groups.contains(manager))
        .map(|manager| format!("container ({manager})"))
}

fn hypervisor(root: &Root) -> Option<String> {
    if let Ok(kind) = root.read("/sys/hypervisor/type") {
        return Some(kind);
    }
    let vendor = root
        .read("/sys/class/dmi/id/sys_vendor")
        .unwrap_or_default();
    let product = root
        .read("/sys/class/dmi/id/product_name")
        .unwrap_or_default();
    let known = [
        ("QEMU", "qemu"),
        ("KVM", "kvm"),
        ("VMware", "vmware"),
        ("VirtualBox", "virtualbox"),
        ("Virtual Machine", "hyper-v"),
        ("Amazon EC2", "amazon ec2"),
        ("Google Compute Engine", "google compute engine"),
        ("Firecracker", "firecracker"),
    ];
    let by_name = known
        .into_iter()
        .find(|(mark, _)| vendor.contains(mark) || product.contains(mark))
        .map(|(_, name)| name.to_owned());
    let flagged = processor(root).has_hypervisor;
    // Vendors of metal sell machines under the same names; the processor's flag decides where
    // the architecture has it.
    if cfg!(target_arch = "x86_64") && !flagged {
        return None;
    }
    by_name.or_else(|| flagged.then(|| "a hypervisor".to_owned()))
}

/// The memory of the machine, in bytes.
pub fn memory(root: &Root) -> Option<u64> {
    let text = root.read("/proc/meminfo").ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

/// The identity of this boot.
pub fn boot_id(root: &Root) -> Option<String> {
    word(root, "/proc/sys/kernel/random/boot_id")
}

/// The machine's own identity, machine-id(5).
pub fn machine_id(root: &Root) -> Option<String> {
    word(root, "/etc/machine-id").filter(|id| id != "uninitialized")
}

/// The kernel's command line.
pub fn command_line(root: &Root) -> Option<String> {
    root.read("/proc/cmdline").ok()
}

fn word(root: &Root, path: &str) -> Option<String> {
    let text = root.read(path).ok()?;
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// How long tasks of a real-time priority may run, and in which time, in microseconds, where the
/// kernel stops them for the rest of it: sched_rt_runtime_us and sched_rt_period_us (the kernel's
/// sched-rt-group.rst). None where it does not tell; equal ones, where it never does.
pub fn real_time_limit(root: &Root) -> Option<(u64, u64)> {
    let microseconds = |name: &str| {
        let text = root.read(&format!("/proc/sys/kernel/{name}")).ok()?;
        text.trim().parse::<i64>().ok()
    };
    let period = u64::try_from(microseconds("sched_rt_period_us")?).ok()?;
    // -1 is all of it.
    let runtime = u64::try_from(microseconds("sched_rt_runtime_us")?).unwrap_or(period);
    Some((runtime.min(period), period))
}

/// The tick rate that the kernel was built with, where its configuration can be read. The clock
/// ticks of sysconf(3) are always 100 and are not it.
pub fn configured_hz(root: &Root) -> Option<u32> {
    let release = kernel().release;
    let plain = [
        format!("/boot/config-{release}"),
        format!("/lib/modules/{release}/config"),
    ];
    if let Ok(packed) = root.read_bytes("/proc/config.gz") {
        return hz_of(&String::from_utf8_lossy(&unpack(&packed)?));
    }
    plain.iter().find_map(|path| hz_of(&root.read(path).ok()?))
}

fn hz_of(configuration: &str) -> Option<u32> {
    configuration
        .lines()
        .find_map(|line| line.strip_prefix("CONFIG_HZ="))?
        .parse()
        .ok()
}

/// A configuration is some 300 kB; this is far beyond any.
const LARGEST_CONFIGURATION: usize = 8 << 20;

/// The content of a gzip file as the kernel makes it: RFC 1952 without optional fields, or with
/// a file name. The checksum is left alone: the file was made in memory by the kernel. Nothing
/// where the bytes are no such file.
pub fn unpack(packed: &[u8]) -> Option<Vec<u8>> {
    const HAS_NAME: u8 = 8;
    let header = packed.get(..10)?;
    let (magic, flags) = (&header[..3], header[3]);
    if magic != [0x1f, 0x8b, 8] || flags & !HAS_NAME != 0 {
        return None;
    }
    let mut body = &packed[10..];
    if flags & HAS_NAME != 0 {
        let end = body.iter().position(|byte| *byte == 0)?;
        body = &body[end + 1..];
    }
    decompress_to_vec_with_limit(body, LARGEST_CONFIGURATION).ok()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    fn laid_out(files: &[(&str, &[u8])]) -> (tempfile::TempDir, Root) {
        let directory = tempfile::tempdir().unwrap();
        for (path, content) in files {
            let path = directory.path().join(path.trim_start_matches('/'));
            fs::create_dir_all(path.parent().unwrap_or(Path::new("/"))).unwrap();
            fs::write(path, content).unwrap();
        }
        let root = Root::laid_out(directory.path()).unwrap();
        (directory, root)
    }

    #[test]
    fn nothing_is_known_of_an_empty_tree() {
        let (_directory, root) = laid_out(&[]);
        assert_eq!(processor(&root), Processor::default());
        assert_eq!(virtualization(&root), None);
        assert_eq!(memory(&root), None);
        assert_eq!(boot_id(&root), None);
        assert_eq!(machine_id(&root), None);
        assert_eq!(configured_hz(&root), None);
    }

    #[test]
    fn a_processor_is_named() {
        let (_directory, intel) = laid_out(&[(
            "/proc/cpuinfo",
            b"processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: Intel(R) Core(TM) i7\n\
              flags\t\t: fpu tsc hypervisor lahf_lm\n",
        )]);
        let seen = processor(&intel);
        assert_eq!(seen.vendor.as_deref(), Some("GenuineIntel"));
        assert_eq!(seen.model.as_deref(), Some("Intel(R) Core(TM) i7"));
        assert!(seen.has_hypervisor);
        let (_directory, arm) = laid_out(&[(
            "/proc/cpuinfo",
            b"processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n",
        )]);
        assert_eq!(
            processor(&arm).model.as_deref(),
            Some("Arm 0x41 part 0xd0c")
        );
    }

    #[test]
    fn a_container_is_named_with_the_hypervisor_beneath_it() {
        let (_directory, root) =
            laid_out(&[("/.dockerenv", b""), ("/sys/hypervisor/type", b"xen\n")]);
        assert_eq!(
            virtualization(&root).as_deref(),
            Some("container (docker) in xen")
        );
        let (_directory, root) = laid_out(&[("/sys/hypervisor/type", b"xen\n")]);
        assert_eq!(virtualization(&root).as_deref(), Some("xen"));
    }

    #[test]
    fn memory_is_in_bytes() {
        let (_directory, root) = laid_out(&[("/proc/meminfo", b"MemTotal:        2048 kB\n")]);
        assert_eq!(memory(&root), Some(2 << 20));
    }

    /// `printf 'CONFIG_HZ_250=y\nCONFIG_HZ=250\n' | gzip -n`, stored without compression.
    fn packed() -> Vec<u8> {
        let text = b"CONFIG_HZ_250=y\nCONFIG_HZ=250\n";
        let length = u16::try_from(text.len()).unwrap();
        let mut packed = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1];
        packed.extend(length.to_le_bytes());
        packed.extend((!length).to_le_bytes());
        packed.extend(text);
        packed
    }

    #[test]
    fn the_tick_rate_is_the_configured_one() {
        let (_directory, root) = laid_out(&[("/proc/config.gz", &packed())]);
        assert_eq!(configured_hz(&root), Some(250));
        let boot = format!("/boot/config-{}", kernel().release);
        let plain = b"CONFIG_HZ_1000=y\nCONFIG_HZ=1000\n";
        let (_directory, root) = laid_out(&[(&boot, plain)]);
        assert_eq!(configured_hz(&root), Some(1000));
    }

    #[test]
    fn what_is_no_gzip_is_no_configuration() {
        let mut broken = packed();
        broken[12] ^= 0xff;
        for bytes in [b"".as_slice(), b"CONFIG_HZ=250", &packed()[..9], &broken] {
            assert_eq!(unpack(bytes), None);
        }
    }

    #[test]
    fn this_machine_is_known() {
        let root = Root::real();
        assert!(!kernel().release.is_empty());
        assert!(memory(&root).is_some());
        assert!(boot_id(&root).is_some());
    }
}
