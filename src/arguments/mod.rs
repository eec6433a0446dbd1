//! The command line: every command and flag with its own documentation, from which the help, the
//! manual and the completions are made.

mod compare;
mod experiments;
mod machine;
mod pages;
mod processes;
mod store;
mod surveys;
mod udp;
mod vm;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::TypedValueParser as _;
use clap::{Args, Parser, Subcommand};

pub use compare::{Compare, CompareFormat, Direction, FailOn};
pub use experiments::{How, RebootBy, Run, Try};
pub use machine::{Doctor, Knobs, Restore};
pub use pages::{Completions, Manual};
pub use processes::{Agent, Bound};
pub use store::{Export, ExportFormat, Import, List, Report, ReportFormat, Show};
pub use surveys::{Clock, Noise, Survey, Timer};
pub use udp::{Udp, UdpReceive, UdpSend};
pub use vm::{Vm, VmPrepare, VmShell};

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

const MINISTAT: &str = "\
Arguments, which are ministat's:
  [-Anqs] [-C COLUMN] [-c CONFIDENCE] [-d DELIMITERS] [-w WIDTH] [--compat PROFILE] [FILE ...]

  -A  statistics and no plot
  -n  the summary alone, neither plot nor test
  -q  neither header nor names of the sets
  -s  a bar line for each set
  -C  the column, from 1
  -c  80, 90, 95, 98, 99 or 99.5 percent; by default 95
  -d  the characters that separate columns; by default blank and tab
  -w  the width of the plot
  --compat  2015: as Debian's package, to the byte; newest: as FreeBSD's current program (default)

Examples:
  knobstat ministat before.txt after.txt
  knobstat ministat -s -w 60 -c 99 before.txt after.txt";

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
    #[command(disable_help_flag = true, after_help = MINISTAT)]
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

#[cfg(test)]
mod tests {
    use std::process::Command as Process;

    use clap::CommandFactory;

    use super::*;

    /// The examples of a command's help and of the commands beneath it.
    fn examples(command: &clap::Command) -> Vec<String> {
        let help = command
            .get_after_help()
            .map_or_else(String::new, ToString::to_string);
        let mut found: Vec<String> = help
            .lines()
            .skip_while(|line| *line != "Examples:")
            .skip(1)
            .map(|line| line.trim().to_owned())
            .collect();
        for beneath in command.get_subcommands() {
            found.extend(examples(beneath));
        }
        found
    }

    /// The line with the files that it writes in the working directory, whatever their place is.
    fn writing_here(line: &str) -> String {
        let here = |word: &str| match word.strip_prefix(">/") {
            Some(path) => format!(">{}", path.rsplit('/').next().unwrap_or(path)),
            None => word.to_owned(),
        };
        line.split(' ').map(here).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn what_an_example_writes_is_not_written_to_the_machine() {
        assert_eq!(
            writing_here("knobstat completions bash >/etc/bash_completion.d/knobstat"),
            "knobstat completions bash >knobstat"
        );
        assert_eq!(
            writing_here("knobstat list | cat >x"),
            "knobstat list | cat >x"
        );
    }

    /// The words that a shell gives to the program in a line.
    fn words(line: &str) -> Vec<String> {
        let directory = tempfile::tempdir().expect("a directory for what a line writes");
        let stand_ins = r#"exec 3>&1 1>/dev/null
            sudo() { "$@"; }
            man() { cat; }
            knobstat() { printf '%s\0' "$@" >&3; }"#;
        let output = Process::new("bash")
            .args(["-euc", &format!("{stand_ins}\n{}", writing_here(line))])
            .current_dir(directory.path())
            .output()
            .expect("a shell");
        assert!(output.status.success(), "{line}");
        let text = String::from_utf8(output.stdout).expect("words in UTF-8");
        text.split_terminator('\0').map(str::to_owned).collect()
    }

    #[test]
    fn the_examples_of_every_help_are_right() {
        let found = examples(&Arguments::command());
        assert!(found.len() > 30, "{found:#?}");
        for line in found {
            let words = words(&line);
            assert!(!words.is_empty(), "{line}");
            let given = std::iter::once("knobstat".to_owned()).chain(words);
            if let Err(error) = Arguments::try_parse_from(given) {
                panic!("{line}\n{error}");
            }
        }
    }

    #[test]
    fn the_command_line_has_no_contradictions() {
        Arguments::command().debug_assert();
    }
}
