//! Evidence of a simulated run, in the words that a real machine's evidence has.

use knobstat_data::{Evidence, Unit};

/// Collects evidence.
#[derive(Debug, Default)]
pub(crate) struct Found(pub(crate) Vec<Evidence>);

impl Found {
    /// One piece of evidence.
    pub(crate) fn add(
        &mut self,
        key: impl Into<String>,
        scope: impl Into<String>,
        unit: Unit,
        value: f64,
    ) {
        self.0.push(Evidence {
            key: key.into(),
            scope: scope.into(),
            unit,
            value: Ok(value),
        });
    }

    /// A count over the whole run.
    pub(crate) fn count(&mut self, key: &str, value: u64) {
        self.add(key, "run", Unit::COUNT, value as f64);
    }

    /// A piece of evidence that there may be none of, with the reason.
    pub(crate) fn add_or(
        &mut self,
        key: &str,
        scope: &str,
        unit: Unit,
        value: Option<f64>,
        reason: &str,
    ) {
        self.0.push(Evidence {
            key: key.to_owned(),
            scope: scope.to_owned(),
            unit,
            value: value.ok_or_else(|| reason.to_owned()),
        });
    }
}
