//! `knobstat run`: an experiment file, carried out or only planned.

use std::fs::File;
use std::io::{self, ErrorKind, Read as _};
use std::path::Path;

use knobstat_analysis::{phrase, stop};
use knobstat_data::experiment::{GuestTime, TargetChoice};
use knobstat_data::plan::full_factorial;
use knobstat_data::{Experiment, ExperimentId, Record};
use knobstat_lab::engine::{
    Assignment, Ended, EngineError, Estimate, Finish, Means, Prepared, Progress, RealWorld, Silent,
    prepare,
};
use knobstat_lab::store::Store;
use knobstat_lab::target::{Interrupt, TargetError};
use knobstat_report::{Report, Style, formats};

use crate::arguments::{Global, How, Run};
use crate::confirm;
use crate::front::{self, UnderTest};
use crate::output;
use crate::plan_json;
use crate::plan_text;
use crate::progress::Lines;
use crate::reboots;
use crate::rehearsal;
use crate::simulated;
use crate::trouble::{Exit, Trouble};
use crate::vocabulary::vocabulary;

/// Reads the file and does what is asked.
pub fn run(arguments: &Run, global: &Global) -> Result<u8, Trouble> {
    let (source, is_roots) = read(&arguments.file)?;
    let name = arguments.file.display().to_string();
    let vocabulary = vocabulary(&front::root(global)?);
    let experiment = Experiment::parse(&source, &name, &vocabulary).map_err(|diagnostics| {
        Trouble::request(diagnostics.render(output::colour_of_messages()), "")
    })?;
    if arguments.check {
        confirm::ask_to_look(&experiment, is_roots)?;
        return check(experiment, source, &arguments.file, &arguments.how, global);
    }
    if let Some(machine) = &arguments.rehearse {
        return rehearse(experiment, source, machine, &arguments.how);
    }
    let is_trusted = is_roots || arguments.how.yes;
    confirm::ask_to_turn(&experiment, is_trusted, global.root.is_some())?;
    carry_out(experiment, source, &arguments.file, &arguments.how, global)
}

/// The text of an experiment file, and whether only root can have written it.
fn read(file: &Path) -> Result<(String, bool), Trouble> {
    let name = file.display();
    let whole = || {
        let mut opened = File::open(file)?;
        let is_roots = confirm::is_roots(&opened.metadata()?);
        let mut text = Vec::new();
        opened.read_to_end(&mut text)?;
        Ok((text, is_roots))
    };
    let (text, is_roots) = whole().map_err(|error: io::Error| match error.kind() {
        ErrorKind::NotFound => Trouble::request(
            format!("there is no file {name}"),
            "Check the path; `examples/` has experiments to start from.",
        ),
        ErrorKind::IsADirectory => Trouble::request(
            format!("{name} is a directory and no experiment file"),
            "Name a file in it.",
        ),
        _ => Trouble::request(
            format!("{name} cannot be read ({error})"),
            "Check its permissions.",
        ),
    })?;
    let text = String::from_utf8(text).map_err(|error| {
        Trouble::request(
            format!(
                "{name} is no text: byte {} is not UTF-8",
                error.utf8_error().valid_up_to()
            ),
            "An experiment file is TOML.",
        )
    })?;
    Ok((text, is_roots))
}

/// Prints the plan; nothing is touched.
pub fn check(
    experiment: Experiment,
    source: String,
    file: &Path,
    how: &How,
    global: &Global,
) -> Result<u8, Trouble> {
    let reboots = reboots::consent(how, &experiment, &source)?;
    let (mut target, unknown) = front::on_paper(&experiment, file, reboots, global)?;
    let name = experiment.name.clone();
    let treatments = full_factorial(&experiment.factors).len();
    let assignment = Assignment {
        experiment,
        source,
        anew: true,
        overwrite_others: false,
    };
    let mut world = RealWorld::new();
    let text = match prepare(assignment, target.as_mut(), None, &mut world) {
        Ok(prepared) => planned(&prepared, &unknown, how)?,
        // A plan of which nothing is left can still be shown, with every reason.
        Err(EngineError::NothingLeft(omissions)) if how.json => {
            plan_json::Plan::nothing_left(&name, &omissions).render()?
        }
        Err(EngineError::NothingLeft(omissions)) => {
            plan_text::nothing_left(&name, treatments, &omissions)
        }
        Err(error) => return Err(engine_trouble(error)),
    };
    output::result(&text)?;
    Ok(0)
}

