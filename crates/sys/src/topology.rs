//! Which CPUs there are, which ones a thread may use, and which one it is on.

use std::io;

use crate::root::Root;

/// A set of CPUs as sched_setaffinity(2) takes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CpuMask(Vec<libc::c_ulong>);

const BITS: usize = libc::c_ulong::BITS as usize;

/// Masks larger than this many words are of no machine: 2^20 CPUs.
const MOST_WORDS: usize = (1 << 20) / BITS;

impl CpuMask {
    /// The mask of these CPUs.
    pub fn of(cpus: &[u32]) -> Self {
        let largest = cpus.iter().copied().max().unwrap_or(0) as usize;
        let mut words = vec![0; largest / BITS + 1];
        for cpu in cpus {
            words[*cpu as usize / BITS] |= 1 << (*cpu as usize % BITS);
        }
        Self(words)
    }

    /// The CPUs of the mask, ascending.
    pub fn cpus(&self) -> Vec<u32> {
        (0u32..)
            .zip(
                self.0
                    .iter()
                    .flat_map(|word| (0..BITS).map(move |bit| word >> bit & 1)),
            )
            .filter_map(|(cpu, bit)| (bit == 1).then_some(cpu))
            .collect()
    }

    /// Its words, for the system call.
    pub(crate) fn words(&self) -> &[libc::c_ulong] {
        &self.0
    }
}

/// The CPUs that the calling thread may run on.
///
/// # Errors
/// As sched_getaffinity(2) says.
pub fn affinity() -> io::Result<Vec<u32>> {
    let mut words = vec![0; 1024 / BITS];
    loop {
        // SAFETY: the kernel writes at most as many bytes as the buffer has.
        let result = unsafe {
            libc::sched_getaffinity(0, size_of_val(words.as_slice()), words.as_mut_ptr().cast())
        };
        if result == 0 {
            return Ok(CpuMask(words).cpus());
        }
        let error = io::Error::last_os_error();
        // The kernel has more CPUs than the buffer has bits.
        if error.raw_os_error() != Some(libc::EINVAL) || words.len() >= MOST_WORDS {
            return Err(error);
        }
        let double = words.len() * 2;
        words.resize(double, 0);
    }
}

/// Makes the calling thread run on these CPUs alone.
///
/// # Errors
/// EINVAL when none of them is there or may be used.
pub fn set_affinity(cpus: &[u32]) -> io::Result<()> {
    let mask = CpuMask::of(cpus);
    let words = mask.words();
    // SAFETY: the kernel reads as many bytes as the slice has.
    let result = unsafe { libc::sched_setaffinity(0, size_of_val(words), words.as_ptr().cast()) };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// The CPU that the calling thread is on, at this moment.
pub fn current_cpu() -> Option<u32> {
    // SAFETY: takes nothing and writes nothing.
    u32::try_from(unsafe { libc::sched_getcpu() }).ok()
}

/// The CPUs that are online.
///
/// # Errors
/// When the kernel's list cannot be read, or is none.
pub fn online(root: &Root) -> io::Result<Vec<u32>> {
    listed(root, "/sys/devices/system/cpu/online")
}

/// The CPUs that the machine can have, whether they are there now or not.
///
/// # Errors
/// When the kernel's list cannot be read, or is none.
pub fn possible(root: &Root) -> io::Result<Vec<u32>> {
    listed(root, "/sys/devices/system/cpu/possible")
}

fn listed(root: &Root, path: &str) -> io::Result<Vec<u32>> {
    parse_list(&root.read(path)?)
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "the list of CPUs is not one"))
}

/// The CPUs of a kernel's list: `0,2-5`. An empty list has none.
pub fn parse_list(text: &str) -> Option<Vec<u32>> {
    let text = text.trim();
    let mut cpus = Vec::new();
    for part in text.split(',').filter(|_| !text.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        if first > last || last as usize >= MOST_WORDS * BITS {
            return None;
        }
        cpus.extend(first..=last);
    }
    Some(cpus)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mask_holds_what_was_put_in() {
        for cpus in [vec![0], vec![1, 63, 64, 65], vec![1023]] {
            assert_eq!(CpuMask::of(&cpus).cpus(), cpus);
        }
        assert_eq!(CpuMask::of(&[]).cpus(), []);
    }

    #[test]
    fn lists_of_the_kernel_are_read() {
        assert_eq!(parse_list("0,2-4\n"), Some(vec![0, 2, 3, 4]));
        assert_eq!(parse_list(""), Some(vec![]));
        for text in ["a", "3-1", "1,,2", "0-4294967295"] {
            assert_eq!(parse_list(text), None, "{text}");
        }
    }

    #[test]
    fn this_thread_is_on_a_cpu_that_it_may_use() {
        // A thread of its own, so that the others keep their CPUs.
        std::thread::spawn(|| {
            let may = affinity().unwrap();
            let last = *may.last().unwrap();
            set_affinity(&[last]).unwrap();
            assert_eq!(affinity().unwrap(), [last]);
            assert_eq!(current_cpu(), Some(last));
            assert!(set_affinity(&[]).is_err());
        })
        .join()
        .unwrap();
    }

    #[test]
    fn this_machine_has_cpus_online() {
        let online = online(&Root::real()).unwrap();
        assert!(affinity().unwrap().iter().all(|cpu| online.contains(cpu)));
    }
}
