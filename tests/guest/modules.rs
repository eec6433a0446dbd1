//! The kernel modules that only tests load, built for Debian's kernel.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::needs;

/// The file of one of our modules, such as `unstable_counter`.
pub fn ours(name: &str) -> PathBuf {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(build).join(format!("{name}.ko"))
}

/// The file of one of the kernel's own modules.
pub fn the_kernels(name: &str) -> PathBuf {
    needs::kernel().unwrap().module(name).unwrap()
}

fn build() -> PathBuf {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/guest/kernel-modules");
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("modules");
    std::fs::create_dir_all(&directory).unwrap();
    for entry in std::fs::read_dir(sources).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), directory.join(entry.file_name())).unwrap();
    }
    let output = Command::new("make")
        .arg("-C")
        .arg(needs::headers().unwrap())
        .arg(format!("M={}", directory.display()))
        .arg("modules")
        .env_remove("MAKEFLAGS")
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    directory
}
