//! Performance counters of the kernel and the processor: perf_event_open(2), counting only.
//!
//! A counter that the machine lacks, or that this user may not have, is the kernel's error and
//! nothing else; what that means to a run is for the caller to say.

use std::fs;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::time::Duration;

/// What is counted, as the kernel numbers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// The source: `PERF_TYPE_…`, or a number that the kernel gave to a device.
    pub kind: u32,
    /// The event of that source.
    pub config: u64,
}

const HARDWARE: u32 = 0;
const SOFTWARE: u32 = 1;

impl Event {
    /// Cycles of the CPU, whatever its frequency is at the time.
    pub const CYCLES: Self = Self::of(HARDWARE, 0);
    /// Instructions that were completed.
    pub const INSTRUCTIONS: Self = Self::of(HARDWARE, 1);
    /// Accesses that missed the last level of the caches, on most processors.
    pub const CACHE_MISSES: Self = Self::of(HARDWARE, 3);
    /// Branches that were predicted wrongly.
    pub const BRANCH_MISSES: Self = Self::of(HARDWARE, 5);
    /// Nanoseconds on a CPU.
    pub const TASK_CLOCK: Self = Self::of(SOFTWARE, 1);
    /// Moves from one CPU to another.
    pub const MIGRATIONS: Self = Self::of(SOFTWARE, 4);

    const fn of(kind: u32, config: u64) -> Self {
        Self { kind, config }
    }

    /// An event that a device of the kernel names, such as `aperf` of `msr`.
    ///
    /// # Errors
    /// When the kernel has no such device or the device no such event, or describes it in a way
    /// that is not known here.
    pub fn of_device(device: &str, event: &str) -> io::Result<Self> {
        let directory = format!("/sys/bus/event_source/devices/{device}");
        let unknown =
            |what: &str| io::Error::new(io::ErrorKind::InvalidData, format!("{device}: {what}"));
        let kind = fs::read_to_string(format!("{directory}/type"))?
            .trim()
            .parse()
            .map_err(|_| unknown("its type is no number"))?;
        let described = fs::read_to_string(format!("{directory}/events/{event}"))?;
        let config = described
            .trim()
            .strip_prefix("event=0x")
            .and_then(|digits| u64::from_str_radix(digits, 16).ok())
            .ok_or_else(|| unknown("its events are described in an unknown way"))?;
        Ok(Self { kind, config })
    }
}

/// Whose events are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// Those of the processes that this process starts from now on and of their descendants,
    /// each from the moment at which it executes a program.
    Started,
    /// The same without what the kernel does for them, which any user may count.
    StartedInUserMode,
    /// Everything on one CPU, from now on.
    Cpu(u32),
}

/// A counter. It counts until it is dropped.
#[derive(Debug)]
pub struct Counter(OwnedFd);

/// A reading.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// What was counted while the event was on the processor.
    pub value: u64,
    /// How long it was to be counted.
    pub enabled: Duration,
    /// How long it was: less where more events were asked for than the processor can count.
    pub running: Duration,
}

impl Count {
    /// What was counted since an earlier reading of the same counter.
    pub fn since(self, earlier: Self) -> Self {
        Self {
            value: self.value.saturating_sub(earlier.value),
            enabled: self.enabled.saturating_sub(earlier.enabled),
            running: self.running.saturating_sub(earlier.running),
        }
    }
}

/// The first version of `perf_event_attr`, which every kernel takes.
#[repr(C)]
#[derive(Default)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_events: u32,
    breakpoint_type: u32,
    config1: u64,
}

const DISABLED: u64 = 1 << 0;
const INHERIT: u64 = 1 << 1;
const EXCLUDE_KERNEL: u64 = 1 << 5;
const EXCLUDE_HYPERVISOR: u64 = 1 << 6;
const ENABLE_ON_EXEC: u64 = 1 << 12;

/// `PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING`.
const TIMES: u64 = 1 | 2;

/// `PERF_FLAG_FD_CLOEXEC`.
const CLOSE_ON_EXEC: libc::c_ulong = 8;

impl Counter {
    /// Opens a counter.
    ///
    /// # Errors
    /// As perf_event_open(2): ENOENT and EOPNOTSUPP where the machine has no such counter, EACCES
    /// and EPERM where this user may not have it.
    pub fn open(event: Event, whose: Whose) -> io::Result<Self> {
        let started = DISABLED | INHERIT | ENABLE_ON_EXEC;
        let (flags, pid, cpu) = match whose {
            Whose::Started => (started, 0, -1),
            Whose::StartedInUserMode => (started | EXCLUDE_KERNEL | EXCLUDE_HYPERVISOR, 0, -1),
            Whose::Cpu(cpu) => {
                let cpu =
                    i32::try_from(cpu).map_err(|_| io::Error::from_raw_os_error(libc::EINVAL))?;
                (0, -1, cpu)
            }
        };
        let attributes = Attributes {
            kind: event.kind,
            size: size_of::<Attributes>() as u32,
            config: event.config,
            read_format: TIMES,
            flags,
            ..Attributes::default()
        };
        let no_group: libc::c_int = -1;
        // SAFETY: the kernel reads as many bytes of the attributes as their size says.
        let descriptor = unsafe {
            libc::syscall(
                libc::SYS_perf_event_open,
                &raw const attributes,
                pid as libc::pid_t,
                cpu as libc::c_int,
                no_group,
                CLOSE_ON_EXEC,
            )
        };
        if descriptor < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the kernel made the descriptor for us and nobody else has it.
        Ok(Self(unsafe { OwnedFd::from_raw_fd(descriptor as i32) }))
    }

    /// What was counted so far, ended processes included. Allocates nothing.
    ///
    /// # Errors
    /// As read(2) says.
    pub fn read(&self) -> io::Result<Count> {
        let mut words = [0u64; 3];
        let size = size_of_val(&words);
        // SAFETY: the kernel writes at most as many bytes as the array has.
        let read = unsafe { libc::read(self.0.as_raw_fd(), words.as_mut_ptr().cast(), size) };
        match usize::try_from(read) {
            Err(_) => Err(io::Error::last_os_error()),
            Ok(read) if read != size => Err(io::Error::from(io::ErrorKind::UnexpectedEof)),
            Ok(_) => Ok(Count {
                value: words[0],
                enabled: Duration::from_nanos(words[1]),
                running: Duration::from_nanos(words[2]),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_started_processes_are_counted_and_only_once_they_are_programs() {
        // In containers the call may be forbidden altogether.
        let counter = match Counter::open(Event::TASK_CLOCK, Whose::StartedInUserMode) {
            Ok(counter) => counter,
            Err(error) => {
                println!("this machine counts nothing: {error}");
                return;
            }
        };
        assert_eq!(counter.read().unwrap().value, 0);
        let status = std::process::Command::new("sh")
            .args(["-c", "i=0; while [ $i -lt 1000 ]; do i=$((i+1)); done"])
            .status()
            .unwrap();
        assert!(status.success());
        let count = counter.read().unwrap();
        assert!(count.value > 10_000, "{count:?}");
        assert!(count.running <= count.enabled, "{count:?}");
        // This process is not among them.
        let again = counter.read().unwrap();
        assert_eq!(again, count);
    }

    #[test]
    fn what_a_machine_lacks_is_an_error() {
        assert!(Event::of_device("no-such-device", "aperf").is_err());
        let nothing = Event {
            kind: u32::MAX - 1,
            config: 0,
        };
        assert!(Counter::open(nothing, Whose::Started).is_err());
        assert!(Counter::open(Event::TASK_CLOCK, Whose::Cpu(u32::MAX)).is_err());
    }
}
