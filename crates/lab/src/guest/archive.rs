//! The archive format of an initramfs: "newc" cpio, as the kernel unpacks it into its root file
//! system (the kernel's documentation, driver-api/early-userspace/buffer-format).
//!
//! Knows bytes and no file system.

use std::collections::BTreeSet;

/// File types in the upper bits of a mode (inode(7)).
const DIRECTORY: u32 = 0o040_000;
const REGULAR: u32 = 0o100_000;
const SYMBOLIC_LINK: u32 = 0o120_000;
const CHARACTER_DEVICE: u32 = 0o020_000;

/// Header, names and contents all begin at a multiple of this.
const ALIGNMENT: usize = 4;

/// The name of the entry that ends an archive.
const TRAILER: &str = "TRAILER!!!";

/// An archive under construction. Each path is taken once; a second entry of the same path is
/// left out. Directories above an entry are made as they are needed.
#[derive(Clone, Debug, Default)]
pub struct Archive {
    bytes: Vec<u8>,
    paths: BTreeSet<String>,
}

struct Entry<'a> {
    path: &'a str,
    mode: u32,
    device: (u32, u32),
    content: &'a [u8],
}

impl Archive {
    /// An archive with nothing in it.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether there is an entry of this absolute path.
    pub fn has(&self, path: &str) -> bool {
        self.paths.contains(relative(path))
    }

    /// Adds a directory and those above it.
    pub fn directory(&mut self, path: &str) {
        let path = relative(path);
        let ends = path
            .match_indices('/')
            .map(|(at, _)| at)
            .chain([path.len()]);
        for end in ends {
            self.add(&Entry {
                path: &path[..end],
                mode: DIRECTORY | 0o755,
                device: (0, 0),
                content: &[],
            });
        }
    }

    /// Adds a file with these permissions.
    pub fn file(&mut self, path: &str, permissions: u32, content: &[u8]) {
        self.parents(path);
        self.add(&Entry {
            path: relative(path),
            mode: REGULAR | permissions,
            device: (0, 0),
            content,
        });
    }

    /// Adds a symbolic link.
    pub fn link(&mut self, path: &str, target: &str) {
        self.parents(path);
        self.add(&Entry {
            path: relative(path),
            mode: SYMBOLIC_LINK | 0o777,
            device: (0, 0),
            content: target.as_bytes(),
        });
    }

    /// Adds a character device.
    pub fn device(&mut self, path: &str, permissions: u32, major: u32, minor: u32) {
        self.parents(path);
        self.add(&Entry {
            path: relative(path),
            mode: CHARACTER_DEVICE | permissions,
            device: (major, minor),
            content: &[],
        });
    }

    /// The archive, ended.
    pub fn into_bytes(mut self) -> Vec<u8> {
        self.write(
            0,
            &Entry {
                path: TRAILER,
                mode: 0,
                device: (0, 0),
                content: &[],
            },
        );
        self.bytes
    }

    fn parents(&mut self, path: &str) {
        if let Some((parent, _)) = relative(path).rsplit_once('/') {
            self.directory(parent);
        }
    }

    fn add(&mut self, entry: &Entry<'_>) {
        if !entry.path.is_empty() && self.paths.insert(entry.path.to_owned()) {
            self.write(self.paths.len(), entry);
        }
    }

    /// Each entry has a number of its own, so that none is taken for a second name of another.
    fn write(&mut self, number: usize, entry: &Entry<'_>) {
        let links = if entry.mode & DIRECTORY == DIRECTORY {
            2
        } else {
            1
        };
        let fields = [
            number,
            entry.mode as usize,
            0,
            0,
            links,
            0,
            entry.content.len(),
            0,
            0,
            entry.device.0 as usize,
            entry.device.1 as usize,
            entry.path.len() + 1,
            0,
        ];
        self.bytes.extend_from_slice(b"070701");
        for field in fields {
            self.bytes
                .extend_from_slice(format!("{field:08x}").as_bytes());
        }
        self.bytes.extend_from_slice(entry.path.as_bytes());
        self.bytes.push(0);
        self.align();
        self.bytes.extend_from_slice(entry.content);
        self.align();
    }

