//! `knobstat vm prepare`: brings what guests need: Debian's packages by name, its ready-made
//! kernel, and kernels of other tick rates built from its source. Only what is missing is done.

mod action;
mod carry_out;
mod course;
mod listing;
mod packages;
mod plan;

use std::collections::BTreeSet;
use std::num::NonZero;
use std::path::Path;

use knobstat_lab::kernels::{Cache, KernelError, Recipe};
use knobstat_sys::root::Root;
use knobstat_sys::spawn::{Lookup, find_program};
use knobstat_sys::user;

use crate::arguments::VmPrepare;
use crate::front;
use crate::output;
use crate::trouble::Trouble;
use crate::watch::SignalWatch;

use carry_out::{Ended, Executor};
use plan::{Missing, Places, Plan};

/// Prepares, or says what is there, or says how a person would prepare.
pub fn run(arguments: &VmPrepare, root: &Root) -> Result<u8, Trouble> {
    let cache = super::cache()?;
    if arguments.list {
        output::result(&listing::render(&cache, arguments.json)?)?;
        return Ok(0);
    }
    let plan = plan(arguments, &cache, root)?;
    if arguments.dry_run {
        output::result(&plan.as_typed())?;
        return Ok(0);
    }
    let watch = SignalWatch::begin()?;
    let mut executor = Executor::new(&watch);
    if let Ended::BySignal(signal) = executor.carry_out(&plan.as_root)? {
        return Ok(carry_out::exit_of(signal));
    }
    // Root's rights install packages; the kernels are the user's behind sudo.
    front::become_invoking_user()?;
    if !plan.as_user.is_empty() {
        let ended = in_the_cache(&mut executor, &plan)?;
        if let Ended::BySignal(signal) = ended {
            output::message(&format!(
                "knobstat: interrupted; what is done is kept in {}, and `knobstat vm prepare` goes on from there",
                plan.places.work().display()
            ));
            return Ok(carry_out::exit_of(signal));
        }
    }
    output::result(&listing::render(&cache, arguments.json)?)?;
    Ok(0)
}

/// What is done with the cache, by one program at a time.
fn in_the_cache(executor: &mut Executor<'_>, plan: &Plan) -> Result<Ended, Trouble> {
    for note in &plan.notes {
        output::message(&format!("knobstat: {note}"));
    }
    executor.hold(&plan.places)?;
    carry_out::see_to_room(&plan.places, plan.needs)?;
    executor.carry_out(&plan.as_user)
}

fn plan(arguments: &VmPrepare, cache: &Cache, root: &Root) -> Result<Plan, Trouble> {
    let wanted: BTreeSet<Recipe> = match arguments.kernels.as_slice() {
        [] => Recipe::USUAL.into_iter().collect(),
        kernels => kernels.iter().copied().collect(),
    };
    let mut kernels = BTreeSet::new();
    for recipe in wanted {
        match cache.find(&recipe.to_string()) {
            Ok(_) => {}
            Err(KernelError::Missing { .. }) => {
                kernels.insert(recipe);
            }
            Err(error) => return Err(super::kernel_trouble(error)),
        }
    }
    let own = cache
        .own()
        .ok_or_else(|| super::kernel_trouble(KernelError::NoPlace))?;
    let places = Places::new(own);
    let missing = Missing {
        packages: packages::needed(&kernels)
            .filter(|package| !package.is_there(&is_program, &|path| root.exists(path)))
            .collect(),
        kernels,
        source: !places.source().is_dir(),
    };
    if !arguments.dry_run {
        refuse_what_cannot_be_brought(&missing, own)?;
    }
    let jobs = arguments.jobs.unwrap_or_else(all_processors);
    Plan::new(places, &missing, jobs)
}

fn refuse_what_cannot_be_brought(missing: &Missing, own: &Path) -> Result<(), Trouble> {
    let nothing = missing.kernels.is_empty() && missing.packages.is_empty();
    if !nothing && !is_program("apt-get") {
        return Err(Trouble::request(
            "there is no apt-get here, and what guests need is brought from Debian's packages",
            format!(
                "Install QEMU by your own package manager, and put a kernel into {} as bzImage-NAME, its configuration beside it as config-NAME.",
                own.display()
            ),
        ));
    }
    if !user::is_root() && !missing.packages.is_empty() {
        return Err(packages::cannot_be_installed(&missing.packages));
    }
    Ok(())
}

fn is_program(name: &str) -> bool {
    let search_path = std::env::var_os("PATH");
    let found = find_program(name.as_ref(), search_path.as_deref(), Path::new("/"));
    matches!(found, Lookup::Found(_))
}

fn all_processors() -> NonZero<usize> {
    std::thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN)
}
