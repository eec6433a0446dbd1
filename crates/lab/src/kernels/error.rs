//! Why there is no such kernel: one sentence of cause, one of remedy.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::Recipe;

/// Why the cache could not give a kernel.
#[derive(Debug, Error)]
pub enum KernelError {
    /// No place for a cache is known.
    #[error(
        "no place for kernels is known, because none of KNOBSTAT_KERNEL_CACHE, XDG_CACHE_HOME and HOME is set to an absolute path; set one of them"
    )]
    NoPlace,
    /// A name that could not be part of a file's name.
    #[error(
        "\"{name}\" cannot be the name of a kernel; a name has letters, digits, dots, underscores and dashes"
    )]
    Name {
        /// What was given.
        name: String,
    },
    /// There is no kernel of this name.
    #[error(
        "there is no kernel \"{name}\" in {}{}; {}",
        places(.searched), there_are(.present), how_to_have(.name)
    )]
    Missing {
        /// The name.
        name: String,
        /// Where it was looked for.
        searched: Vec<PathBuf>,
        /// The kernels that there are.
        present: Vec<String>,
    },
    /// There is no kernel at all.
    #[error("there is no kernel in {}; run `knobstat vm prepare`", places(.searched))]
    Empty {
        /// Where it was looked for.
        searched: Vec<PathBuf>,
    },
    /// There is no kernel of this tick rate.
    #[error(
        "there is no kernel with {hz} ticks a second in {}{}; run `knobstat vm prepare hz{hz}`",
        places(.searched), there_are(.present)
    )]
    TickRate {
        /// Ticks a second.
        hz: u32,
        /// Where it was looked for.
        searched: Vec<PathBuf>,
        /// The kernels that there are.
        present: Vec<String>,
    },
    /// The kernel has no such module.
    #[error(
        "the kernel \"{kernel}\" has no module \"{module}\"{}; name a module that it has, or the file of one",
        .directory.as_ref().map_or(" and no modules at all".to_owned(), |directory| format!(" below {}", directory.display()))
    )]
    Module {
        /// The kernel.
        kernel: String,
        /// The module.
        module: String,
        /// Where it was looked for.
        directory: Option<PathBuf>,
    },
    /// Something of the cache could not be read.
    #[error("{} cannot be read ({cause}); make it readable, or remove it and run `knobstat vm prepare`", .path.display())]
    Unreadable {
        /// What.
        path: PathBuf,
        /// What the system says.
        cause: String,
    },
}

impl KernelError {
    pub(super) fn unreadable(path: &Path, error: &std::io::Error) -> Self {
        Self::Unreadable {
            path: path.to_owned(),
            cause: error.to_string(),
        }
    }
}

fn how_to_have(name: &str) -> String {
    match name.parse::<Recipe>() {
        Ok(recipe) => {
            format!("run `knobstat vm prepare {recipe}`, or name the path of a kernel's image")
        }
        Err(_) => {
            "name one that is there, or the path of a kernel's image; `knobstat vm prepare --help` tells which can be made".to_owned()
        }
    }
}

fn places(directories: &[PathBuf]) -> String {
    let mut text = String::new();
    for (index, directory) in directories.iter().enumerate() {
        let or = if index > 0 { " or " } else { "" };
        // Writing to a string cannot fail.
        let _ = write!(text, "{or}{}", directory.display());
    }
    text
}

fn there_are(names: &[String]) -> String {
    match names {
        [] => String::new(),
        names => format!(" (there: {})", names.join(", ")),
    }
}
