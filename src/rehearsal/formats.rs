//! What a rehearsal found, for a person and for a program.

use std::collections::BTreeMap;
use std::fmt::Write;

use knobstat_analysis::phrase;
use knobstat_data::words::Setting;
use knobstat_data::{Level, Treatment};
use knobstat_lab::engine::Estimate;
use serde_json::json;

use super::{Expected, Rehearsal};
use crate::table;

impl Rehearsal {
    /// For a person.
    pub fn text(&self) -> String {
        let mut text = format!(
            "{}\nrehearsed on a simulated machine: {}\n",
            self.name, self.machine
        );
        if let Some(job) = &self.job {
            let _ = writeln!(
                text,
                "the command is represented by the machine file's job: {job}"
            );
        }
        let boots = match self.boots {
            0 => String::new(),
            boots => format!(", and {}", phrase::count(boots as u64, "boot")),
        };
        let tainted = match self.tainted {
            0 => String::new(),
            tainted => format!("; {tainted} of the runs tainted"),
        };
        let _ = writeln!(
            text,
            "\n{}, {} of running and settling{boots}{tainted}",
            phrase::count(self.runs as u64, "run"),
            Estimate::About(self.takes),
        );
        for left_out in &self.left_out {
            let _ = writeln!(text, "left out: {left_out}");
        }
        for factor in &self.unknown_to_job {
            let _ = writeln!(
                text,
                "warning: {factor} changes the command only, which a job does not know: it shows no difference here."
            );
        }
        let _ = writeln!(
            text,
            "\nWith {} of {} ({}){}\n",
            phrase::count(self.blocks as u64, "block"),
            self.metric,
            self.unit,
            match self.one_baseline() {
                Some(baseline) => format!(", against {baseline}"),
                None => String::new(),
            }
        );
        text.push_str(&self.table());
        text.push_str(
            "\nFound: in how many of 100 such experiments. Smallest: the smallest difference that nine of ten\nwould find. A rehearsal says what follows from the machine file; it knows nothing of the machine\nitself.\n",
        );
        text
    }

    fn table(&self) -> String {
        let or_none = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        let names_baselines = self.one_baseline().is_none();
        let headings = [
            "treatment",
            "difference %",
            "expectation",
            "found",
            "smallest %",
        ];
        let mut rows = vec![headings.map(str::to_owned)];
        rows.extend(self.comparisons.iter().map(|one| {
            [
                if names_baselines {
                    format!("{} against {}", one.treatment, one.baseline)
                } else {
                    one.treatment.to_string()
                },
                or_none(one.percent.map(|percent| format!("{percent:+.2}"))),
                match one.limited {
                    Some(limit) => format!("{} (both limited by the {limit})", one.word()),
                    None => one.word().to_owned(),
                },
                or_none(
                    one.power
                        .filter(|_| one.limited.is_none() && !one.is_nothing())
                        .map(|power| format!("{:.0}", 100.0 * power)),
                ),
                or_none(
                    one.smallest
                        .map(|smallest| phrase::significant(smallest, 2)),
                ),
            ]
        }));
        table::columns(&rows)
    }

    /// The levels that every treatment is compared with, where they are the same for all: those of
    /// the factors in which a treatment and its baseline differ.
    fn one_baseline(&self) -> Option<Treatment> {
        let all = &self.comparisons.first()?.baseline.settings;
        let mut levels: Vec<Setting> = Vec::new();
        for Expected {
            treatment,
            baseline,
            ..
        } in &self.comparisons
        {
            let differing = baseline
                .settings
                .iter()
                .filter(|setting| treatment.level(&setting.factor) != Some(&setting.level));
            for setting in differing {
                match levels.iter().find(|known| known.factor == setting.factor) {
                    Some(known) if known.level != setting.level => return None,
                    Some(_) => {}
                    None => levels.push(setting.clone()),
                }
            }
        }
        // In the order of the factors.
        let place = |level: &Setting| all.iter().position(|one| one.factor == level.factor);
        levels.sort_by_key(place);
        (!levels.is_empty()).then(|| Treatment::new(levels))
    }

    /// For a program.
    pub fn json(&self) -> String {
        let comparisons: Vec<serde_json::Value> = self
            .comparisons
            .iter()
            .map(|one| {
                json!({
                    "levels": levels(&one.treatment),
                    "baseline": levels(&one.baseline),
                    "percent": one.percent,
                    "power": one.power,
                    "smallest_percent": one.smallest,
                    "limited_by": one.limited,
                    "expectation": one.word(),
                })
            })
            .collect();
        let value = json!({
            "schema": "knobstat.rehearsal/1",
            "experiment": self.name,
            "machine": self.machine,
            "job": self.job,
            "unknown_to_job": self.unknown_to_job,
            "runs": self.runs,
            "tainted": self.tainted,
            "seconds": self.takes.as_secs_f64(),
            "boots": self.boots,
            "blocks": self.blocks,
            "metric": self.metric,
            "unit": self.unit,
            "comparisons": comparisons,
            "left_out": self.left_out,
        });
        format!("{value:#}\n")
    }
}

fn levels(treatment: &Treatment) -> BTreeMap<&str, &Level> {
    treatment
        .settings
        .iter()
        .map(|setting| (setting.factor.as_str(), &setting.level))
        .collect()
}
