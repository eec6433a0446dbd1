//! The smallest program: it ends at once. A rehearsal executes it in place of the real one.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::sync::OnceLock;

use crate::unnamed_file::unnamed_file;

/// What it does: exit(0), in the machine's own words.
#[cfg(target_arch = "x86_64")]
const CODE: &[u8] = &[
    0x31, 0xff, // xor edi, edi
    0xb8, 0x3c, 0x00, 0x00, 0x00, // mov eax, 60
    0x0f, 0x05, // syscall
];
/// What it does: exit(0), in the machine's own words.
#[cfg(target_arch = "aarch64")]
const CODE: &[u8] = &[
    0x00, 0x00, 0x80, 0xd2, // mov x0, #0
    0xa8, 0x0b, 0x80, 0xd2, // mov x8, #93
    0x01, 0x00, 0x00, 0xd4, // svc #0
];

/// EM_X86_64 and EM_AARCH64 of elf(5).
#[cfg(target_arch = "x86_64")]
const MACHINE: u16 = 62;
/// EM_X86_64 and EM_AARCH64 of elf(5).
#[cfg(target_arch = "aarch64")]
const MACHINE: u16 = 183;

/// Where it is loaded, as static programs are.
const ADDRESS: u64 = 0x40_0000;
const FILE_HEADER: u16 = 64;
const PROGRAM_HEADER: u16 = 56;
/// The largest page of either machine.
const ALIGNMENT: u64 = 0x1_0000;

/// A descriptor of the program, made once; none where this machine gives no file in memory.
pub(super) fn descriptor() -> Option<RawFd> {
    static PROGRAM: OnceLock<Option<File>> = OnceLock::new();
    PROGRAM
        .get_or_init(|| write().ok())
        .as_ref()
        .map(File::as_raw_fd)
}

fn write() -> io::Result<File> {
    let mut file = unnamed_file()?;
    file.write_all(&image())?;
    Ok(file)
}

/// The whole file as elf(5) describes it: a header, one loadable segment, the code.
fn image() -> Vec<u8> {
    let start = u64::from(FILE_HEADER) + u64::from(PROGRAM_HEADER);
    let size = start + CODE.len() as u64;
    let mut image = Vec::with_capacity(CODE.len() + usize::from(FILE_HEADER + PROGRAM_HEADER));
    // 64 bits, little-endian, version 1, System V.
    image.extend([0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    let half = |image: &mut Vec<u8>, value: u16| image.extend(value.to_le_bytes());
    let word = |image: &mut Vec<u8>, value: u32| image.extend(value.to_le_bytes());
    let long = |image: &mut Vec<u8>, value: u64| image.extend(value.to_le_bytes());
    half(&mut image, 2); // e_type: ET_EXEC
    half(&mut image, MACHINE);
    word(&mut image, 1); // e_version
    long(&mut image, ADDRESS + start); // e_entry
    long(&mut image, FILE_HEADER.into()); // e_phoff
    long(&mut image, 0); // e_shoff
    word(&mut image, 0); // e_flags
    half(&mut image, FILE_HEADER); // e_ehsize
    half(&mut image, PROGRAM_HEADER); // e_phentsize
    half(&mut image, 1); // e_phnum
    half(&mut image, 64); // e_shentsize
    half(&mut image, 0); // e_shnum
    half(&mut image, 0); // e_shstrndx
    word(&mut image, 1); // p_type: PT_LOAD
    word(&mut image, 5); // p_flags: read and execute
    long(&mut image, 0); // p_offset
    long(&mut image, ADDRESS); // p_vaddr
    long(&mut image, ADDRESS); // p_paddr
    long(&mut image, size); // p_filesz
    long(&mut image, size); // p_memsz
    long(&mut image, ALIGNMENT); // p_align
    image.extend(CODE);
    image
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn it_ends_at_once_and_well() {
        let descriptor = descriptor().expect("a file in memory");
        let own = std::process::id();
        let status = Command::new(format!("/proc/{own}/fd/{descriptor}"))
            .status()
            .unwrap();
        assert!(status.success());
    }
}
