//! `knobstat knobs`: every knob, its value, its levels, and whether it can be turned or why not.

use knobstat_data::experiment::nearest;
use knobstat_data::messages::{Availability, KnobState};
use knobstat_sys::root::Root;
use serde_json::{Value, json};

use crate::arguments::Knobs;
use crate::output;
use crate::table::columns;
use crate::trouble::Trouble;

/// Prints all knobs, or one with its documentation.
pub fn run(arguments: &Knobs, root: &Root) -> Result<(), Trouble> {
    let chosen = match &arguments.name {
        None => knobstat_knobs::states(root),
        Some(name) => vec![find(root, name)?],
    };
    if arguments.json {
        let list: Vec<Value> = chosen.iter().map(as_json).collect();
        return output::result(&format!("{:#}", Value::Array(list)));
    }
    let mut text = table(&chosen);
    if let ([state], Some(_)) = (chosen.as_slice(), &arguments.name) {
        for (level, availability) in &state.levels {
            if let Availability::Unavailable { reason, .. } = availability {
                text.push_str(&format!("  {level}: {reason}\n"));
            }
        }
        if let Some(documentation) = knobstat_knobs::documentation(root, &state.name) {
            text.push('\n');
            text.push_str(documentation.trim_end());
            text.push('\n');
        }
    }
    output::result(&text)
}

/// One of the catalogue, or one whose name says where it is.
fn find(root: &Root, name: &str) -> Result<KnobState, Trouble> {
    knobstat_knobs::state_of(root, name).ok_or_else(|| {
        let states = knobstat_knobs::states(root);
        let names = states.iter().map(|state| state.name.as_str());
        let remedy = match nearest(name, names) {
            Some(nearest) => format!("Did you mean {nearest}?"),
            None => "`knobstat knobs` lists them; sysctl:NAME, sysfs:PATH, irq:N and \
                     cmdline:NAME are knobs as well."
                .to_owned(),
        };
        Trouble::request(format!("there is no knob \"{name}\""), remedy)
    })
}

/// The knobs as a table, a level that cannot be had in brackets, and below it why knobs cannot be
/// turned: one cause with all that it holds for.
fn table(states: &[KnobState]) -> String {
    let mut rows = vec![["knob", "value", "levels"].map(str::to_owned)];
    let mut causes: Vec<(String, Vec<&str>)> = Vec::new();
    for state in states {
        let value = state
            .value
            .as_ref()
            .map_or("-".to_owned(), ToString::to_string);
        let levels: Vec<String> = state
            .levels
            .iter()
            .map(|(level, availability)| match availability {
                Availability::Available => level.to_string(),
                Availability::Unavailable { .. } => format!("({level})"),
            })
            .collect();
        rows.push([state.name.clone(), value, levels.join(" ")]);
        let cause = match (&state.settable, &state.value) {
            (Availability::Unavailable { reason, remedy }, _) => match remedy {
                Some(remedy) => format!("{reason}; {remedy}"),
                None => reason.clone(),
            },
            (Availability::Available, Err(reason)) => reason.clone(),
            (Availability::Available, Ok(_)) => continue,
        };
        match causes.iter_mut().find(|(known, _)| *known == cause) {
            Some((_, names)) => names.push(&state.name),
            None => causes.push((cause, vec![&state.name])),
        }
    }
    let mut text = columns(&rows);
    if !causes.is_empty() {
        text.push_str("\nCannot be turned here\n");
    }
    for (cause, names) in causes {
        text.push_str(&format!("  {}\n      {cause}\n", names.join(", ")));
    }
    text
}

fn as_json(state: &KnobState) -> Value {
    json!({
        "name": state.name,
        "summary": state.summary,
        "scope": state.scope,
        "value": state.value.as_ref().ok(),
        "unreadable": state.value.as_ref().err(),
        "settable": availability(&state.settable),
        "levels": state.levels.iter().map(|(level, here)| {
            let mut object = availability(here);
            if let Some(object) = object.as_object_mut() {
                object.insert("level".to_owned(), json!(level));
            }
            object
        }).collect::<Vec<Value>>(),
    })
}

fn availability(availability: &Availability) -> Value {
    match availability {
        Availability::Available => json!({ "available": true }),
        Availability::Unavailable { reason, remedy } => {
            json!({ "available": false, "reason": reason, "remedy": remedy })
        }
    }
}
