//! One kernel of the cache.

use std::fs;
use std::path::{Path, PathBuf};

use super::KernelError;

/// A kernel that a guest can boot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// Its name in the cache.
    pub name: String,
    /// The image, as QEMU's `-kernel` takes it.
    pub image: PathBuf,
    /// The text of its configuration (`CONFIG_…=…`), where that is known.
    pub config: Option<String>,
    /// The directory below which its modules lie, where it has any.
    pub modules: Option<PathBuf>,
}

impl Kernel {
    /// The value of an option of its configuration: `y`, `m`, a number, or a text without its
    /// quotes. `None` where the option is not set or the configuration is not known.
    pub fn option(&self, option: &str) -> Option<&str> {
        self.config.as_deref()?.lines().find_map(|line| {
            let value = line.strip_prefix(option)?.strip_prefix('=')?;
            Some(value.trim().trim_matches('"'))
        })
    }

    /// Ticks a second (`CONFIG_HZ`), where the configuration is known.
    pub fn hz(&self) -> Option<u32> {
        self.option("CONFIG_HZ")?.parse().ok()
    }

    /// The file of a module, by the name that it has once it is loaded or that its file has: dashes
    /// and underscores are one.
    ///
    /// # Errors
    /// When it has no such module, or its modules cannot be read.
    pub fn module(&self, name: &str) -> Result<PathBuf, KernelError> {
        let wanted = file_name_of(name);
        let found = match &self.modules {
            Some(directory) => find(directory, &wanted)?,
            None => None,
        };
        found.ok_or_else(|| KernelError::Module {
            kernel: self.name.clone(),
            module: name.to_owned(),
            directory: self.modules.clone(),
        })
    }
}

fn file_name_of(module: &str) -> String {
    let stem = module.strip_suffix(".ko").unwrap_or(module);
    format!("{}.ko", stem.replace('-', "_"))
}

fn find(directory: &Path, wanted: &str) -> Result<Option<PathBuf>, KernelError> {
    let unreadable = |error: &std::io::Error| KernelError::unreadable(directory, error);
    for entry in fs::read_dir(directory).map_err(|error| unreadable(&error))? {
        let entry = entry.map_err(|error| unreadable(&error))?;
        let kind = entry.file_type().map_err(|error| unreadable(&error))?;
        let path = entry.path();
        if kind.is_dir() {
            if let Some(found) = find(&path, wanted)? {
                return Ok(Some(found));
            }
        } else if entry.file_name().to_string_lossy().replace('-', "_") == wanted {
            return Ok(Some(path));
        }
    }
    Ok(None)
}
