//! What the values did in the course of the experiment, whatever the treatment: a beginning that
//! was not warm yet, a drift, a jump, or neighbours that resemble each other.
//!
//! One series is looked at, what the treatments leave unexplained in the order of execution, and
//! the first of these that explains it is said: each of them looks like the others too.

use knobstat_stats::health::{autocorrelation, change_point, ljung_box, trend, warm_up};
use knobstat_stats::summary::median;

use super::{Context, SURPRISING};
use crate::analysis::Caveat;
use crate::observations::Observed;
use crate::phrase;

/// A beginning longer than this share of the series is a jump and no warm-up.
const LONGEST_WARM_UP: usize = 4;

/// Fewer values tell nothing of their neighbours.
const FEWEST_FOR_NEIGHBOURS: usize = 20;

/// Neighbours are looked for up to this distance.
const MOST_LAGS: usize = 10;

/// What closes every sentence: which numbers are touched and which are not.
const CONSEQUENCE: &str = "Comparisons are made within blocks, so that this falls out of them; the \
                           means and their intervals hold it.";

pub(super) fn check(context: &Context) -> Vec<Caveat> {
    let series = residuals(context.values);
    let metric = &context.record.experiment.analysis.metric.name;
    beginning(&series, metric)
        .or_else(|| drift_or_jump(&series, metric))
        .or_else(|| neighbours(&series, metric))
        .into_iter()
        .collect()
}

/// What the treatments leave unexplained, in the order of execution, as shares of the medians.
/// (Not of the means: a beginning or a jump would leave its trace in all other values.)
fn residuals(values: &[Vec<Observed>]) -> Vec<f64> {
    let mut residuals: Vec<(u64, f64)> = Vec::new();
    for cell in values {
        let of_cell: Vec<f64> = cell.iter().map(|observed| observed.value).collect();
        let Ok(middle) = median(&of_cell) else {
            continue;
        };
        residuals.extend(
            cell.iter()
                .map(|observed| (observed.sequence, (observed.value - middle) / middle.abs()))
                .filter(|(_, share)| share.is_finite()),
        );
    }
    residuals.sort_by_key(|(sequence, _)| *sequence);
    residuals.into_iter().map(|(_, share)| share).collect()
}

fn percent(share: f64) -> String {
    phrase::significant(share.abs() * 100.0, 2)
}

/// A beginning that differs from a rest that is steady.
fn beginning(series: &[f64], metric: &str) -> Option<Caveat> {
    let found = warm_up(series, SURPRISING).ok().flatten()?;
    let rest = series.get(found.length..)?;
    if found.length * LONGEST_WARM_UP > series.len() || drift_or_jump(rest, metric).is_some() {
        return None;
    }
    let sentence = format!(
        "The first {} {} {metric} about {} % {} than the rest (p = {}), as on a machine that is not \
         warm yet; warm-up runs would help. {CONSEQUENCE}",
        phrase::count(found.length as u64, "run"),
        if found.length == 1 { "has" } else { "have" },
        percent(found.shift),
        if found.shift > 0.0 { "higher" } else { "lower" },
        phrase::probability(found.p)
    );
    Some(Caveat {
        kind: "not-warm",
        sentence,
    })
}

/// A steady rise or fall, or a step from one level to another: the one that leaves less
/// unexplained.
fn drift_or_jump(series: &[f64], metric: &str) -> Option<Caveat> {
    let surprising = |p: f64| p <= SURPRISING;
    let drift = trend(series).ok().filter(|found| surprising(found.p));
    let jump = change_point(series)
        .ok()
        .filter(|found| surprising(found.p))
        .map(|found| (found, step_near(series, found.at)));
    let is_jump = match (&drift, &jump) {
        (Some(_), Some((_, step))) => step.unexplained < unexplained_by_line(series),
        (None, Some(_)) => true,
        (_, None) => false,
    };
    if let (true, Some((found, step))) = (is_jump, jump) {
        let sentence = format!(
            "From run {} on {metric} was about {} % {} than before, whatever the treatment (p = \
             {}): something changed there. {CONSEQUENCE}",
            step.at + 1,
            percent(step.rise),
            if step.rise > 0.0 { "higher" } else { "lower" },
            phrase::probability(found.p)
        );
        return Some(Caveat {
            kind: "jump",
            sentence,
        });
    }
    let found = drift?;
    let over_all = found.slope * (series.len() - 1) as f64;
    let sentence = format!(
        "Over the experiment {metric} {} by about {} %, whatever the treatment (p = {}). \
         {CONSEQUENCE}",
        if over_all > 0.0 { "rose" } else { "fell" },
        percent(over_all),
        phrase::probability(found.p)
    );
    Some(Caveat {
        kind: "drift",
        sentence,
    })
}

/// Neighbours that resemble each other, or that alternate.
fn neighbours(series: &[f64], metric: &str) -> Option<Caveat> {
    if series.len() < FEWEST_FOR_NEIGHBOURS {
        return None;
    }
    let lags = (series.len() / 5).min(MOST_LAGS);
    let found = ljung_box(series, lags).ok()?;
    let lag_1 = autocorrelation(series, 1).ok()?;
    (found.p <= SURPRISING).then(|| {
        let sentence = format!(
            "Runs are not independent: the {metric} of a run tells something of those after it \
             (correlation with the next {}, p over {} = {}). Comparisons are made within blocks in \
             random order and keep their error rate; the intervals of single means may be too \
             narrow.",
            phrase::significant(lag_1, 2),
            phrase::count(lags as u64, "lag"),
            phrase::probability(found.p)
        );
        Caveat {
            kind: "neighbours-alike",
            sentence,
        }
    })
}

/// A series told as two levels.
struct StepInLevel {
    /// The first value of the second level.
    at: usize,
    rise: f64,
    unexplained: f64,
}

/// The step that leaves least unexplained near a place that ranks have found: they see that there
/// is one, and its place to within a few values.
fn step_near(series: &[f64], place: usize) -> StepInLevel {
    const NEAR: usize = 5;
    (place.saturating_sub(NEAR).max(1)..=(place + NEAR).min(series.len() - 1))
        .map(|at| step_at(series, at))
        .reduce(|best, next| {
            if next.unexplained < best.unexplained {
                next
            } else {
                best
            }
        })
        .unwrap_or_else(|| step_at(series, place))
}

fn step_at(series: &[f64], at: usize) -> StepInLevel {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let about = |values: &[f64], mean: f64| {
        values
            .iter()
            .map(|value| (value - mean) * (value - mean))
            .sum::<f64>()
    };
    let (before, after) = series.split_at(at);
    let (low, high) = (mean(before), mean(after));
    StepInLevel {
        at,
        rise: high - low,
        unexplained: about(before, low) + about(after, high),
    }
}

/// The sum of squares that the best straight line leaves.
fn unexplained_by_line(series: &[f64]) -> f64 {
    let n = series.len() as f64;
    let (middle, mean) = ((n - 1.0) / 2.0, series.iter().sum::<f64>() / n);
    let (mut along, mut with, mut about) = (0.0, 0.0, 0.0);
    for (place, value) in series.iter().enumerate() {
        let (x, y) = (place as f64 - middle, value - mean);
        along += x * x;
        with += x * y;
        about += y * y;
    }
    about - with * with / along
}
