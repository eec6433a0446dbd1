//! The command line: every command and flag with its own documentation, from which the help, the
//! manual and the completions are made.

use std::ffi::OsString;
use std::net::IpAddr;
use std::num::NonZero;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::TypedValueParser as _;
use clap::{Args, Parser, Subcommand, ValueEnum};
use knobstat_data::experiment::parse_duration;
use knobstat_data::{CpuList, Priority, Ratio};
use knobstat_lab::kernels::Recipe;

/// Finds out, by controlled experiment, which setting of this machine makes a workload faster, by
/// how much, and how sure that is.
#[derive(Debug, Parser)]
#[command(name = "knobstat", version, max_term_width = 100, after_help = EXIT_CODES)]
pub struct Arguments {
    /// What applies to every command.
    #[command(flatten)]
    pub global: Global,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

const EXIT_CODES: &str = "\
Exit codes:
  0    done
  1    done, but some runs failed
  2    the request is wrong
  3    a setting could not be put back
  4    the store or the disk failed
  5    another experiment runs on this machine
  6    --fail-on found what it was asked to find
  126  a program cannot be executed
  127  a program is missing
  128+n  ended by signal n";

/// What applies to every command.
#[derive(Clone, Debug, Args)]
pub struct Global {
    /// A directory that stands for `/` in every read or write of a setting.
    ///
    /// For tests on a laid-out machine; /proc/PID, counters and clocks stay the real machine's,
    /// and a report from such a tree says so.
    #[arg(
        long,
        global = true,
        value_name = "DIR",
        help_heading = "Global options"
    )]
    pub root: Option<PathBuf>,
    /// The file that experiments are kept in.
    ///
    /// By default knobstat/store.db under XDG_DATA_HOME (~/.local/share).
    #[arg(
        long,
        global = true,
        value_name = "PATH",
        env = "KNOBSTAT_STORE",
        value_parser = clap::builder::OsStringValueParser::new().map(PathBuf::from),
        help_heading = "Global options"
    )]
    pub store: Option<PathBuf>,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run an experiment file; continue it if it was interrupted.
    Run(Run),
    /// Run an experiment without a file.
    Try(Try),
    /// List the experiments of the store.
    List(List),
    /// Show one experiment: its plan, its runs, its attempts.
    Show(Show),
    /// Report one experiment.
    Report(Report),
    /// Write one experiment out, nothing lost on the way.
    Export(Export),
    /// Read an exported experiment into the store.
    Import(Import),
    /// Show every knob: its value, its levels, whether it can be turned or why not.
    Knobs(Knobs),
    /// Say how fit this machine is for measuring, and what to do about it.
    Doctor(Doctor),
    /// Read every clock: what a reading costs, and what it is worth.
    Clock(Clock),
    /// Sleep until a moment, over and over, on each CPU: how late a thread wakes.
    Timer(Timer),
    /// Run a busy loop on each CPU: what interrupts it.
    Noise(Noise),
    /// Send UDP datagrams from one host to another, and say what became of them.
    #[command(subcommand)]
    Udp(Udp),
    /// Bring what disposable guests need, and look into one.
    #[command(subcommand)]
    Vm(Vm),
    /// Continue the experiment that rebooted this machine; nothing where there is none.
    Resume,
    /// Put back what an interrupted experiment left behind.
    Restore(Restore),
    /// Compare files of numbers, or experiments, with today's statistics.
    Compare(Compare),
    /// Compare files of numbers as ministat does, to the byte.
    #[command(disable_help_flag = true)]
    Ministat(Verbatim),
    /// Print completions for a shell.
    Completions(Completions),
    /// Print the manual (roff), of the program or of one command.
    Manual(Manual),
    /// Serve requests over standard input and output.
    #[command(hide = true)]
    Agent(Agent),
    /// Become another program that the kernel ends together with the process that started it.
    #[command(hide = true)]
    Bound(Bound),
    /// Put the machine back when the agent ends.
    #[command(hide = true)]
    Guardian(Verbatim),
    /// Do a built-in workload.
    #[command(hide = true)]
    Workload(Verbatim),
}

/// `knobstat agent`
#[derive(Debug, Args)]
pub struct Agent {
    /// Over whatever stream that is: say first that it listens, for one that may carry something
    /// else before, and understand the request to end, for one that has no end.
    #[arg(long)]
    pub stdio: bool,
}

/// `knobstat bound`
#[derive(Debug, Args)]
pub struct Bound {
    /// The process that started this one.
    pub parent: u32,
    /// The program and its arguments.
    #[arg(last = true, required = true)]
    pub command: Vec<OsString>,
}

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
    /// Print the report as JSON.
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
  knobstat try -k level=1,9 -- gzip -k -f -{level} corpus.tar")]
