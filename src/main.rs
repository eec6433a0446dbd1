//! knobstat: finds out, by controlled experiment, which setting of a machine makes a workload
//! faster, by how much, and how sure that is.
//!
//! Here: the name that the program was called by, the command, and the exit code.

mod arguments;
mod boot_unit;
mod commands;
mod confirm;
mod front;
mod guest_init;
mod guests;
mod output;
mod plan_json;
mod plan_text;
mod progress;
mod reboots;
mod rehearsal;
mod simulated;
mod table;
mod trouble;
mod vocabulary;
mod watch;

use std::path::Path;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};
use knobstat_sys::signals;

use arguments::{Arguments, Command, Vm};
use trouble::Trouble;

fn main() -> ExitCode {
    signals::take_charge();
    let mut words = std::env::args_os();
    let called = words.next().unwrap_or_default();
    if guest_init::is_wanted(&called) {
        guest_init::main();
    }
    if Path::new(&called)
        .file_name()
        .is_some_and(|name| name == "ministat")
    {
        return commands::ministat::main(words.collect());
    }
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        // Clap would list the processes behind the program among its commands.
        Err(error) if error.kind() == ErrorKind::MissingSubcommand && words.len() == 0 => {
            output::message(&Arguments::command().render_help().to_string());
            return ExitCode::from(2);
        }
        Err(error) => {
            // Help goes to standard output and is no error; what is wrong ends with 2.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    match run(&arguments) {
        Ok(code) => code,
        Err(trouble) => {
            output::message(&trouble.to_string());
            ExitCode::from(trouble.exit.code())
        }
    }
}

fn run(arguments: &Arguments) -> Result<ExitCode, Trouble> {
    let global = &arguments.global;
    let root = || front::root(global);
    let done = |()| ExitCode::SUCCESS;
    match &arguments.command {
        Command::Run(run) => commands::run::run(run, global).map(ExitCode::from),
        Command::Try(request) => commands::try_out::run(request, global).map(ExitCode::from),
        Command::List(list) => commands::list::run(list, global).map(done),
        Command::Show(show) => commands::show::run(show, global).map(done),
        Command::Report(report) => commands::report::run(report, global).map(done),
        Command::Export(export) => commands::export::run(export, global).map(done),
        Command::Import(import) => commands::import::run(import, global).map(done),
        Command::Knobs(knobs) => commands::knobs::run(knobs, &root()?).map(done),
        Command::Udp(udp) => commands::udp::run(udp).map(done),
        Command::Clock(clock) => commands::clock::run(clock, &root()?).map(done),
        Command::Timer(timer) => commands::timer::run(timer).map(done),
        Command::Noise(noise) => commands::noise::run(noise).map(done),
        Command::Doctor(doctor) => commands::doctor::run(doctor, &root()?).map(done),
        Command::Vm(Vm::Prepare(prepare)) => {
            commands::vm::prepare::run(prepare, &root()?).map(ExitCode::from)
        }
        Command::Vm(Vm::Shell(shell)) => commands::vm::shell::run(shell).map(done),
        Command::Resume => commands::resume::run(&root()?).map(ExitCode::from),
        Command::Restore(restore) => commands::restore::run(restore, &root()?).map(ExitCode::from),
        Command::Compare(compare) => commands::compare::run(compare, global).map(ExitCode::from),
        Command::Completions(completions) => commands::completions::run(completions).map(done),
        Command::Manual(manual) => commands::manual::run(manual).map(done),
        Command::Ministat(words) => Ok(commands::ministat::main(words.arguments.clone())),
        Command::Agent(agent) => Ok(ExitCode::from(knobstat_agent::serve(&root()?, agent.stdio))),
        Command::Bound(bound) => commands::bound::run(bound),
        Command::Guardian(words) => Ok(exit(knobstat_knobs::guardian::main(&words.arguments))),
        Command::Workload(words) => Ok(exit(knobstat_load::workloads::built_in::main(
            &words.arguments,
        ))),
    }
}

/// The exit code of another part of the program.
fn exit(code: impl TryInto<u8>) -> ExitCode {
    ExitCode::from(code.try_into().unwrap_or(1))
}
