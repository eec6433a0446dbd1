//! The built-in surveys by themselves.

use std::time::Duration;

use clap::Args;
use knobstat_data::experiment::parse_duration;
use knobstat_data::{CpuList, Priority};

/// What is asked of each of the surveys.
#[derive(Clone, Debug, Args)]
pub struct Survey {
    /// How long is looked.
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = positive_duration)]
    pub duration: Duration,
    /// The CPUs that are looked at, such as 1 or 0,2-5; by default all.
    #[arg(long, value_name = "CPUS")]
    pub cpus: Option<CpuList>,
    /// The time from one wake-up or sample to the next; for `noise`, the length of the windows of
    /// which the worst is told.
    #[arg(long, value_name = "TIME", default_value = "1ms", value_parser = positive_duration)]
    pub interval: Duration,
    /// The priority of the threads that look, nice:N or fifo:N; by default unchanged.
    #[arg(long, value_name = "PRIORITY")]
    pub priority: Option<Priority>,
    /// Print as JSON.
    #[arg(long)]
    pub json: bool,
}

/// A stretch of time that is longer than nothing.
pub(super) fn positive_duration(text: &str) -> Result<Duration, String> {
    match parse_duration(text) {
        Ok(Duration::ZERO) => Err("it must be longer than nothing".to_owned()),
        Ok(duration) => Ok(duration),
        Err(error) => Err(error.to_string()),
    }
}

/// `knobstat clock`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  knobstat clock
  knobstat clock --duration 10s --json
  sudo knobstat clock --all-sources")]
pub struct Clock {
    #[command(flatten)]
    pub survey: Survey,
    /// Select every clock source in turn, as root, and put the present one back.
    #[arg(long)]
    pub all_sources: bool,
}

/// `knobstat timer`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  knobstat timer
  knobstat timer --duration 10s --interval 200us --cpus 1
  sudo knobstat timer --priority fifo:80")]
pub struct Timer {
    #[command(flatten)]
    pub survey: Survey,
    /// How much later than asked the kernel may wake a thread that has no real-time priority; by
    /// default unchanged, which is 50us.
    #[arg(long, value_name = "TIME", value_parser = positive_duration)]
    pub timer_slack: Option<Duration>,
}

/// `knobstat noise`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  knobstat noise
  knobstat noise --duration 10s --cpus 2-3 --json")]
pub struct Noise {
    #[command(flatten)]
    pub survey: Survey,
}
