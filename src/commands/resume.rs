//! `knobstat resume`: continues the experiment that rebooted this machine.

use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use knobstat_data::messages::Refusal;
use knobstat_knobs::boot_entry::{BootError, Boots, Resumption};
use knobstat_sys::pidfd::PidFd;
use knobstat_sys::root::Root;

use crate::output;
use crate::trouble::{Exit, Trouble};

/// What sd_booted(3) looks at.
const SYSTEMD: &str = "/run/systemd/system";
/// How long services may take to start. A machine that is still busy then is measured busy.
const LONGEST_START: Duration = Duration::from_secs(300);

/// Becomes the program as it was started before the reboot.
pub fn run(root: &Root) -> Result<u8, Trouble> {
    let boots = Boots::of(root).map_err(|error| trouble(&error))?;
    let Some(resumption) = boots.resumption().map_err(|error| trouble(&error))? else {
        output::message("knobstat: no experiment is to be continued.");
        return Ok(0);
    };
    if root.is_real() && root.exists(SYSTEMD) {
        wait_until_it_has_started();
    }
    Err(become_it(&resumption))
}

/// Waits until the service manager has nothing more to start, so that it does not disturb.
fn wait_until_it_has_started() {
    let waiting = Command::new("systemctl")
        .args(["is-system-running", "--wait"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    // Without it nothing is known, and the experiment goes on.
    let Ok(mut waiting) = waiting else {
        return;
    };
    let ended =
        PidFd::open(waiting.id()).and_then(|process| process.wait_ended(Some(LONGEST_START)));
    if !matches!(ended, Ok(true)) {
        let _ = waiting.kill();
    }
    let _ = waiting.wait();
}

/// It returns only where that failed.
fn become_it(resumption: &Resumption) -> Trouble {
    let resume = &resumption.resume;
    let end = resume.arguments.iter().position(|word| word == "--");
    let (ours, of_the_command) = resume
        .arguments
        .split_at(end.unwrap_or(resume.arguments.len()));
    let error = Command::new(&resumption.program)
        .args(ours)
        .arg(format!("--resume={}", resumption.experiment))
        .args(of_the_command)
        .env_clear()
        .envs(resume.environment.iter().cloned())
        .current_dir(&resume.directory)
        .exec();
    Trouble::new(
        Exit::RunsFailed,
        format!(
            "{} cannot be started in {} ({error})",
            resumption.program.display(),
            resume.directory
        ),
        "Put both back where they were, or end the experiment's boots with `knobstat restore`.",
    )
}

fn trouble(error: &BootError) -> Trouble {
    let refusal = Refusal::from(error);
    Trouble::new(Exit::Disk, refusal.cause, refusal.remedy)
}
