//! Reading the values of independent implementations.

use std::collections::HashMap;

/// Named numbers, one `name,value` a line.
pub struct Reference(HashMap<String, f64>);

impl Reference {
    pub fn parse(text: &str) -> Self {
        let entries = text.lines().map(|line| {
            let (name, value) = line.rsplit_once(',').expect("a name and a value");
            (name.to_owned(), value.parse().expect("a number"))
        });
        Self(entries.collect())
    }

    pub fn get(&self, name: &str) -> f64 {
        *self
            .0
            .get(name)
            .unwrap_or_else(|| panic!("no value for {name}"))
    }

    /// All of `name.1`, `name.2` and so on.
    pub fn list(&self, name: &str) -> Vec<f64> {
        (1..)
            .map_while(|i| self.0.get(&format!("{name}.{i}")).copied())
            .collect()
    }
}

/// Fails unless `found` is `wanted` to a relative `tolerance`.
#[track_caller]
pub fn close(what: &str, found: f64, wanted: f64, tolerance: f64) {
    let error = if wanted == 0.0 {
        found.abs()
    } else {
        (found / wanted - 1.0).abs()
    };
    assert!(
        error <= tolerance,
        "{what}: found {found:e}, wanted {wanted:e}, error {error:.1e}"
    );
}