    fn align(&mut self) {
        let length = self.bytes.len().next_multiple_of(ALIGNMENT);
        self.bytes.resize(length, 0);
    }
}

/// The root of an archive is the root of the file system, and no name begins with a slash.
fn relative(path: &str) -> &str {
    path.trim_matches('/')
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::process::{Command, Stdio};

    use proptest::prelude::*;

    use super::*;

    /// What an archive holds, read back by hand: path, mode, content.
    fn read(mut bytes: &[u8]) -> Vec<(String, u32, Vec<u8>)> {
        let mut entries = Vec::new();
        let total = bytes.len();
        loop {
            let at = |bytes: &[u8]| total - bytes.len();
            assert_eq!(at(bytes) % ALIGNMENT, 0);
            assert_eq!(&bytes[..6], b"070701");
            let field = |index: usize| {
                let text = std::str::from_utf8(&bytes[6 + index * 8..14 + index * 8]).unwrap();
                u32::from_str_radix(text, 16).unwrap()
            };
            let (mode, size, name_size) = (field(1), field(6) as usize, field(11) as usize);
            let name = std::str::from_utf8(&bytes[110..110 + name_size - 1]).unwrap();
            assert_eq!(bytes[110 + name_size - 1], 0);
            let start = (110 + name_size).next_multiple_of(ALIGNMENT);
            let content = bytes[start..start + size].to_vec();
            if name == TRAILER {
                return entries;
            }
            entries.push((name.to_owned(), mode, content));
            bytes = &bytes[(start + size).next_multiple_of(ALIGNMENT)..];
        }
    }

    #[test]
    fn directories_above_an_entry_come_before_it_and_once() {
        let mut archive = Archive::new();
        archive.file("/usr/lib/a", 0o644, b"a");
        archive.file("/usr/lib/b", 0o755, b"bcd");
        archive.link("/lib", "usr/lib");
        archive.device("/dev/console", 0o600, 5, 1);
        archive.file("/usr/lib/a", 0o644, b"another");
        let entries = read(&archive.into_bytes());
        let paths: Vec<&str> = entries.iter().map(|(path, ..)| path.as_str()).collect();
        assert_eq!(
            paths,
            [
                "usr",
                "usr/lib",
                "usr/lib/a",
                "usr/lib/b",
                "lib",
                "dev",
                "dev/console"
            ]
        );
        assert_eq!(entries[2].2, b"a");
        assert_eq!(entries[3].1, 0o100_755);
        assert_eq!(entries[4].2, b"usr/lib");
    }

    #[test]
    fn cpio_reads_it() {
        let mut archive = Archive::new();
        archive.file("/init", 0o755, &[7; 4099]);
        archive.link("/bin", "usr/bin");
        let cpio = Command::new("cpio")
            .args(["--list", "--quiet"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        // Not every machine has cpio; what it would find is checked by hand above.
        let Ok(mut cpio) = cpio else { return };
        cpio.stdin
            .take()
            .unwrap()
            .write_all(&archive.into_bytes())
            .unwrap();
        let listed = cpio.wait_with_output().unwrap();
        assert!(listed.status.success());
        assert_eq!(listed.stdout, b"init\nbin\n");
    }

    proptest! {
        #[test]
        fn every_file_comes_out_as_it_went_in(
            files in prop::collection::btree_map("[a-z]{1,9}(/[a-z]{10,19}){0,3}", prop::collection::vec(any::<u8>(), 0..50), 0..20),
        ) {
            let mut archive = Archive::new();
            for (path, content) in &files {
                archive.file(path, 0o644, content);
            }
            let entries = read(&archive.into_bytes());
            for (path, content) in &files {
                let found: Vec<_> = entries.iter().filter(|(name, ..)| name == path).collect();
                prop_assert_eq!(found.len(), 1);
                prop_assert_eq!(&found[0].2, content);
            }
        }
    }
}