pub struct Try {
    /// A factor and its levels: a knob, or a {placeholder} of the command.
    #[arg(short = 'k', long = "knob", value_name = "NAME=A,B", required = true)]
    pub factors: Vec<String>,
    /// How many replicates of each treatment.
    #[arg(short = 'n', long, value_name = "N", default_value_t = 6)]
    pub replicates: u32,
    /// Pin the command to these CPUs, as in 1 or 0,2-5.
    #[arg(long, value_name = "LIST")]
    pub cpus: Option<String>,
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

/// `knobstat list`
#[derive(Debug, Args)]
pub struct List {
    /// Print as JSON.
    #[arg(long)]
    pub json: bool,
}

/// `knobstat show`
#[derive(Debug, Args)]
pub struct Show {
    /// The experiment: its id, the beginning of it, or its name.
    pub experiment: String,
    /// Print as JSON.
    #[arg(long)]
    pub json: bool,
}

/// `knobstat report`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  knobstat report 3f2a
  knobstat report 3f2a --evidence
  knobstat report 3f2a --format markdown >report.md")]
pub struct Report {
    /// The experiment: its id, the beginning of it, or its name.
    pub experiment: String,
    /// The format.
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    pub format: ReportFormat,
    /// Short for `--format json`.
    #[arg(long, conflicts_with = "format")]
    pub json: bool,
    /// Also show what was seen besides the metrics, side by side by treatment (text and JSON).
    #[arg(long)]
    pub evidence: bool,
}

/// The formats of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// For a terminal.
    Text,
    /// For a page.
    Markdown,
    /// One row an attempt and metric.
    Csv,
    /// For programs: knobstat.report/1.
    Json,
    /// Columns that ministat reads.
    Ministat,
}

/// `knobstat export`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  knobstat export 3f2a >experiment.json
  knobstat export 3f2a --format csv >attempts.csv")]
pub struct Export {
    /// The experiment: its id, the beginning of it, or its name.
    pub experiment: String,
    /// The format.
    #[arg(long, value_enum, default_value_t = ExportFormat::Json)]
    pub format: ExportFormat,
}

/// The formats of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// Everything; `knobstat import` reads it.
    Json,
    /// Every attempt, metric and piece of evidence, one row each.
    Csv,
}

/// `knobstat import`
#[derive(Debug, Args)]
pub struct Import {
    /// The exported file, or `-` for standard input.
    pub file: PathBuf,
}

/// `knobstat knobs`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  knobstat knobs
  knobstat knobs clocksource")]
pub struct Knobs {
    /// Only this knob, with its documentation.
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
fn positive_duration(text: &str) -> Result<Duration, String> {
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

/// `knobstat udp`
#[derive(Debug, Subcommand)]
pub enum Udp {
    /// Receive what senders send, and tell each what arrived.
    Recv(UdpReceive),
    /// Send to a `knobstat udp recv`, and show both ends' view as one result.
    Send(UdpSend),
}

/// `knobstat udp recv`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  knobstat udp recv
  knobstat udp recv --bind 192.0.2.2 --token-file token --cpu 1")]
pub struct UdpReceive {
    /// The address to listen at.
    #[arg(long, value_name = "ADDRESS", default_value = "0.0.0.0")]
    pub bind: IpAddr,
    /// The TCP port of the control connections; datagrams have ports of the kernel's choice.
    #[arg(long, value_name = "PORT", default_value_t = 5447)]
    pub port: u16,
    /// Refuse senders that do not know what is in this file.
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// The most senders at once.
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub most_senders: u16,
    /// The most senders at once from one address.
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub most_per_address: u16,
    /// Drop a sender of which nothing is heard for this long.
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = positive_duration)]
    pub idle: Duration,
    /// End after so many senders.
    #[arg(long, value_name = "N")]
    pub senders: Option<u64>,
    /// Receive on this CPU, or send on it where a peer asks for that.
    #[arg(long, value_name = "CPU")]
    pub cpu: Option<u32>,
    /// Print each event as a line of JSON.
    #[arg(long)]
    pub json: bool,
}

/// `knobstat udp send`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  knobstat udp send 192.0.2.2 --duration 10s
  knobstat udp send 192.0.2.2:5447 --rate 10000 --delays --json
  knobstat udp send 192.0.2.2 --reverse
  knobstat udp send '[fe80::2%eth0]:5447' --method gso --packet-size 1200")]
