//! `knobstat knobs`: every knob, its value, its levels, and whether it can be turned or why not.

use knobstat_data::experiment::nearest;
use knobstat_data::messages::{Availability, KnobState};
use knobstat_sys::root::Root;
use serde_json::{Value, json};

use crate::arguments::Knobs;
use crate::output;
use crate::trouble::Trouble;

/// Prints all knobs, or one with its documentation.
pub fn run(arguments: &Knobs, root: &Root) -> Result<(), Trouble> {
    let states = knobstat_knobs::states(root);
    let chosen: Vec<&KnobState> = match &arguments.name {
        None => states.iter().collect(),
        Some(name) => vec![find(&states, name)?],
    };
    if arguments.json {
        let list: Vec<Value> = chosen.iter().map(|state| as_json(state)).collect();
        return output::result(&format!("{:#}", Value::Array(list)));
    }
    let mut text = String::new();
    for state in &chosen {
        text.push_str(&render(state));
    }
    if arguments.name.is_some() {
        for state in &chosen {
            if let Some(documentation) = knobstat_knobs::documentation(&state.name) {
                text.push('\n');
                text.push_str(documentation.trim_end());
                text.push('\n');
            }
        }
    }
    output::result(&text)
}

fn find<'s>(states: &'s [KnobState], name: &str) -> Result<&'s KnobState, Trouble> {
    states
        .iter()
        .find(|state| state.name == name)
        .ok_or_else(|| {
            let names = states.iter().map(|state| state.name.as_str());
            let remedy = match nearest(name, names) {
                Some(nearest) => format!("Did you mean {nearest}?"),
                None => "`knobstat knobs` lists them.".to_owned(),
            };
            Trouble::request(format!("there is no knob \"{name}\""), remedy)
        })
}

/// A knob in a few lines: name and value, levels, and why it cannot be turned.
fn render(state: &KnobState) -> String {
    let value = match &state.value {
        Ok(level) => level.to_string(),
        Err(_) => "-".to_owned(),
    };
    let levels: Vec<String> = state
        .levels
        .iter()
        .map(|(level, availability)| match availability {
            Availability::Available => level.to_string(),
            Availability::Unavailable { .. } => format!("({level})"),
        })
        .collect();
    let mut text = format!("{:16} {value:20} {}\n", state.name, levels.join(" "));
    let line = |text: &mut String, sentence: &str| {
        text.push_str(&format!("{:16} {sentence}\n", ""));
    };
    match (&state.settable, &state.value) {
        (Availability::Unavailable { reason, remedy }, _) => {
            line(&mut text, reason);
            if let Some(remedy) = remedy {
                line(&mut text, remedy);
            }
        }
        (Availability::Available, Err(reason)) => line(&mut text, reason),
        (Availability::Available, Ok(_)) => {}
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
