//! The words in which a comparison is spoken of: the names of what is compared, and the idiom of
//! those who repeat blocks, pairs or values.

use crate::phrase;

/// What a sentence calls the things that it compares.
pub(crate) struct Names<'a> {
    /// What both share, "At Encode-8, ", or nothing.
    pub(crate) at: String,
    /// What is compared.
    pub(crate) set: String,
    /// What it is compared with.
    pub(crate) baseline: String,
    /// The quantity; empty where nobody says.
    pub(crate) metric: &'a str,
    /// Its unit; may be empty.
    pub(crate) unit: String,
}

impl Names<'_> {
    fn metric_or<'a>(&'a self, nameless: &'a str) -> &'a str {
        if self.metric.is_empty() {
            nameless
        } else {
            self.metric
        }
    }

    /// The quantity as the subject of a sentence.
    pub(super) fn subject(&self) -> &str {
        self.metric_or("the mean")
    }

    /// The quantity after "their" or "a value of".
    pub(crate) fn noun(&self) -> &str {
        self.metric_or("mean")
    }

    /// The quantity of both.
    pub(super) fn plural(&self) -> &str {
        self.metric_or("means")
    }

    /// A number with its unit; to be followed by a blank or a full stop.
    pub(super) fn with_unit(&self, value: f64, digits: usize) -> String {
        let number = phrase::significant(value, digits);
        if matches!(self.unit.as_str(), "" | "1") {
            number
        } else {
            format!("{number} {}", self.unit)
        }
    }
}

/// How those speak who repeat one thing rather than another.
pub(crate) struct Idiom {
    /// So many more of what is repeated.
    pub(super) more: fn(u64) -> String,
    /// A thousand of what is repeated.
    pub(super) thousand: &'static str,
    /// What to give so that equivalence is asked about.
    pub(super) margin: &'static str,
    /// How a margin in percent is written with so many digits.
    pub(super) margin_number: fn(f64, usize) -> String,
    /// How many digits of the step of a scale are shown.
    pub(super) step_digits: usize,
    /// That a difference is not in percent.
    pub(super) not_in_percent: &'static str,
    /// How to say that a workload's own clock is trusted.
    pub(super) trust: &'static str,
}

/// The blocks of an experiment are repeated.
pub(crate) const BLOCKS: Idiom = Idiom {
    more: |more| format!("{} more", phrase::count(more, "block")),
    thousand: "a thousand blocks",
    margin: "a margin",
    margin_number: phrase::significant,
    step_digits: 2,
    not_in_percent: "in units",
    trust: "Set trust_self_timed = true",
};

/// Pairs of plain values are repeated.
pub(crate) const PAIRS: Idiom = Idiom {
    more: |more| phrase::count(more, "more pair"),
    thousand: "a thousand further pairs",
    ..VALUES
};

/// Plain values of each set are repeated.
pub(crate) const VALUES: Idiom = Idiom {
    more: |more| format!("{} of each", phrase::count(more, "more value")),
    thousand: "a thousand further values",
    margin: "--margin",
    margin_number: phrase::short,
    step_digits: 3,
    not_in_percent: "not in percent",
    trust: "Set trust_self_timed = true in the experiment",
};