pub struct UdpSend {
    /// The receiver: HOST, HOST:PORT or, for an IPv6 address, `[ADDRESS]:PORT`.
    pub receiver: String,
    /// The payload of a datagram in bytes.
    #[arg(long, value_name = "BYTES", default_value_t = 64)]
    pub packet_size: u64,
    /// How datagrams are handed to the kernel: send, sendmmsg, gso or io_uring.
    #[arg(long, value_name = "METHOD", default_value = "sendmmsg")]
    pub method: String,
    /// How the receiver waits: napping, blocking, gro or io_uring.
    #[arg(long, value_name = "METHOD", default_value = "napping")]
    pub receiver_method: String,
    /// Let the receiver send to this end instead.
    #[arg(long, conflicts_with = "both")]
    pub reverse: bool,
    /// Send both ways at once.
    #[arg(long)]
    pub both: bool,
    /// Datagrams a second; by default as fast as it goes.
    #[arg(long, value_name = "RATE")]
    pub rate: Option<f64>,
    /// Give up the times that a schedule has missed, instead of making up for them at once.
    #[arg(long, requires = "rate")]
    pub no_catch_up: bool,
    /// How long is sent.
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = positive_duration)]
    pub duration: Duration,
    /// How many datagrams are sent, exactly, in place of a duration.
    #[arg(long, value_name = "N")]
    pub count: Option<i64>,
    /// How many flows there are side by side.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub flows: i64,
    /// The number of each flow's first datagram.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub first_number: i64,
    /// The receive buffer that each flow's receiver asks for, in bytes.
    #[arg(long, value_name = "BYTES", default_value_t = 4 << 20)]
    pub receive_buffer: u64,
    /// The differentiated services code point, 0 to 63.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub dscp: i64,
    /// The sender's address.
    #[arg(long, value_name = "ADDRESS")]
    pub bind: Option<IpAddr>,
    /// Send on this CPU; with `--reverse`, receive on it.
    #[arg(long, value_name = "CPU")]
    pub cpu: Option<u32>,
    /// Measure gaps and one-way delays, at the cost of reading the clock for each datagram.
    #[arg(long)]
    pub delays: bool,
    /// What the receiver wants to be known.
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// How often what has arrived so far is told.
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = positive_duration)]
    pub interval: Duration,
    /// Let nothing cross the wire while datagrams do, and tell nothing meanwhile.
    #[arg(long, short)]
    pub quiet: bool,
    /// Print as JSON: knobstat.udp/1.
    #[arg(long)]
    pub json: bool,
}

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
}

/// `knobstat compare`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  knobstat compare before.txt after.txt
  knobstat compare before.txt after.txt --better lower --margin 1% --fail-on regression
  knobstat compare -C time old.csv new.csv --json
  knobstat compare 3f2a after.json")]
pub struct Compare {
    /// Files of numbers (`-`: standard input), exports of knobstat, or experiments of the store by
    /// id or name. The first is the baseline.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// The column: a number from 1, a name of a header, a unit of Go's, a metric. Several times for
    /// several.
    #[arg(short = 'C', long = "column", value_name = "COLUMN")]
    pub columns: Vec<String>,
    /// The characters that separate columns.
    #[arg(short, long = "delimiters", value_name = "CHARACTERS")]
    pub delimiters: Option<String>,
    /// What the files are, where their content does not tell.
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub format: Option<CompareFormat>,
    /// Only benchmarks, commands or treatments with this text in their name.
    #[arg(long, value_name = "TEXT")]
    pub select: Option<String>,
    /// Which is the baseline, by its name or by a part of it that no other has.
    #[arg(long, value_name = "NAME")]
    pub baseline: Option<String>,
    /// Values at equal positions belong together.
    #[arg(long)]
    pub paired: bool,
    /// Differences smaller than this share of the baseline's mean do not matter.
    #[arg(long, value_name = "PERCENT", value_parser = share, allow_negative_numbers = true)]
    pub margin: Option<Ratio>,
    /// How sure all verdicts together must be.
    #[arg(long, value_name = "PERCENT", default_value = "95%", value_parser = share)]
    pub confidence: Ratio,
    /// Which way is better, where the files do not say or to say otherwise.
    #[arg(long, value_enum, value_name = "DIRECTION")]
    pub better: Option<Direction>,
    /// End with exit code 6 where this is found: a difference for the worse, or any.
    #[arg(long, value_enum, value_name = "FINDING")]
    pub fail_on: Option<FailOn>,
    /// Print as JSON: knobstat.compare/1.
    #[arg(long)]
    pub json: bool,
}

/// What a file of numbers may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CompareFormat {
    /// A number a line, or columns between blanks.
    Columns,
    /// Comma-separated values under a header.
    Csv,
    /// hyperfine's JSON, versions 1 and 2.
    Hyperfine,
    /// Go's benchmarks.
    Go,
    /// An export of knobstat.
    Record,
}

/// Which way is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Direction {
    /// More is better: a throughput.
    Higher,
    /// Less is better: a time.
    Lower,
}

/// What `--fail-on` may look for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// A difference for the worse.
    Regression,
    /// A difference either way.
    Difference,
}

/// A share in percent, with its sign or without: `1%`, `95`.
fn share(text: &str) -> Result<Ratio, String> {
    let digits = text.trim().trim_end_matches('%').trim_end();
    match digits.parse::<f64>() {
        Ok(percent) if percent > 0.0 && percent < 100.0 => Ok(Ratio::from_percent(percent)),
        _ => Err("write it in percent, above 0 and below 100, as in 1%".to_owned()),
    }
}

/// Arguments that another part of the program reads.
#[derive(Debug, Args)]
pub struct Verbatim {
    /// The arguments as given.
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "ARGS"
    )]
    pub arguments: Vec<OsString>,
}

/// `knobstat completions`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  knobstat completions bash >/etc/bash_completion.d/knobstat")]
pub struct Completions {
    /// The shell.
    pub shell: clap_complete::Shell,
}

/// `knobstat manual`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  knobstat manual | man -l -
  knobstat manual run | man -l -")]
pub struct Manual {
    /// Only this command's page.
    pub command: Option<String>,
}
