//! Disposable guests.

use std::num::NonZero;

use clap::{Args, Subcommand};
use knobstat_lab::kernels::Recipe;

/// `knobstat vm`
#[derive(Debug, Subcommand)]
pub enum Vm {
    /// Bring what guests need: QEMU, Debian's ready-made kernel, and kernels of other tick rates
    /// built from Debian's kernel source. Only what is missing is done.
    Prepare(VmPrepare),
    /// Open a guest for a look. Nothing in it is kept.
    Shell(VmShell),
}

/// `knobstat vm prepare`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  knobstat vm prepare --list
  knobstat vm prepare debian
  knobstat vm prepare hz1000 --dry-run
  sudo knobstat vm prepare")]
pub struct VmPrepare {
    /// The kernels: debian, hz100, hz250, hz300 or hz1000; by default debian, hz250 and hz1000.
    #[arg(value_name = "KERNEL")]
    pub kernels: Vec<Recipe>,
    /// Say which kernels there are, and do nothing.
    #[arg(long, conflicts_with_all = ["dry_run", "kernels", "jobs"])]
    pub list: bool,
    /// Only print the commands that a person would type.
    #[arg(long, conflicts_with = "json")]
    pub dry_run: bool,
    /// How many programs build at a time; by default as many as there are processors.
    #[arg(long, value_name = "N")]
    pub jobs: Option<NonZero<usize>>,
    /// Print the kernels as JSON.
    #[arg(long)]
    pub json: bool,
}

/// `knobstat vm shell`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  knobstat vm shell
  knobstat vm shell --kernel debian --append 'nohz=off highres=off'
  knobstat vm shell --cpus 2 --acpi-table idle-states-2cpu")]
pub struct VmShell {
    /// The kernel: its name in the cache, or the path of its image; by default the cache's newest.
    #[arg(long, value_name = "KERNEL")]
    pub kernel: Option<String>,
    /// Logical CPUs.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=255))]
    pub cpus: u32,
    /// Words for the kernel's command line.
    #[arg(long, value_name = "WORDS")]
    pub append: Option<String>,
    /// An ACPI table besides the machine's own: the path of a compiled one, or idle-states-1cpu or
    /// idle-states-2cpu. Several times for several.
    #[arg(long = "acpi-table", value_name = "TABLE")]
    pub acpi_tables: Vec<String>,
    /// A kernel module that is loaded: a path, or a name of one of the kernel's. Several times for
    /// several, in order.
    #[arg(long = "module", value_name = "MODULE")]
    pub modules: Vec<String>,
    /// A file or directory of this machine that the guest gets at the same path. Several times for
    /// several.
    #[arg(long = "file", value_name = "PATH")]
    pub files: Vec<String>,
}
