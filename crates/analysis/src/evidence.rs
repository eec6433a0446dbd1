//! What was seen besides the metrics: a row for each piece of evidence, its mean in each treatment.
//!
//! At the head stand rows that are put together from several pieces and from the length of the
//! run, because a cause reads from them: how often the timer interrupted CPUs that idled, how much
//! of the time CPUs were in each idle state, at which frequency the busiest one ran.

use std::collections::BTreeMap;

use knobstat_data::{Attempt, Evidence, Record, Unit};

use crate::observations::accepted;

/// One piece of evidence over all treatments.
#[derive(Clone, Debug, PartialEq)]
pub struct EvidenceRow {
    /// What was seen.
    pub key: String,
    /// Where it was seen.
    pub scope: String,
    /// The unit of the means.
    pub unit: Unit,
    /// The mean over the accepted runs of each treatment that takes part, in the order of the
    /// plan; none where no run has a value.
    pub means: Vec<Option<f64>>,
    /// Why there is no value, where no treatment has one.
    pub reason: Option<String>,
    /// Whether it was put together from several pieces.
    pub combined: bool,
}

/// A CPU that was busy for at most this share of a run idled.
const IDLED: f64 = 0.1;

/// The evidence of all accepted runs, what is put together first.
pub fn evidence(record: &Record) -> Vec<EvidenceRow> {
    let treatments: Vec<usize> = record
        .plan
        .treatments
        .iter()
        .enumerate()
        .filter(|(_, planned)| planned.omitted.is_none())
        .map(|(index, _)| index)
        .collect();
    let attempts = accepted(&record.plan, &record.attempts);
    let mut table = Table::new(treatments.len());
    for combined in [true, false] {
        for attempt in &attempts {
            let Some(column) = treatments.iter().position(|own| *own == attempt.treatment) else {
                continue;
            };
            if combined {
                for piece in combine(attempt) {
                    table.add(column, &piece, true);
                }
            } else {
                for piece in &attempt.result.evidence {
                    table.add(column, piece, false);
                }
            }
        }
    }
    table.rows()
}

/// Rows in the order in which their pieces were first met.
struct Table {
    columns: usize,
    places: BTreeMap<(bool, String, String), usize>,
    rows: Vec<Row>,
}

struct Row {
    unit: Unit,
    /// Sum and count by treatment.
    sums: Vec<(f64, u32)>,
    reason: Option<String>,
}

impl Table {
    fn new(columns: usize) -> Self {
        Self {
            columns,
            places: BTreeMap::new(),
            rows: Vec::new(),
        }
    }

    fn add(&mut self, column: usize, piece: &Evidence, combined: bool) {
        let next = self.rows.len();
        let name = (combined, piece.key.clone(), piece.scope.clone());
        let place = *self.places.entry(name).or_insert(next);
        if place == next {
            self.rows.push(Row {
                unit: piece.unit.clone(),
                sums: vec![(0.0, 0); self.columns],
                reason: None,
            });
        }
        let row = &mut self.rows[place];
        match &piece.value {
            Ok(value) if value.is_finite() => {
                row.sums[column].0 += value;
                row.sums[column].1 += 1;
            }
            Ok(_) => {}
            Err(reason) => row.reason = Some(reason.clone()),
        }
    }

    fn rows(self) -> Vec<EvidenceRow> {
        let mut names: Vec<_> = self.places.into_iter().collect();
        names.sort_by_key(|(_, place)| *place);
        names
            .into_iter()
            .zip(self.rows)
            .map(|(((combined, key, scope), _), row)| {
                let mean =
                    |(sum, count): &(f64, u32)| (*count > 0).then(|| sum / f64::from(*count));
                let means: Vec<Option<f64>> = row.sums.iter().map(mean).collect();
                EvidenceRow {
                    key,
                    scope,
                    unit: row.unit,
                    reason: row.reason.filter(|_| means.iter().all(Option::is_none)),
                    means,
                    combined,
                }
            })
            .collect()
    }
}

/// The pieces that are put together for one run.
fn combine(attempt: &Attempt) -> Vec<Evidence> {
    let wall = match &attempt.result.times {
        Some(times) if !times.wall.is_zero() => times.wall.as_secs_f64(),
        _ => return Vec::new(),
    };
    let of_cpus = |key: &str| -> BTreeMap<&str, f64> {
        attempt
            .result
            .evidence
            .iter()
            .filter(|piece| piece.key == key && is_cpu(&piece.scope))
            .filter_map(|piece| Some((piece.scope.as_str(), *piece.value.as_ref().ok()?)))
            .collect()
    };
    let busy = of_cpus("cpu.busy");
    let idled = |cpu: &str| busy.get(cpu).is_some_and(|busy| *busy <= IDLED * wall);
    let piece = |key: &str, scope: &str, unit: &str, value: f64| Evidence {
        key: key.to_owned(),
        scope: scope.to_owned(),
        unit: Unit::new(unit.to_owned()),
        value: Ok(value),
    };
    let mut found = Vec::new();
    for key in ["interrupts.timer", "interrupts.rescheduling"] {
        let counts = of_cpus(key);
        for (scope, wanted) in [("idle CPUs", true), ("busy CPUs", false)] {
            let of_these: Vec<f64> = counts
                .iter()
                .filter(|(cpu, _)| busy.contains_key(*cpu) && idled(cpu) == wanted)
                .map(|(_, count)| *count)
                .collect();
            if !of_these.is_empty() {
                let rate = of_these.iter().sum::<f64>() / wall;
                found.push(piece(key, scope, "1/s", rate));
            }
        }
    }
    let mut states: Vec<&str> = Vec::new();
    for piece in &attempt.result.evidence {
        if piece.key.starts_with("idle.")
            && piece.key.ends_with(".time")
            && is_cpu(&piece.scope)
            && !states.contains(&piece.key.as_str())
        {
            states.push(&piece.key);
        }
    }
    for key in states {
        let times = of_cpus(key);
        if !times.is_empty() {
            let share = times.values().sum::<f64>() / (wall * times.len() as f64) * 100.0;
            found.push(piece(key, "all CPUs", "%", share));
        }
    }
    let busiest = busy.iter().max_by(|a, b| a.1.total_cmp(b.1));
    if let Some((cpu, _)) = busiest
        && let Some(frequency) = of_cpus("frequency.effective").get(cpu)
    {
        found.push(piece(
            "frequency.effective",
            "busiest CPU",
            "MHz",
            *frequency,
        ));
    }
    found
}

fn is_cpu(scope: &str) -> bool {
    scope.strip_prefix("cpu").is_some_and(|number| {
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}
