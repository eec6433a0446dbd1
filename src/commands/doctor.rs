//! `knobstat doctor`: how fit this machine is for measuring, and what to do about it.

use knobstat_agent::doctor::{Finding, Grade, examine};
use knobstat_sys::root::Root;

use serde::Serialize;

use super::baseline::{self, Baseline};
use crate::arguments::Doctor;
use crate::output;
use crate::trouble::Trouble;

/// Prints the findings, what matters most first.
pub fn run(arguments: &Doctor, root: &Root) -> Result<(), Trouble> {
    let findings = examine(root);
    if !arguments.baseline {
        if arguments.json {
            return output::result(&json(&findings)?);
        }
        return output::result(&render(&findings));
    }
    let baseline = baseline::take(arguments.replicates)?;
    if arguments.json {
        return output::result(&json(&WithBaseline { findings, baseline })?);
    }
    output::result(&format!("{}\n{}", render(&findings), baseline.render()))
}

/// What is printed as JSON with a baseline; without one it is the findings alone.
#[derive(Serialize)]
struct WithBaseline {
    findings: Vec<Finding>,
    baseline: Baseline,
}

fn json(value: &impl Serialize) -> Result<String, Trouble> {
    serde_json::to_string_pretty(value)
        .map_err(|error| Trouble::disk(format!("the findings could not be written ({error})"), ""))
}

/// The findings as lines: a mark, the topic, what was seen, and below it what it does and what to
/// do about it.
fn render(findings: &[Finding]) -> String {
    let width = findings
        .iter()
        .map(|finding| finding.topic.len())
        .max()
        .unwrap_or(0);
    let mut text = String::new();
    for finding in findings {
        let mark = match finding.grade {
            Grade::Warning => "!!",
            Grade::Notice => " !",
            Grade::Unseen => " ?",
            Grade::Good => "ok",
        };
        text.push_str(&format!(
            "{mark} {:width$}  {}\n",
            finding.topic, finding.evidence
        ));
        for (word, line) in [("so", &finding.effect), ("do", &finding.remedy)] {
            if !line.is_empty() {
                text.push_str(&format!("   {:width$}  {word}: {line}\n", ""));
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_is_a_line_and_its_advice_stands_below_it() {
        let finding = Finding {
            topic: "load",
            grade: Grade::Warning,
            evidence: "3.00 tasks".to_owned(),
            effect: "runs wait".to_owned(),
            remedy: "stop them".to_owned(),
        };
        let good = Finding {
            topic: "SMT",
            grade: Grade::Good,
            evidence: "off".to_owned(),
            effect: String::new(),
            remedy: String::new(),
        };
        assert_eq!(
            render(&[finding, good]),
            "!! load  3.00 tasks\n         so: runs wait\n         do: stop them\nok SMT   off\n"
        );
    }
}
