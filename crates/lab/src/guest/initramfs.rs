//! The initramfs: this program as `/init`, and whatever else a guest is given.

use std::fs;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{MemfdFlags, memfd_create};

use super::archive::Archive;
use super::pack::{self, PackError};
use super::{elf, libraries};

/// Where the guest finds its modules, in the order of their names.
const MODULES: &str = "/knobstat/modules";
/// Where the guest finds the directories in which it looks for programs.
const SEARCH_PATH: &str = "/knobstat/path";

/// The directories in which programs are looked for where nothing else was packed.
const USUAL_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// A kernel module to be loaded in the guest: a file that is not compressed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleFile(pub PathBuf);

/// What a guest is given, collected file by file.
#[derive(Clone, Debug)]
pub struct Initramfs {
    archive: Archive,
    modules: usize,
    directories: Vec<String>,
}

impl Initramfs {
    /// This program as `/init`, with its libraries.
    ///
    /// # Errors
    /// When the program or a library cannot be read.
    pub fn of_program(program: &Path) -> Result<Self, PackError> {
        let mut archive = Archive::new();
        for directory in ["/dev", "/proc", "/sys", "/tmp", "/run", "/root"] {
            archive.directory(directory);
        }
        archive.device("/dev/console", 0o600, 5, 1);
        archive.device("/dev/null", 0o666, 1, 3);
        // Users by number do for the guest; a name is looked up when a program asks for one.
        archive.file("/etc/passwd", 0o644, b"root:x:0:0:root:/root:/bin/sh\n");
        archive.file("/etc/group", 0o644, b"root:x:0:\n");
        let bytes = fs::read(program).map_err(|error| PackError::Unreadable {
            path: program.to_owned(),
            error,
        })?;
        let needed = libraries::of(program, &bytes)?;
        archive.file("/init", 0o755, &elf::loaded_part(bytes));
        for library in &needed {
            pack::file(&mut archive, library)?;
        }
        Ok(Self {
            archive,
            modules: 0,
            directories: Vec::new(),
        })
    }

    /// Adds a file of the host at its own path, with what it needs to run where it is a program;
    /// of a directory everything in it.
    ///
    /// # Errors
    /// When something cannot be read.
    pub fn add_file(&mut self, path: &Path) -> Result<(), PackError> {
        pack::file(&mut self.archive, path)
    }

    /// Adds a program of the host at its own path, and has the guest look for programs there.
    ///
    /// # Errors
    /// When it cannot be read, or is no program.
    pub fn add_program(&mut self, path: &Path) -> Result<(), PackError> {
        pack::program(&mut self.archive, path)?;
        let directory = path.parent().and_then(Path::to_str).unwrap_or("/");
        if !self.directories.iter().any(|known| known == directory) {
            self.directories.push(directory.to_owned());
        }
        Ok(())
    }

    /// Adds a kernel module, loaded after those that were added before it.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn add_module(&mut self, module: &ModuleFile) -> Result<(), PackError> {
        let path = &module.0;
        let bytes = fs::read(path).map_err(|error| PackError::Unreadable {
            path: path.clone(),
            error,
        })?;
        let name = path.file_name().and_then(|name| name.to_str());
        let name = name.unwrap_or("module.ko");
        let place = format!("{MODULES}/{:03}-{name}", self.modules);
        self.archive.file(&place, 0o644, &bytes);
        self.modules += 1;
        Ok(())
    }

    /// Adds a file of this content.
    pub fn add_content(&mut self, path: &str, permissions: u32, content: &[u8]) {
        self.archive.file(path, permissions, content);
    }

    /// The image, in memory: nothing is left of it once nobody uses it any more. QEMU inherits
    /// the descriptor.
    ///
    /// # Errors
    /// When there is no memory for it.
    pub fn image(mut self) -> std::io::Result<OwnedFd> {
        let mut path = self.directories.join(":");
        if !path.is_empty() {
            path.push(':');
        }
        path.push_str(USUAL_PATH);
        self.archive.file(SEARCH_PATH, 0o644, path.as_bytes());
        let image = memfd_create("knobstat-initramfs", MemfdFlags::empty())?;
        let mut file = fs::File::from(image);
        file.write_all(&self.archive.into_bytes())?;
        Ok(file.into())
    }
}
