//! Names that were cut short to fit a column, listed in full at the foot.

use std::collections::BTreeMap;

use crate::text_width::{cut, printable, wrapped};

/// The names that were cut so far.
#[derive(Default)]
pub(super) struct Names {
    cut: BTreeMap<String, String>,
}

impl Names {
    /// The name in at most this many columns.
    pub(super) fn short(&mut self, name: &str, columns: usize) -> String {
        let name = printable(name);
        let short = cut(&name, columns);
        if short != name {
            self.cut.insert(name, short.clone());
        }
        short
    }

    /// Every name that was cut, in full.
    pub(super) fn list(&self, width: usize) -> String {
        if self.cut.is_empty() {
            return String::new();
        }
        let mut text = "\nNames cut short\n".to_owned();
        for (name, short) in &self.cut {
            text.push_str(&wrapped(&format!("{short} is {name}"), width, "  ", "    "));
        }
        text
    }
}