/// A plan, as it is printed.
fn planned(prepared: &Prepared, unknown: &[String], how: &How) -> Result<String, Trouble> {
    let estimate = prepared.estimate().map_err(engine_trouble)?;
    if how.json {
        return plan_json::Plan::of(prepared.record(), &estimate, unknown).render();
    }
    let whose = match &prepared.record().experiment.target {
        _ if matches!(estimate, Estimate::Unknown { .. }) => "",
        TargetChoice::Vm(machine) if machine.time == GuestTime::Virtual => {
            " of the guests' own time"
        }
        TargetChoice::Model { .. } => " of simulated time",
        _ => "",
    };
    let time = format!("{estimate}{whose}");
    Ok(plan_text::render(prepared.record(), &time, unknown))
}

/// Runs an experiment on a simulated machine, says what the real one will be like, and keeps
/// nothing.
fn rehearse(
    experiment: Experiment,
    source: String,
    machine: &Path,
    how: &How,
) -> Result<u8, Trouble> {
    let simulator = simulated::read(machine)?;
    let rehearsal = rehearsal::rehearse(&experiment, &source, &simulator)?;
    output::result(&if how.json {
        rehearsal.json()
    } else {
        rehearsal.text()
    })?;
    Ok(0)
}

/// Carries an experiment out, or goes on with it, and prints its report.
pub fn carry_out(
    experiment: Experiment,
    source: String,
    file: &Path,
    how: &How,
    global: &Global,
) -> Result<u8, Trouble> {
    reboots::refuse_another_content(how, &source)?;
    let reboots = reboots::consent(how, &experiment, &source)?;
    let is_rebooted = reboots.is_some();
    if is_rebooted {
        reboots::refuse_volatile_places(file, global)?;
    }
    let UnderTest {
        mut target,
        watch,
        simulator,
    } = front::under_test(&experiment, file, reboots, global)?;
    let mut store = front::open_store(global)?;
    let mut world = RealWorld::new();
    let assignment = Assignment {
        experiment,
        source,
        anew: how.new,
        overwrite_others: how.overwrite_others,
    };
    if matches!(assignment.experiment.target, TargetChoice::Vm(_)) && !how.quiet {
        output::message("knobstat: booting a guest to see what it offers");
    }
    let prepared = match prepare(assignment, target.as_mut(), Some(&store), &mut world) {
        Ok(prepared) => prepared,
        Err(EngineError::Target(TargetError::Interrupted)) => {
            output::message("knobstat: interrupted before anything was run.");
            return Ok(signal_code(watch.signal()));
        }
        Err(error) => return Err(engine_trouble(error)),
    };
    if let Some(id) = &how.resume
        && prepared.record().id.as_str() != id
    {
        drop(prepared);
        return reboots::conclude_finished(id, target.as_mut(), &store);
    }
    // What is simulated takes no longer than the simulation.
    if simulator.is_none() {
        ask_for_a_yes(&prepared, how)?;
    }
    let mut lines = Lines::new();
    let mut silent = Silent;
    let progress: &mut dyn Progress = if how.quiet { &mut silent } else { &mut lines };
    if let Some(attempts) = prepared.continues() {
        if let Some(simulator) = simulator {
            simulator.borrow_mut().skip(attempts as u64);
        }
        progress.warning(&format!(
            "experiment {} goes on after {attempts} attempts (--new starts anew)",
            prepared.record().id
        ));
    } else if !how.new
        && simulator.is_none()
        && let Some(other) = same_name(&store, prepared.record())?
    {
        progress.warning(&format!(
            "experiment {other} of this name is unfinished and asked for something else; this one \
             begins from its start"
        ));
    }
    let boots = prepared.boots();
    if is_rebooted && boots > 0 && how.resume.is_none() {
        progress.warning(&reboots::announcement(boots));
    }
    let experiment = prepared.record().experiment.clone();
    let plan = prepared.record().plan.clone();
    let ended = prepared.drive(Means {
        store: &mut store,
        progress,
        interrupt: &*watch,
        world: &mut world,
        enough: &|attempts| stop::enough(&experiment, &plan, attempts),
    });
    lines.end();
    let code = conclude(&ended, how.json)?;
    if is_rebooted && boots > 0 {
        reboots::say_how_it_goes_on(&ended, &front::root(global)?);
    }
    Ok(code)
}

