//! The commands about this machine and its settings.

use clap::Args;

/// `knobstat knobs`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  knobstat knobs
  knobstat knobs clocksource")]
pub struct Knobs {
    /// Only this knob, with its documentation: one of the list, or sysctl:NAME, sysfs:PATH, irq:N,
    /// cmdline:NAME.
    pub name: Option<String>,
    /// Print as JSON.
    #[arg(long)]
    pub json: bool,
}

/// `knobstat doctor`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  knobstat doctor
  knobstat doctor --baseline -n 12")]
pub struct Doctor {
    /// Also run a program that does nothing and a fixed busy loop under the present settings, and
    /// say which effect this machine could show at least.
    #[arg(long)]
    pub baseline: bool,
    /// How many pairs of runs of each the baseline is taken from.
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10, requires = "baseline", value_parser = clap::value_parser!(u32).range(2..=1000))]
    pub replicates: u32,
    /// Print as JSON.
    #[arg(long)]
    pub json: bool,
}

/// `knobstat restore`
#[derive(Debug, Args)]
pub struct Restore {
    /// Only print the commands that a person would type.
    #[arg(long)]
    pub dry_run: bool,
    /// Have systemd do it at every boot, and do nothing now.
    #[arg(long, conflicts_with_all = ["dry_run", "overwrite_others"])]
    pub install: bool,
    /// Also put back values that somebody else wrote after us.
    #[arg(long)]
    pub overwrite_others: bool,
    /// Print as JSON: knobstat.restore/1.
    #[arg(long, conflicts_with = "install")]
    pub json: bool,
}
