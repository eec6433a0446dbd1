//! `knobstat vm`: what the disposable guests of `target.kind = "vm"` need, and a look into one.

pub mod prepare;
pub mod shell;

use knobstat_lab::kernels::{Cache, KernelError};

use crate::trouble::Trouble;

/// Where kernels are kept, under sudo for the user behind it.
pub fn cache() -> Result<Cache, Trouble> {
    let home = crate::front::home_behind_sudo()?;
    Cache::locate(|name| match (name, &home) {
        ("HOME", Some(home)) => Some(home.clone().into_os_string()),
        ("XDG_CACHE_HOME", Some(_)) => None,
        _ => std::env::var_os(name),
    })
    .map_err(kernel_trouble)
}

/// What an error of the cache means for the program.
pub fn kernel_trouble(error: KernelError) -> Trouble {
    match error {
        KernelError::Unreadable { .. } => Trouble::disk(error.to_string(), ""),
        _ => Trouble::request(error.to_string(), ""),
    }
}
