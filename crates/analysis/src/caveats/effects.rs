//! What was seen of the levels before the first run: whether a setting that reads as set does
//! anything.

use super::Context;
use crate::analysis::Caveat;
use crate::phrase;

/// Evidence that a level does nothing.
const ABSENT: &str = "effect_absent";
/// The beginning of the key of a figure.
const FIGURE: &str = "effect.";

pub(super) fn check(context: &Context) -> Vec<Caveat> {
    let mut absent: Vec<Caveat> = Vec::new();
    let mut figures: Vec<String> = Vec::new();
    let attempts = &context.record.attempts;
    for evidence in attempts.iter().flat_map(|attempt| &attempt.result.evidence) {
        match (&evidence.value, evidence.key.strip_prefix(FIGURE)) {
            (Err(why), _) if evidence.key == ABSENT => {
                let caveat = Caveat {
                    kind: "effect-absent",
                    sentence: format!(
                        "{} reads as set, but its effect was not seen: {why}.",
                        evidence.scope
                    ),
                };
                if !absent.contains(&caveat) {
                    absent.push(caveat);
                }
            }
            (Ok(value), Some(figure)) => {
                let unit = evidence.unit.to_string();
                let unit = if unit == "1" {
                    String::new()
                } else {
                    format!(" {unit}")
                };
                let seen = format!(
                    "{} at {}: {}{unit}",
                    figure.replace('_', " "),
                    evidence.scope,
                    phrase::short(*value, 3)
                );
                // An experiment that went on was looked at again; the first look stands.
                let known = format!("{} at {}:", figure.replace('_', " "), evidence.scope);
                if !figures.iter().any(|other| other.starts_with(&known)) {
                    figures.push(seen);
                }
            }
            _ => {}
        }
    }
    if !figures.is_empty() {
        absent.push(Caveat {
            kind: "effect-checks",
            sentence: format!(
                "What the levels did was looked at before the first run: {}.",
                phrase::list(&figures, "and")
            ),
        });
    }
    absent
}
