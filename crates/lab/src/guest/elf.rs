//! What of an executable is needed to run it: which program links it when it is started, and
//! the bytes that are loaded. (The System V ABI's object files, in their 64-bit little-endian
//! form, which is that of x86-64 and aarch64.)

/// Offsets within the file's header and the length of an entry of the program header table.
const PROGRAM_HEADERS_AT: usize = 32;
const SECTION_HEADERS_AT: usize = 40;
const ENTRY_SIZE_AT: usize = 54;
const ENTRIES_AT: usize = 56;
const SECTIONS: std::ops::Range<usize> = 58..64;
const HEADER_LENGTH: usize = 64;
const ENTRY_LENGTH: usize = 56;

/// The kind of a segment that names the program that links the executable.
const INTERPRETER: u32 = 3;

/// A segment: its kind and where it lies in the file.
struct Segment {
    kind: u32,
    start: usize,
    end: usize,
}

/// Whether these bytes are an executable or a library of this form.
pub fn is_executable(bytes: &[u8]) -> bool {
    // Magic, 64 bits, little-endian.
    bytes.starts_with(b"\x7fELF\x02\x01") && bytes.len() >= HEADER_LENGTH
}

/// The program that links it when it is started; none where it is linked already.
pub fn interpreter(bytes: &[u8]) -> Option<&str> {
    let segment = segments(bytes)?
        .into_iter()
        .find(|segment| segment.kind == INTERPRETER)?;
    let name = bytes.get(segment.start..segment.end)?;
    std::str::from_utf8(name.split(|byte| *byte == 0).next()?).ok()
}

/// The executable without what is only there for debuggers: section headers, and everything
/// beyond the last segment. What is not understood stays as it is.
pub fn loaded_part(mut bytes: Vec<u8>) -> Vec<u8> {
    let Some(segments) = segments(&bytes) else {
        return bytes;
    };
    let last = segments.iter().map(|segment| segment.end).max();
    let Some(last) = last.filter(|last| *last >= HEADER_LENGTH && *last <= bytes.len()) else {
        return bytes;
    };
    bytes.truncate(last);
    bytes[SECTION_HEADERS_AT..SECTION_HEADERS_AT + 8].fill(0);
    bytes[SECTIONS].fill(0);
    bytes
}

fn segments(bytes: &[u8]) -> Option<Vec<Segment>> {
    if !is_executable(bytes) {
        return None;
    }
    let table = long(bytes, PROGRAM_HEADERS_AT)?;
    if short(bytes, ENTRY_SIZE_AT)? != ENTRY_LENGTH {
        return None;
    }
    let mut segments = vec![Segment {
        kind: 0,
        start: 0,
        end: table.checked_add(short(bytes, ENTRIES_AT)?.checked_mul(ENTRY_LENGTH)?)?,
    }];
    for index in 0..short(bytes, ENTRIES_AT)? {
        let entry = table.checked_add(index * ENTRY_LENGTH)?;
        let kind = bytes.get(entry..entry.checked_add(4)?)?.try_into().ok()?;
        let start = long(bytes, entry.checked_add(8)?)?;
        segments.push(Segment {
            kind: u32::from_le_bytes(kind),
            start,
            end: start.checked_add(long(bytes, entry.checked_add(32)?)?)?,
        });
    }
    Some(segments)
}

fn long(bytes: &[u8], at: usize) -> Option<usize> {
    let bytes = bytes.get(at..at.checked_add(8)?)?.try_into().ok()?;
    usize::try_from(u64::from_le_bytes(bytes)).ok()
}

fn short(bytes: &[u8], at: usize) -> Option<usize> {
    let bytes = bytes.get(at..at.checked_add(2)?)?.try_into().ok()?;
    Some(usize::from(u16::from_le_bytes(bytes)))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn this_test_still_runs_without_what_is_for_debuggers() {
        let path = std::env::current_exe().unwrap();
        let bytes = std::fs::read(&path).unwrap();
        let whole = bytes.len();
        let small = loaded_part(bytes);
        assert!(small.len() < whole);
        let directory = tempfile::tempdir().unwrap();
        let [written, copy] = ["written", "small"].map(|name| directory.path().join(name));
        std::fs::write(&written, small).unwrap();
        // By another process: what is open for writing here would be so in whatever another test
        // starts at that moment, and cannot be executed (ETXTBSY).
        let mut install = Command::new("install");
        let installed = install
            .args(["-m", "755"])
            .arg(&written)
            .arg(&copy)
            .status();
        assert!(installed.unwrap().success());
        let listed = Command::new(&copy).arg("--list").output().unwrap();
        assert!(listed.status.success());
        assert!(String::from_utf8_lossy(&listed.stdout).contains("debuggers"));
    }

    #[test]
    fn a_script_is_no_executable_of_this_form_and_stays_as_it_is() {
        let script = b"#!/bin/sh\nexit 0\n".to_vec();
        assert_eq!(interpreter(&script), None);
        assert_eq!(loaded_part(script.clone()), script);
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(rest in prop::collection::vec(any::<u8>(), 0..300)) {
            let mut bytes = b"\x7fELF\x02\x01".to_vec();
            bytes.extend(rest);
            let _ = interpreter(&bytes);
            let _ = loaded_part(bytes);
        }
    }
}
