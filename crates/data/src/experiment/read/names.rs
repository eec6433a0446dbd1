//! What the name of a factor may stand for: a knob, a parameter, a placeholder.

use super::knobs::DeclaredKnob;
use super::workload::ReadWorkload;
use crate::experiment::suggest;
use crate::experiment::values::{Fault, quoted};
use crate::vocabulary::{ParameterSchema, Scope, Vocabulary};
use crate::words::Level;

/// What the names of factors may stand for.
pub struct Names<'a> {
    /// The knobs of the catalogue.
    pub vocabulary: &'a Vocabulary,
    /// The knobs of the file.
    pub declared: &'a [DeclaredKnob],
    /// The workload and its placeholders.
    pub workload: &'a ReadWorkload<'a>,
}

/// A knob: when a change takes effect, and its levels where they are a closed list.
pub type NamedKnob<'a> = (Scope, Option<&'a [String]>);

/// Knobs by path or name, which the catalogue need not list.
const PREFIXES: [(&str, Scope); 4] = [
    ("irq:", Scope::Runtime),
    ("sysfs:", Scope::Runtime),
    ("sysctl:", Scope::Runtime),
    ("cmdline:", Scope::Boot),
];

impl<'a> Names<'a> {
    /// The knob of this name, or what is wrong with the name of a file or sysctl.
    pub fn knob(&self, name: &str) -> Option<Result<NamedKnob<'a>, Fault>> {
        if let Some(declared) = self.declared.iter().find(|knob| knob.name == name) {
            return Some(Ok((declared.scope, None)));
        }
        if let Some(word) = self.vocabulary.knob(name) {
            return Some(Ok((word.scope, word.levels.as_deref())));
        }
        let (prefix, scope) = PREFIXES
            .iter()
            .find(|(prefix, _)| name.starts_with(prefix))?;
        let rest = &name[prefix.len()..];
        let steps_up = rest.split('/').any(|part| part == "..");
        if rest.is_empty() || steps_up || rest.contains(|c: char| c.is_control() || c == ' ') {
            return Some(Err(Fault::new(
                format!("does not say what {} names", &prefix[..prefix.len() - 1]),
                "empty, or with `..`, a space or a control character",
                "write sysfs:PATH, sysctl:NAME, irq:N or cmdline:PARAMETER",
            )));
        }
        Some(Ok((*scope, None)))
    }

    /// The workload's parameter of this name.
    pub fn parameter(&self, name: &str) -> Option<&'a ParameterSchema> {
        let parameters = self.workload.schema?.parameters;
        parameters.iter().find(|parameter| parameter.name == name)
    }

    /// Whether a text of the workload has this placeholder.
    pub fn is_placeholder(&self, name: &str) -> bool {
        self.workload
            .placeholders
            .iter()
            .any(|(used, _)| used == name)
    }

    /// Every name of a knob.
    pub fn knobs(&self) -> impl Iterator<Item = &'a str> + Clone {
        let declared = self.declared.iter().map(|knob| knob.name.as_str());
        declared.chain(self.vocabulary.knobs.iter().map(|knob| knob.name.as_str()))
    }

    /// What to do about a name that is no factor.
    pub fn remedy(&self, name: &str) -> String {
        let parameters = self
            .workload
            .schema
            .map_or(&[] as &[ParameterSchema], |schema| schema.parameters);
        let names = self
            .knobs()
            .chain(
                parameters
                    .iter()
                    .filter(|parameter| parameter.factor)
                    .map(|p| p.name),
            )
            .chain(
                self.workload
                    .placeholders
                    .iter()
                    .map(|(name, _)| name.as_str()),
            );
        match suggest::nearest(name, names) {
            Some(near) if self.is_placeholder(near) => {
                format!("the workload has {{{near}}}: spell both alike")
            }
            Some(near) => format!("did you mean `{near}`?"),
            None => {
                let command = match self.workload.schema {
                    Some(schema) if schema.placeholders => {
                        format!(", a {{{name}}} in the command,")
                    }
                    _ => String::new(),
                };
                format!(
                    "name a knob (`knobstat knobs` lists them), a parameter of the workload{command} or sysfs:PATH, sysctl:NAME, irq:N, cmdline:PARAMETER"
                )
            }
        }
    }
}

/// The level, where it is one of the closed list or there is none.
pub fn in_closed_list(level: Level, closed_list: Option<&[String]>) -> Result<Level, Fault> {
    let text = level.to_string();
    match closed_list {
        Some(list) if !list.contains(&text) => Err(Fault::new(
            format!("cannot be {}", quoted(&text)),
            "not a level of this knob",
            suggest::remedy(&text, list.iter().map(String::as_str), "its levels are"),
        )),
        _ => Ok(level),
    }
}
