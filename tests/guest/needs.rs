//! What a test needs of the machine that it runs on, and how it shows that it is not there.

use std::path::{Path, PathBuf};

use knobstat_lab::guest::{QEMU, find_qemu};
use knobstat_lab::kernels::{Cache, DEBIAN, Kernel};
use knobstat_sys::spawn::{Lookup, find_program};

/// Something that not every machine gives a test.
#[derive(Clone, Copy, Debug)]
pub enum Need {
    /// QEMU, busybox, and Debian's kernel in the cache.
    Guest,
    /// The headers of that kernel, and what builds a module.
    Modules,
    /// mkfs.ext4, which makes disk images.
    Disk,
    /// A compiler, for a library that is loaded before others.
    Compiler,
}

impl Need {
    /// What is lacking, in a few words; none where nothing is.
    pub fn lacking(self) -> Option<String> {
        let program = |name: &str| find(name).is_none().then(|| format!("{name} is missing"));
        match self {
            Self::Guest => program(QEMU)
                .or_else(|| program("busybox"))
                .or_else(|| kernel().err()),
            Self::Modules => ["make", "gcc"]
                .into_iter()
                .find_map(program)
                .or_else(|| headers().err()),
            Self::Disk => mkfs().is_none().then(|| "mkfs.ext4 is missing".to_owned()),
            Self::Compiler => program("gcc"),
        }
    }
}

/// A program of the search path.
pub fn find(name: &str) -> Option<PathBuf> {
    let search_path = std::env::var_os("PATH");
    match find_program(name.as_ref(), search_path.as_deref(), Path::new("/")) {
        Lookup::Found(path) => Some(path),
        _ => None,
    }
}

/// QEMU.
pub fn qemu() -> PathBuf {
    find_qemu(std::env::var_os("PATH").as_deref()).expect("a test that needs it")
}

/// What makes disk images, which is not on everybody's search path.
pub fn mkfs() -> Option<PathBuf> {
    let name = "mkfs.ext4";
    find(name).or_else(|| Some(Path::new("/usr/sbin").join(name)).filter(|path| path.exists()))
}

/// Debian's kernel.
pub fn kernel() -> Result<Kernel, String> {
    Cache::locate(std::env::var_os)
        .and_then(|cache| cache.find(DEBIAN))
        .map_err(|error| error.to_string())
}

/// The directory that modules for Debian's kernel are built with.
pub fn headers() -> Result<PathBuf, String> {
    let modules = kernel()?.modules.ok_or("the kernel has no modules")?;
    let release = std::fs::read_dir(&modules)
        .ok()
        .and_then(|mut entries| entries.next()?.ok())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .ok_or("the kernel has no modules")?;
    let headers = Path::new("/usr/src").join(format!("linux-headers-{release}"));
    if headers.join("Makefile").exists() {
        Ok(headers)
    } else {
        Err(format!("linux-headers-{release} is not installed"))
    }
}
