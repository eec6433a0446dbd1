//! Guests for an experiment: what they are made of, found on this machine.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use knobstat_data::Experiment;
use knobstat_data::experiment::{FactorKind, VirtualMachine};
use knobstat_data::plan::full_factorial;
use knobstat_data::words::Setting;
use knobstat_lab::guest::find_qemu;
use knobstat_lab::kernels::Cache;
use knobstat_lab::targets::{Parts, VmOnPaper, VmTarget};
use knobstat_sys::spawn::{Lookup, find_program};

use crate::commands::vm;
use crate::trouble::{Exit, Trouble};
use crate::watch::SignalWatch;

/// The guests that an experiment asks for; `file` is the experiment's own.
///
/// # Errors
/// When QEMU, a kernel, or a program of the workload is not here.
pub fn target(
    machine: &VirtualMachine,
    experiment: &Experiment,
    file: &Path,
    watch: Rc<SignalWatch>,
) -> Result<VmTarget<SignalWatch>, Trouble> {
    let parts = Parts {
        directory: directory_of(file),
        programs: programs(experiment)?,
        fixed: fixed(experiment),
        at_boot: at_boot(experiment),
        wanted: wanted(experiment),
        ..parts()?
    };
    VmTarget::new(machine.clone(), parts, watch).map_err(|error| in_two(&error.to_string()))
}

/// A guest of no experiment, with a program for a person.
///
/// # Errors
/// When QEMU, a kernel, or what the guest shall be given is not here.
pub fn for_a_look(
    machine: &VirtualMachine,
    program: &Path,
) -> Result<VmTarget<SignalWatch>, Trouble> {
    let mut parts = parts()?;
    parts.programs = vec![program.to_owned()];
    let watch = Rc::new(SignalWatch::begin()?);
    VmTarget::new(machine.clone(), parts, watch).map_err(|error| in_two(&error.to_string()))
}

/// What every guest is made of.
fn parts() -> Result<Parts, Trouble> {
    let qemu = find_qemu(std::env::var_os("PATH").as_deref())
        .map_err(|error| in_two(&error.to_string()))?;
    let program = std::env::current_exe().map_err(|error| {
        Trouble::new(
            Exit::RunsFailed,
            format!("the program cannot find itself ({error})"),
            "Start it by its whole path.",
        )
    })?;
    Ok(Parts {
        program,
        qemu,
        directory: directory_of(Path::new("")),
        cache: vm::cache()?,
        programs: Vec::new(),
        fixed: Vec::new(),
        at_boot: Vec::new(),
        wanted: Vec::new(),
    })
}

/// The guests of an experiment as far as they are known without booting one, and sentences on
/// what is not known.
pub fn on_paper(
    machine: &VirtualMachine,
    experiment: &Experiment,
    file: &Path,
) -> (VmOnPaper, Vec<String>) {
    let mut sentences = vec![
        "No guest is booted for a plan: what it cannot take while it runs is found out when the \
         experiment begins."
            .to_owned(),
    ];
    let mut cannot = |error: &dyn std::fmt::Display| {
        sentences.push(format!("None could be booted here: {error}."));
    };
    let cache = vm::cache().unwrap_or_else(|error| {
        cannot(&error.cause);
        Cache::of([])
    });
    let (guest, why) = VmOnPaper::new(machine, directory_of(file), cache, at_boot(experiment));
    if let Some(why) = why {
        cannot(&why);
    }
    if let Err(error) = find_qemu(std::env::var_os("PATH").as_deref()) {
        cannot(&error);
    }
    (guest, sentences)
}

/// A sentence that has its remedy after a semicolon.
pub fn in_two(sentence: &str) -> Trouble {
    match sentence.split_once("; ") {
        Some((cause, remedy)) => Trouble::request(cause, format!("Remedy: {remedy}.")),
        None => Trouble::request(sentence, ""),
    }
}

/// The directory that relative paths of an experiment file start at, as a whole path.
fn directory_of(file: &Path) -> PathBuf {
    let directory = file.parent().unwrap_or(Path::new(""));
    std::path::absolute(directory.join(".")).unwrap_or_else(|_| directory.to_owned())
}

/// The programs of the host that the workload starts, where this machine has them. What it lacks,
/// the guest lacks, and says so.
fn programs(experiment: &Experiment) -> Result<Vec<PathBuf>, Trouble> {
    let treatments = full_factorial(&experiment.factors);
    let starts = experiment
        .starts(&treatments)
        .map_err(|error| Trouble::request(error.to_string(), ""))?;
    let inherited = std::env::var_os("PATH");
    let mut programs: Vec<PathBuf> = starts
        .iter()
        .filter_map(|start| {
            let path = start.path.as_deref().map(OsStr::new);
            let found = find_program(
                OsStr::new(&start.program),
                path.or(inherited.as_deref()),
                Path::new(start.working_directory.as_deref().unwrap_or(".")),
            );
            match found {
                Lookup::Found(path) => std::path::absolute(path).ok(),
                Lookup::NotExecutable(_) | Lookup::NoInterpreter { .. } | Lookup::Missing => None,
            }
        })
        .collect();
    programs.sort();
    programs.dedup();
    Ok(programs)
}

/// What is held and decided at boot.
fn fixed(experiment: &Experiment) -> Vec<Setting> {
    let held = experiment.fixed.iter();
    held.filter(|fixed| fixed.scope.needs_boot())
        .map(|fixed| fixed.setting.clone())
        .collect()
}

/// The knobs that are decided at boot.
fn at_boot(experiment: &Experiment) -> Vec<String> {
    let settings = fixed(experiment).into_iter().map(|setting| setting.factor);
    settings.chain(varied(experiment).cloned()).collect()
}

/// The factors that are decided at boot.
fn varied(experiment: &Experiment) -> impl Iterator<Item = &String> {
    let factors = experiment.factors.iter();
    factors
        .filter(|factor| matches!(factor.kind, FactorKind::Knob(scope) if scope.needs_boot()))
        .map(|factor| &factor.name)
}

/// The boots that the file's treatments want, each once.
fn wanted(experiment: &Experiment) -> Vec<Vec<Setting>> {
    let mut boots: Vec<Vec<Setting>> = Vec::new();
    for treatment in full_factorial(&experiment.factors) {
        let mut excluded = experiment.design.exclude.iter();
        if excluded.any(|partial| treatment.agrees_with(partial)) {
            continue;
        }
        let boot: Vec<Setting> = varied(experiment)
            .filter_map(|name| Some(Setting::new(name, treatment.level(name)?.clone())))
            .collect();
        if !boots.contains(&boot) {
            boots.push(boot);
        }
    }
    boots
}
