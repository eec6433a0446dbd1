//! The commands that carry experiments out.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// `knobstat run`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  knobstat run examples/quickstart.toml
  knobstat run --check examples/clock-sources.toml
  knobstat run examples/turboboost.toml --rehearse crates/model/machines/core-i7-870.toml
  sudo knobstat run examples/clock-sources.toml --json >clock-sources.json")]
pub struct Run {
    /// The experiment file.
    pub file: PathBuf,
    /// Validate the file and print the plan, without touching anything.
    #[arg(long)]
    pub check: bool,
    /// Run the experiment on a simulated machine first: how long the real one will take, which
    /// differences it should be able to see, and which not. Nothing is kept.
    #[arg(long, value_name = "MACHINE", conflicts_with = "check")]
    pub rehearse: Option<PathBuf>,
    #[command(flatten)]
    pub how: How,
}

/// How an experiment is run, whether it comes from a file or from the command line.
#[derive(Clone, Debug, Args)]
pub struct How {
    /// Start anew even where an unfinished experiment of the same content could be continued.
    #[arg(long)]
    pub new: bool,
    /// Run even if it will take longer than a day, and turn knobs outside the catalogue.
    #[arg(long)]
    pub yes: bool,
    /// Also put back values that somebody else wrote after us.
    #[arg(long)]
    pub overwrite_others: bool,
    /// Print the report as JSON; with --check the plan.
    #[arg(long)]
    pub json: bool,
    /// Show no progress.
    #[arg(long, short)]
    pub quiet: bool,
    /// Reboot this machine for levels that need another boot, as often as the plan asks for it.
    ///
    /// Its default entry stays as it is: each boot is an entry that is booted once, by what boots
    /// this machine or by the loader that is named. The experiment goes on by itself after each;
    /// `knobstat restore` ends that and removes every trace. Needs root.
    #[arg(long, value_name = "LOADER", num_args = 0..=1, require_equals = true, default_missing_value = "any")]
    pub reboot: Option<RebootBy>,
    /// Continue this experiment and no other: it is what the machine was rebooted for.
    #[arg(long, hide = true, value_name = "ID")]
    pub resume: Option<String>,
    /// Continue only what has this content.
    #[arg(long, hide = true, value_name = "SHA256")]
    pub unchanged: Option<String>,
}

/// By what this machine may be rebooted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RebootBy {
    /// Whatever boots it.
    Any,
    /// GRUB.
    Grub,
    /// systemd-boot.
    SystemdBoot,
    /// The running kernel, which starts the next one.
    Kexec,
}

/// `knobstat try`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  knobstat try -k thp=always,never -n 8 -- ./build.sh
  knobstat try -k turbo=on,off -k cstate=C1,C3 --cpus 1 -- make -C src
  knobstat try -k level=1,9 --prepare 'rm -f corpus.tar.gz' -- gzip -k -{level} corpus.tar
  knobstat try --shell -k 'how=sort -u,sort | uniq' -- '{how} <words.txt'
  knobstat try -k jobs=$(seq -s, 1 8) --warmup 0 -- make -B -j{jobs}")]
pub struct Try {
    /// A factor and its levels: a knob, a {placeholder} of the command, or a parameter of it such
    /// as cpus or priority. A level with a comma has a backslash before it.
    #[arg(short = 'k', long = "knob", value_name = "NAME=A,B", required = true)]
    pub factors: Vec<String>,
    /// How many replicates of each treatment.
    #[arg(short = 'n', long, value_name = "N", default_value_t = 6)]
    pub replicates: u32,
    /// How many runs go before each measured one; by default 1.
    #[arg(long, value_name = "N")]
    pub warmup: Option<u32>,
    /// Pin the command to these CPUs, as in 1 or 0,2-5.
    #[arg(long, value_name = "LIST")]
    pub cpus: Option<String>,
    /// Run the command and its steps through `sh -c`; its start is then part of what is timed.
    #[arg(long)]
    pub shell: bool,
    #[command(flatten)]
    pub steps: Steps,
    /// End a run, which has then failed, when it takes longer.
    #[arg(long, value_name = "TIME")]
    pub timeout: Option<String>,
    /// The exit codes that count as success, as in 0,1; by default 0.
    #[arg(long, value_name = "CODES", value_delimiter = ',')]
    pub allowed_exit: Vec<u8>,
    /// Two treatments within this share of the baseline are equivalent, as in 1%.
    #[arg(long, value_name = "SHARE")]
    pub margin: Option<String>,
    /// What the experiment is called; by default as its command.
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// The seed of the order.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Validate and print the plan, without touching anything.
    #[arg(long)]
    pub check: bool,
    #[command(flatten)]
    pub how: How,
    /// The command, started without a shell.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

/// What is run around the command, outside the timing.
#[derive(Debug, Args)]
pub struct Steps {
    /// Run this before every run.
    #[arg(long, value_name = "COMMAND")]
    pub prepare: Option<String>,
    /// Run this after every run.
    #[arg(long, value_name = "COMMAND")]
    pub cleanup: Option<String>,
    /// Run this once before the first run of each treatment.
    #[arg(long, value_name = "COMMAND")]
    pub setup: Option<String>,
    /// Run this once after the last run of each treatment.
    #[arg(long, value_name = "COMMAND")]
    pub teardown: Option<String>,
}
