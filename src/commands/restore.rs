//! `knobstat restore`: puts back what an interrupted experiment left behind.

use knobstat_data::messages::{Refusal, RefusalKind, Restoration};
use knobstat_knobs::{Options, StateDirectory, heard, plan_put_back, put_back};
use knobstat_sys::root::Root;
use serde_json::json;

use crate::arguments::Restore;
use crate::boot_unit;
use crate::output;
use crate::trouble::{Exit, Trouble};

/// Puts everything back, or says how a person would, or sees to it that it is done at boot.
pub fn run(arguments: &Restore, root: &Root) -> Result<u8, Trouble> {
    if arguments.install {
        boot_unit::install(root)?;
        return Ok(0);
    }
    let state = StateDirectory::of(root).map_err(|error| Trouble::disk(error.to_string(), ""))?;
    let options = Options {
        overwrite_others: arguments.overwrite_others,
        ..Options::default()
    };
    let restoration = if arguments.dry_run {
        plan_put_back(root, &state, &options)
    } else {
        put_back(root, &state, &options)
    };
    let restoration = restoration.map_err(|error| {
        let refusal = Refusal::from(&error);
        Trouble::new(exit_of(refusal.kind), refusal.cause, refusal.remedy)
    })?;
    output::result(&if arguments.json {
        format!("{:#}", as_json(&restoration, arguments.dry_run))
    } else {
        render(&restoration)
    })?;
    if !arguments.dry_run && !restoration.left_alone.is_empty() {
        // Where it cannot be forgotten, the next who comes is told once more.
        let _ = heard(root, &state);
    }
    Ok(if restoration.failed.is_empty() {
        0
    } else {
        Exit::NotPutBack.code()
    })
}

fn exit_of(kind: RefusalKind) -> Exit {
    match kind {
        RefusalKind::Busy => Exit::Busy,
        RefusalKind::Disk => Exit::Disk,
        _ => Exit::NotPutBack,
    }
}

fn as_json(restoration: &Restoration, is_dry_run: bool) -> serde_json::Value {
    let failed = restoration.failed.iter();
    let failed =
        failed.map(|failure| json!({ "reason": failure.reason, "command": failure.command }));
    json!({
        "schema": "knobstat.restore/1",
        "dry_run": is_dry_run,
        "put_back": restoration.put_back,
        "left_alone": restoration.left_alone,
        "failed": failed.collect::<Vec<_>>(),
    })
}

fn render(restoration: &Restoration) -> String {
    let mut text = String::new();
    for sentence in restoration.put_back.iter().chain(&restoration.left_alone) {
        text.push_str(sentence);
        text.push('\n');
    }
    for failure in &restoration.failed {
        text.push_str(&format!(
            "{}\n  Type: {}\n",
            failure.reason, failure.command
        ));
    }
    if text.is_empty() {
        text.push_str("Nothing is left to put back.\n");
    }
    text
}
