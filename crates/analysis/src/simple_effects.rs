//! What one factor does by itself at each level of another: the simple effects that an interaction
//! of the two is made of.
//!
//! "The effect of the C-state depends on the idle tick" is sure and says little; "without idle
//! ticks 1.0 % less at C1, 7.4 % at C2, 6.4 % at C3" is what it means.

use std::collections::BTreeMap;

use knobstat_data::experiment::Factor;
use knobstat_data::words::Setting;
use knobstat_data::{Level, Metric, Record};
use knobstat_stats::{Confidence, Interval};

use crate::observations::Observed;
use crate::paired::{Looks, estimate};
use crate::{censoring, phrase, scale};

/// The effect of a step of one factor at one level of another, taken over all levels of the rest.
#[derive(Clone, Debug, PartialEq)]
pub struct SimpleEffect {
    /// The level stepped to, of the factor that steps.
    pub to: Setting,
    /// The level stepped from.
    pub from: Setting,
    /// The level of the other factor.
    pub at: Setting,
    /// The difference of the means.
    pub difference: f64,
    /// The difference in percent of the mean at the level stepped from.
    pub percent: Option<f64>,
    /// The interval of the difference; together all intervals of an experiment's simple effects
    /// hold with its confidence.
    pub interval: Option<Interval>,
    /// The interval of the difference in percent.
    pub percent_interval: Option<Interval>,
    /// The effect in a few words: "at cstate=C2, -7.43 % (between -8.0 % and -6.9 %)".
    words: String,
}

/// A pair of factors that interact, told by the steps of one at the levels of the other.
pub(crate) struct Telling<'e> {
    stepping: &'e Factor,
    from: &'e Level,
    other: &'e Factor,
}

impl<'e> Telling<'e> {
    /// How to tell an interaction of two factors: the one of fewer levels steps, a setting of the
    /// machine rather than a parameter, else the first. None where the comparisons tell it already,
    /// being against one level of the one at each level of the other.
    pub(crate) fn of(record: &'e Record, one: &str, other: &str) -> Option<Self> {
        let experiment = &record.experiment;
        let (one, other) = (experiment.factor(one)?, experiment.factor(other)?);
        let rank = |factor: &Factor| (!factor.kind.is_knob(), factor.levels.len());
        let (stepping, other) = if rank(other) < rank(one) {
            (other, one)
        } else {
            (one, other)
        };
        let baseline = &experiment.analysis.baseline;
        let is_told = experiment.factors.len() == 2
            && baseline.level(&stepping.name).is_some()
            && baseline.level(&other.name).is_none();
        if is_told {
            return None;
        }
        let from = baseline
            .level(&stepping.name)
            .or_else(|| stepping.levels.first())?;
        Some(Self {
            stepping,
            from,
            other,
        })
    }

    fn steps(&self) -> impl Iterator<Item = (&'e Level, &'e Level)> + '_ {
        let to = self
            .stepping
            .levels
            .iter()
            .filter(|level| *level != self.from);
        to.flat_map(|to| self.other.levels.iter().map(move |at| (to, at)))
    }

    /// How many simple effects it has.
    pub(crate) fn count(&self) -> usize {
        self.steps().count()
    }

    /// The simple effects of which there are values, `confidence` being that of each interval.
    pub(crate) fn effects(
        &self,
        record: &Record,
        values: &[Vec<Observed>],
        confidence: Confidence,
    ) -> Vec<SimpleEffect> {
        self.steps()
            .filter_map(|(to, at)| self.effect(record, values, confidence, to, at))
            .collect()
    }

    fn effect(
        &self,
        record: &Record,
        values: &[Vec<Observed>],
        confidence: Confidence,
        to: &Level,
        at: &Level,
    ) -> Option<SimpleEffect> {
        let cells = |level: &Level| -> Vec<&[Observed]> {
            record
                .plan
                .participating()
                .filter(|(_, treatment)| {
                    treatment.level(&self.stepping.name) == Some(level)
                        && treatment.level(&self.other.name) == Some(at)
                })
                .map(|(index, _)| values[index].as_slice())
                .collect()
        };
        let (treated, base) = (cells(to), cells(self.from));
        // Where combinations are missing, the rest would not cancel.
        if treated.is_empty() || treated.len() != base.len() {
            return None;
        }
        let all: Vec<&[Observed]> = treated.iter().chain(&base).copied().collect();
        // What was held down is a bound and no effect.
        if all.iter().any(|cell| censoring::limit(cell).is_some()) {
            return None;
        }
        let (of_treated, of_base) = (block_means(&treated), block_means(&base));
        let (treated, base): (Vec<f64>, Vec<f64>) = of_treated
            .iter()
            .filter_map(|(block, mean)| of_base.get(block).map(|other| (*mean, *other)))
            .unzip();
        let found = estimate(&treated, &base, scale::step(&all), Looks::Once).ok()?;
        let percent_interval = found.percent_interval(confidence);
        let interval = found.interval(confidence);
        let unit = &record.experiment.analysis.metric.unit;
        let size = match (found.percent(), percent_interval, interval) {
            (Some(percent), Some(ends), _) => format!(
                "{} (between {} and {})",
                phrase::signed_percent(percent),
                phrase::signed_percent(ends.low),
                phrase::signed_percent(ends.high)
            ),
            (_, _, Some(ends)) => format!(
                "{} {unit} (between {} and {})",
                phrase::significant(found.difference, 3),
                phrase::significant(ends.low, 3),
                phrase::significant(ends.high, 3)
            ),
            _ => format!("{} {unit}", phrase::significant(found.difference, 3)),
        };
        let setting = |factor: &Factor, level: &Level| Setting::new(&factor.name, level.clone());
        let at = setting(self.other, at);
        Some(SimpleEffect {
            to: setting(self.stepping, to),
            from: setting(self.stepping, self.from),
            words: format!("{size} at {at}"),
            at,
            difference: found.difference,
            percent: found.percent(),
            interval,
            percent_interval,
        })
    }
}

/// The mean over some treatments in every block that has a value of each.
fn block_means(cells: &[&[Observed]]) -> BTreeMap<usize, f64> {
    let mut sums: BTreeMap<usize, (usize, f64)> = BTreeMap::new();
    for observed in cells.iter().flat_map(|cell| cell.iter()) {
        let (count, sum) = sums.entry(observed.block).or_default();
        *count += 1;
        *sum += observed.value / cells.len() as f64;
    }
    sums.into_iter()
        .filter(|(_, (count, _))| *count == cells.len())
        .map(|(block, (_, mean))| (block, mean))
        .collect()
}

/// The simple effects of an interaction in sentences, one for every level stepped to.
pub(crate) fn in_words(effects: &[SimpleEffect], metric: &Metric) -> Vec<String> {
    let mut sentences = Vec::new();
    for steps in effects.chunk_by(|a, b| a.to == b.to) {
        let words: Vec<&str> = steps.iter().map(|effect| effect.words.as_str()).collect();
        sentences.push(format!(
            "From {} to {} alone, {} changes by {}.",
            steps[0].from,
            steps[0].to.level,
            metric.name,
            phrase::list(&words, "and")
        ));
    }
    sentences
}
