//! The front: who we are, where the store is, and the agent that works for us.

use std::cell::RefCell;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::OnceLock;

use knobstat_data::Experiment;
use knobstat_data::experiment::TargetChoice;
use knobstat_lab::store::{Owner, Store, StoreError, default_path};
use knobstat_lab::target::Target;
use knobstat_lab::targets::{Agent, LocalTarget, ModelTarget, Reboots};
use knobstat_model::Simulator;
use knobstat_sys::root::Root;
use knobstat_sys::user::{self, User};

use crate::arguments::Global;
use crate::guests;
use crate::simulated;
use crate::trouble::{Exit, Trouble};
use crate::watch::SignalWatch;

/// The root that `--root` asks for, or the machine's own.
pub fn root(global: &Global) -> Result<Root, Trouble> {
    match &global.root {
        None => Ok(Root::real()),
        Some(path) => Root::laid_out(path).map_err(|error| {
            Trouble::request(
                format!("{} cannot stand for / ({error})", path.display()),
                "Give a directory with the files of a machine beneath it.",
            )
        }),
    }
}

/// The machine that an experiment runs on.
pub struct UnderTest {
    /// It.
    pub target: Box<dyn Target>,
    /// The signals that ask for an end.
    pub watch: Rc<SignalWatch>,
    /// The simulated machine, where it is one.
    pub simulator: Option<Rc<RefCell<Simulator>>>,
}

/// The machine that an experiment asks for; `file` is the experiment's own, and `reboots` the
/// consent to reboot this machine for it.
///
/// # Errors
/// When the agent cannot be started, or there is no such machine file.
pub fn under_test(
    experiment: &Experiment,
    file: &Path,
    reboots: Option<Reboots>,
    global: &Global,
) -> Result<UnderTest, Trouble> {
    match &experiment.target {
        TargetChoice::Local => {
            let (mut target, watch) = start_agent(&root(global)?)?;
            if let Some(reboots) = reboots {
                target = target.rebooting(reboots);
            }
            Ok(UnderTest {
                target: Box::new(target),
                watch,
                simulator: None,
            })
        }
        TargetChoice::Vm(machine) => {
            become_invoking_user()?;
            let watch = Rc::new(SignalWatch::begin()?);
            let target = guests::target(machine, experiment, file, Rc::clone(&watch))?;
            Ok(UnderTest {
                target: Box::new(target),
                watch,
                simulator: None,
            })
        }
        TargetChoice::Model { machine } => {
            become_invoking_user()?;
            let simulator = simulated::read(&simulated::path(machine, file))?;
            let watch = Rc::new(SignalWatch::begin()?);
            let target = ModelTarget::new(simulator).watching(Rc::clone(&watch) as Rc<_>);
            Ok(UnderTest {
                simulator: Some(target.simulator()),
                target: Box::new(target),
                watch,
            })
        }
    }
}

/// The machine as far as it is known without changing or booting anything, for printing a plan,
/// and sentences on what is not known of it.
///
/// # Errors
/// As [`under_test`].
pub fn on_paper(
    experiment: &Experiment,
    file: &Path,
    reboots: Option<Reboots>,
    global: &Global,
) -> Result<(Box<dyn Target>, Vec<String>), Trouble> {
    if let TargetChoice::Vm(machine) = &experiment.target {
        let (guest, sentences) = guests::on_paper(machine, experiment, file);
        return Ok((Box::new(guest), sentences));
    }
    Ok((
        under_test(experiment, file, reboots, global)?.target,
        Vec::new(),
    ))
}