/// An unfinished experiment that goes by the name of this new one, which is not its continuation.
fn same_name(store: &Store, new: &Record) -> Result<Option<ExperimentId>, Trouble> {
    let name = new.experiment.name.as_str();
    store
        .find_unfinished_named(name, &new.machine.id)
        .map_err(front::store_trouble)
}

/// The exit code of a program that a signal ended.
fn signal_code(signal: Option<i32>) -> u8 {
    signal.map_or(u8::MAX, |signal| Exit::Signal(signal).code())
}

/// An experiment of more than a day is not begun by accident.
fn ask_for_a_yes(prepared: &Prepared, how: &How) -> Result<(), Trouble> {
    let estimate = prepared.estimate().map_err(engine_trouble)?;
    if estimate.exceeds_a_day() && !how.yes {
        return Err(Trouble::request(
            format!(
                "{} runs will take {estimate}, more than a day",
                prepared.runs()
            ),
            "Give --yes to run it all the same, or shorten it: fewer replicates, levels or seconds.",
        ));
    }
    Ok(())
}

/// Says how it ended, prints the report where there is anything to report, and the exit code.
fn conclude(ended: &Ended, json: bool) -> Result<u8, Trouble> {
    for sentence in &ended.restoration.left_alone {
        output::message(&format!("knobstat: {sentence}"));
    }
    for failure in &ended.restoration.failed {
        output::message(&format!(
            "knobstat: {}\n  Type: {}",
            failure.reason, failure.command
        ));
    }
    if let Some(error) = &ended.restore_error {
        output::message(&format!("knobstat: {error}"));
    }
    match &ended.result {
        Ok(Finish::Interrupted { .. }) => output::message(&format!(
            "knobstat: interrupted; every finished run is kept. The same command continues, and `knobstat report {}` shows what there is.",
            ended.record.id
        )),
        Ok(Finish::Suspended) => output::message(
            "knobstat: the machine reboots for the next runs, and the experiment goes on then.",
        ),
        Ok(Finish::Stopped { .. }) => {
            output::message("knobstat: stopped at the first failed run, as on_failure asks.")
        }
        Ok(Finish::Complete { failed_runs: 0, .. }) => {}
        Ok(Finish::Complete { failed_runs, .. }) => output::message(&format!(
            "knobstat: {} failed; `knobstat show {}` says why.",
            phrase::count(*failed_runs as u64, "run"),
            ended.record.id
        )),
        Err(error) => output::message(&format!("knobstat: {error}")),
    }
    let done = matches!(
        ended.result,
        Ok(Finish::Complete { .. } | Finish::Stopped { .. })
    );
    if done {
        let analysis = knobstat_analysis::analyse(&ended.record);
        let report = Report::of(&ended.record, &analysis);
        output::result(&render(&report, if json { "json" } else { "text" })?)?;
    }
    Ok(ended.exit_code())
}

/// A report in the format of this name.
pub fn render(report: &Report, format: &str) -> Result<String, Trouble> {
    let format = formats::find(format).ok_or_else(|| {
        Trouble::request(
            format!("there is no format \"{format}\""),
            "`knobstat report --help` lists them.",
        )
    })?;
    let style = Style {
        width: output::width_of_results(),
        colour: output::colour_of_results(),
    };
    Ok((format.render)(report, style))
}

/// What an error of the engine means for the program.
pub fn engine_trouble(error: EngineError) -> Trouble {
    let exit = match error.exit_code() {
        1 => Exit::RunsFailed,
        3 => Exit::NotPutBack,
        4 => Exit::Disk,
        5 => Exit::Busy,
        126 => Exit::NotExecutable,
        127 => Exit::Missing,
        _ => Exit::Request,
    };
    Trouble::new(exit, error.to_string(), "")
}
