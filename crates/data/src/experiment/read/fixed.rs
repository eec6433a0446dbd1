//! `[fixed]`: knobs held at one level.

use toml::de::DeValue;

use super::factors::ReadFactor;
use super::names::{Names, in_closed_list};
use super::{Reader, Section};
use crate::experiment::FixedKnob;
use crate::experiment::suggest;
use crate::experiment::values::{self, Fault};
use crate::words::Setting;

/// Reads `[fixed]`.
pub fn read(
    reader: &mut Reader<'_>,
    file: &Section<'_>,
    names: &Names<'_>,
    factors: &[ReadFactor],
) -> Vec<FixedKnob> {
    let Some(section) = file.table(reader, "fixed", "[fixed]") else {
        return Vec::new();
    };
    let mut fixed = Vec::new();
    for entry in &section.entries {
        let subject = entry.subject();
        let (scope, closed_list) = match names.knob(entry.name) {
            Some(Ok(knob)) => knob,
            Some(Err(fault)) => {
                reader.fault(&subject, &entry.name_span, fault);
                continue;
            }
            None => {
                let remedy = if names.parameter(entry.name).is_some() {
                    "it is a parameter of the workload: give it in [workload]".to_owned()
                } else if matches!(entry.value, DeValue::Table(_)) {
                    "a name with dots or colons needs quotes, as in \"sysctl:vm.swappiness\" = 10"
                        .to_owned()
                } else {
                    suggest::nearest(entry.name, names.knobs()).map_or_else(
                        || "name a knob (`knobstat knobs` lists them), or sysfs:PATH, sysctl:NAME, irq:N, cmdline:PARAMETER".to_owned(),
                        |near| format!("did you mean `{near}`?"),
                    )
                };
                let fault = Fault::new("is not a knob", "only knobs can be held", remedy);
                reader.fault(&subject, &entry.name_span, fault);
                continue;
            }
        };
        if let Some(factor) = factors.iter().find(|factor| factor.name == entry.name) {
            let fault = Fault::new(
                "is held here and varies in [factors]",
                "held here",
                "take it out of [fixed] or of [factors]",
            );
            let context = vec![(factor.span.clone(), "varies here".to_owned())];
            reader.fault_with(&subject, &entry.name_span, fault, context);
        }
        let level = values::level(entry.value).and_then(|level| in_closed_list(level, closed_list));
        if let Some(level) = reader.check(&subject, &entry.span, level) {
            fixed.push(FixedKnob {
                setting: Setting::new(entry.name, level),
                scope,
            });
        }
    }
    fixed
}