/// Starts the agent, which keeps the rights that we have, and then gives up root's rights for
/// those of the user behind sudo.
///
/// # Errors
/// When the agent cannot be started or the rights cannot be given up.
pub fn start_agent(root: &Root) -> Result<(LocalTarget<SignalWatch>, Rc<SignalWatch>), Trouble> {
    let program = std::env::current_exe().map_err(|error| {
        Trouble::new(
            Exit::RunsFailed,
            format!("the program cannot find itself ({error})"),
            "Start it by its whole path.",
        )
    })?;
    let mut arguments: Vec<OsString> = vec!["agent".into()];
    if !root.is_real() {
        arguments.push("--root".into());
        arguments.push(root.path().into());
    }
    // The agent is started before the signals are blocked, so that neither it nor its workloads
    // inherit that; it has a session of its own and does not see those of a terminal.
    let agent = Agent::start(program, arguments)
        .map_err(|error| Trouble::new(Exit::RunsFailed, error.to_string(), ""))?;
    let watch = Rc::new(SignalWatch::begin()?);
    become_invoking_user()?;
    Ok((LocalTarget::new(agent, Rc::clone(&watch)), watch))
}

/// The user behind sudo. Who that is can only be told with root's rights, and is remembered once
/// they are given up.
fn invoking_user() -> Result<Option<User>, Trouble> {
    static INVOKING: OnceLock<Option<User>> = OnceLock::new();
    if let Some(known) = INVOKING.get() {
        return Ok(known.clone());
    }
    let user = user::behind_sudo(|name| std::env::var_os(name)).map_err(|error| {
        Trouble::request(
            format!("the user behind sudo cannot be told ({error})"),
            "Start knobstat without sudo's variables (env -u SUDO_UID -u SUDO_GID) to work as root.",
        )
    })?;
    Ok(INVOKING.get_or_init(|| user).clone())
}

/// The user behind sudo whose rights are still to be taken on.
fn user_to_become() -> Result<Option<User>, Trouble> {
    Ok(invoking_user()?.filter(|_| user::is_root()))
}

/// Gives up root's rights for those of the user behind sudo, where there is one.
///
/// # Errors
/// When they cannot be given up.
pub fn become_invoking_user() -> Result<(), Trouble> {
    let Some(user) = user_to_become()? else {
        return Ok(());
    };
    user::become_user(&user.credentials).map_err(|error| {
        Trouble::new(
            Exit::RunsFailed,
            format!("root's rights cannot be given up ({error})"),
            "Start knobstat as the user itself, or as root without sudo.",
        )
    })
}

/// The home of the user behind sudo, whose the store and the cache are: HOME may be root's then.
pub fn home_behind_sudo() -> Result<Option<PathBuf>, Trouble> {
    Ok(invoking_user()?.and_then(|user| user.home))
}

/// Where the store is.
pub fn store_path(global: &Global) -> Result<PathBuf, Trouble> {
    // An empty variable is as good as none.
    if let Some(path) = global
        .store
        .as_ref()
        .filter(|path| !path.as_os_str().is_empty())
    {
        return Ok(path.clone());
    }
    let home = home_behind_sudo()?;
    default_path(|name| match (name, &home) {
        ("HOME", Some(home)) => Some(home.clone().into_os_string()),
        ("XDG_DATA_HOME", Some(_)) => None,
        _ => std::env::var_os(name),
    })
    .map_err(store_trouble)
}

/// Opens the store, and makes it where there is none.
pub fn open_store(global: &Global) -> Result<Store, Trouble> {
    let owner = user_to_become()?.map(|user| Owner {
        user: user.credentials.uid,
        group: user.credentials.gid,
    });
    Store::open(&store_path(global)?, owner).map_err(store_trouble)
}

/// Opens the store where there is one.
pub fn existing_store(global: &Global) -> Result<Option<Store>, Trouble> {
    match Store::open_existing(&store_path(global)?) {
        Ok(store) => Ok(Some(store)),
        Err(StoreError::Missing { .. }) => Ok(None),
        Err(error) => Err(store_trouble(error)),
    }
}

/// What a store's error means for the program.
pub fn store_trouble(error: StoreError) -> Trouble {
    let exit = if error.exit_code() == 2 {
        Exit::Request
    } else {
        Exit::Disk
    };
    Trouble::new(exit, error.to_string(), "")
}
