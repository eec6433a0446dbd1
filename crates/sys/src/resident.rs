//! Keeping this process's resident set small while it starts another one.
//!
//! The peak that the kernel tells of a process is never below what the process that started it
//! had resident at that moment (setmax_mm_hiwater_rss, fs/exec.c). Most of what this program has
//! resident is code that was needed once, and that the kernel holds in its page cache anyway: its
//! pages are let go of, and those that are needed still come back by themselves.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// What `/proc/PID/clear_refs` takes for setting the peak back to what is resident now (proc(5)).
const SET_PEAK_BACK: &[u8] = b"5";

/// This process's pages that can be let go of, and its peak.
#[derive(Debug)]
pub struct Resident {
    code: Vec<(usize, usize)>,
    clear: Option<File>,
    status: Option<File>,
}

impl Resident {
    /// Looks up the mappings. Those of this program and of the C library stay for its whole life.
    pub fn of_self() -> Self {
        let program = fs::read_link("/proc/self/exe").unwrap_or_default();
        let code = fs::read_to_string("/proc/self/smaps")
            .map(|maps| clean_code(&maps, &program))
            .unwrap_or_default();
        Self {
            code,
            clear: OpenOptions::new()
                .write(true)
                .open("/proc/self/clear_refs")
                .ok(),
            status: File::open("/proc/self/status").ok(),
        }
    }

    /// Lets go of the pages. The next accesses fault them in again, which is not for measured
    /// paths.
    pub fn let_go(&self) {
        for (start, end) in &self.code {
            // SAFETY: the range is a private mapping of a file, not writable and without a page
            // of its own, that stays mapped as long as this program runs: dropping its pages
            // changes no byte of it, the next access reads them from the file again.
            unsafe {
                libc::madvise(
                    *start as *mut libc::c_void,
                    end - start,
                    libc::MADV_DONTNEED,
                )
            };
        }
    }

    /// Sets the peak back to what is resident now. Where the kernel does not take it, the peak is
    /// larger and still told truly.
    pub fn set_peak_back(&self) {
        if let Some(clear) = &self.clear {
            let _ = clear.write_at(SET_PEAK_BACK, 0);
        }
    }

    /// The largest resident set since the peak was set back, in bytes. Allocates nothing.
    ///
    /// # Errors
    /// When the kernel does not tell.
    pub fn peak(&self) -> io::Result<u64> {
        let untold = || io::Error::from(io::ErrorKind::Unsupported);
        let mut text = [0; 4096];
        let length = self
            .status
            .as_ref()
            .ok_or_else(untold)?
            .read_at(&mut text, 0)?;
        std::str::from_utf8(&text[..length])
            .ok()
            .and_then(peak_in)
            .ok_or_else(untold)
    }
}

fn peak_in(status: &str) -> Option<u64> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

/// The mappings of this program and of the C library that are neither writable nor shared and have
/// no page of their own: relocated ones have. Where nothing is resident there is nothing to let go
/// of; and an emulator that says so of every mapping (qemu-user) does not know the one or the other.
fn clean_code(smaps: &str, program: &Path) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut candidate = None;
    for line in smaps.lines() {
        if let Some(range) = range(line) {
            candidate = is_code(line, program).then_some(range);
        } else if let Some(kibibytes) = line.strip_prefix("Rss:") {
            candidate = candidate.filter(|_| kibibytes.trim() != "0 kB");
        } else if let Some(kibibytes) = line.strip_prefix("Anonymous:") {
            let none = kibibytes.trim() == "0 kB";
            found.extend(candidate.take().filter(|_| none));
        }
    }
    found
}

/// The addresses that a mapping's first line begins with.
fn range(line: &str) -> Option<(usize, usize)> {
    let (range, _) = line.split_once(' ')?;
    let (start, end) = range.split_once('-')?;
    let address = |text| usize::from_str_radix(text, 16).ok();
    Some((address(start)?, address(end)?))
}

fn is_code(line: &str, program: &Path) -> bool {
    let mut fields = line.split_ascii_whitespace();
    let rights = fields.nth(1).unwrap_or_default();
    // The path begins after offset, device and inode, and may hold spaces.
    let Some(at) = line.find('/') else {
        return false;
    };
    let path = Path::new(&line[at..]);
    let is_c_library = path
        .file_name()
        .is_some_and(|name| name.to_string_lossy().starts_with("libc.so"));
    matches!(rights, "r-xp" | "r--p") && (path == program || is_c_library)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMAPS: &str = "\
55e0-55f0 r--p 00000000 08:01 77 /opt/a b/knobstat
Size: 4 kB
Rss: 4 kB
Anonymous: 0 kB
VmFlags: rd mr
55e8-55f0 r--p 00000000 08:01 77 /opt/a b/knobstat
Rss:                   0 kB
Anonymous:             0 kB
55f0-5600 r-xp 00001000 08:01 77 /opt/a b/knobstat
Anonymous: 0 kB
5600-5610 r--p 00002000 08:01 77 /opt/a b/knobstat
Anonymous: 8 kB
5610-5620 rw-p 00003000 08:01 77 /opt/a b/knobstat
Anonymous: 0 kB
7000-7010 r-xp 00000000 08:01 78 /usr/lib/libc.so.6
Anonymous: 0 kB
7010-7020 r-xp 00000000 08:01 79 /usr/lib/libnss_x.so.2
Anonymous: 0 kB
7100-7110 r-xp 00000000 00:00 0 [vdso]
Anonymous: 0 kB
";

    #[test]
    fn only_what_cannot_change_and_cannot_go_is_let_go_of() {
        assert_eq!(
            clean_code(SMAPS, Path::new("/opt/a b/knobstat")),
            [(0x55e0, 0x55f0), (0x55f0, 0x5600), (0x7000, 0x7010)]
        );
        assert_eq!(clean_code("no such thing", Path::new("/x")), []);
    }

    #[test]
    fn the_peak_falls_and_the_program_runs_on() {
        let resident = Resident::of_self();
        let Ok(before) = resident.peak() else {
            println!("this kernel does not tell the peak");
            return;
        };
        let held = std::hint::black_box(vec![1_u8; 8 << 20]);
        assert!(resident.peak().unwrap() >= before + (4 << 20));
        drop(held);
        resident.let_go();
        resident.set_peak_back();
        let after = resident.peak().unwrap();
        if resident.clear.is_some() {
            assert!(after < before + (4 << 20), "{after} and {before}");
        }
        assert_eq!(peak_in("VmPeak: 9 kB\nVmHWM:\t  12 kB\n"), Some(12 << 10));
        assert_eq!(peak_in("VmHWM: many kB\n"), None);
    }
}
