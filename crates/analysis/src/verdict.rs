//! The verdict of one comparison, and its sentence.

use knobstat_data::Metric;
use knobstat_stats::{Degenerate, Interval};

use crate::analysis::{Method, Verdict};
use crate::censoring::Censored;
use crate::comparisons::Contrast;
use crate::family::Adjusted;
use crate::needed::more_blocks;
use crate::paired::Estimate;
use crate::phrase;

/// Everything that a verdict depends on.
pub(crate) struct Evidence<'a> {
    /// The metric, its better direction as the experiment wants it.
    pub(crate) metric: &'a Metric,
    /// What differs and what is shared.
    pub(crate) contrast: &'a Contrast,
    /// How many values each has: treatment, baseline, blocks with both.
    pub(crate) values: (usize, usize, usize),
    /// The estimate, or why there is none.
    pub(crate) estimate: &'a Result<Estimate, Degenerate>,
    /// The adjusted test for a difference.
    pub(crate) adjusted: Adjusted,
    /// The adjusted p-value of equivalence within the margin.
    pub(crate) equivalence: Option<f64>,
    /// The margin, as a share of the baseline's mean.
    pub(crate) margin: Option<f64>,
    /// The error rate of the family.
    pub(crate) alpha: f64,
    /// The size of the family.
    pub(crate) family: usize,
    /// The interval of the difference.
    pub(crate) interval: Option<Interval>,
    /// The interval of the difference in percent.
    pub(crate) percent_interval: Option<Interval>,
    /// What held the cells down.
    pub(crate) censored: Option<Censored>,
    /// The step of a clock that the values were read from, where it is known.
    pub(crate) step: Option<f64>,
    /// The factor that forbids a verdict on a metric that the workload timed itself.
    pub(crate) self_timed: Option<&'a str>,
}

/// A verdict with its sentence.
pub(crate) struct Judged {
    pub(crate) verdict: Verdict,
    pub(crate) better: Option<bool>,
    pub(crate) sentence: String,
    pub(crate) more_blocks: Option<u64>,
}

impl Judged {
    fn undecided(sentence: String) -> Self {
        Self {
            verdict: Verdict::Undecided,
            better: None,
            sentence: phrase::capitalised(&sentence),
            more_blocks: None,
        }
    }
}

/// Judges one comparison.
pub(crate) fn judge(evidence: &Evidence) -> Judged {
    let at = phrase::at(&evidence.contrast.held);
    let treatment = phrase::levels(&evidence.contrast.differing);
    let baseline = phrase::levels(&evidence.contrast.differing_baseline);
    let metric = &evidence.metric.name;

    if let Some(factor) = evidence.self_timed {
        return Judged::undecided(format!(
            "{at}{treatment} and {baseline} get no verdict: the workload timed {metric} itself, \
             by the clock that {factor} changes. Set trust_self_timed = true if it has a clock \
             of its own."
        ));
    }
    let estimate = match evidence.estimate {
        Ok(estimate) => estimate,
        Err(reason) => return no_estimate(evidence, reason, &at, &treatment, &baseline),
    };
    if let Some(both @ Censored::Both(..)) = evidence.censored {
        return Judged::undecided(format!(
            "{at}{treatment} and {baseline} are undecided (both limited by {}): what they would \
             reach without that limit was not seen.",
            both.words()
        ));
    }
    if let (Some(equivalence), Some(margin), None) =
        (evidence.equivalence, evidence.margin, evidence.censored)
        && equivalence <= evidence.alpha
    {
        let aside = if evidence.adjusted.p <= evidence.alpha {
            " There is a difference, and it is smaller than that."
        } else {
            ""
        };
        return Judged {
            verdict: Verdict::Equivalent,
            better: None,
            sentence: phrase::capitalised(&format!(
                "{at}{treatment} and {baseline} are equivalent: their {metric} differs by less \
                 than {} %.{aside}",
                phrase::significant(margin * 100.0, 3)
            )),
            more_blocks: None,
        };
    }
    if evidence.adjusted.p <= evidence.alpha {
        different(evidence, estimate, &at, &treatment, &baseline)
    } else {
        undecided(evidence, estimate, &at, &treatment, &baseline)
    }
}

fn no_estimate(
    evidence: &Evidence,
    reason: &Degenerate,
    at: &str,
    treatment: &str,
    baseline: &str,
) -> Judged {
    let metric = &evidence.metric.name;
    let (of_treatment, of_baseline, common) = evidence.values;
    let sentence = match (of_treatment, of_baseline, common) {
        (0, 0, _) => format!(
            "{at}neither {treatment} nor {baseline} has a value of {metric}, so nothing can be \
             said; see why their runs failed."
        ),
        (0, _, _) | (_, 0, _) => {
            let missing = if of_treatment == 0 {
                treatment
            } else {
                baseline
            };
            format!(
                "{at}{missing} has no value of {metric}, so it cannot be compared; see why its \
                 runs failed."
            )
        }
        (_, _, 0) => format!(
            "{at}{treatment} and {baseline} have no block in common, so there is no difference \
             to judge; run more blocks."
        ),
        (_, _, 1) => format!(
            "{at}{treatment} and {baseline} have one block in common: a single difference does \
             not show how much it would vary. Run at least two blocks, better six."
        ),
        _ => match reason {
            Degenerate::ZeroVariance { value: 0.0, .. } => format!(
                "{at}every {metric} of {treatment} and of {baseline} is the same and no step of \
                 the scale is known, so nothing can be said of their difference; measure more \
                 finely."
            ),
            other => format!("{at}{treatment} and {baseline} cannot be compared: {other}."),
        },
    };
    let mut judged = Judged::undecided(sentence);
    if common < 2 && of_treatment > 0 && of_baseline > 0 {
        judged.more_blocks = Some(2 - common as u64);
    }
    judged
}

fn different(
    evidence: &Evidence,
    estimate: &Estimate,
    at: &str,
    treatment: &str,
    baseline: &str,
) -> Judged {
    let metric = &evidence.metric.name;
    if let Some(Censored::TheWorse(limit)) = evidence.censored {
        return Judged::undecided(format!(
            "{at}{treatment} and {baseline} are undecided: the one whose {metric} looks worse \
             was limited by the {}, so it may be the better one.",
            limit.word()
        ));
    }
    let sign = crate::recommend::sign(evidence.metric.better);
    let better = estimate.difference * sign > 0.0;
    let at_least = if evidence.censored.is_some() {
        "at least "
    } else {
        ""
    };
    let direction = if estimate.difference > 0.0 {
        "higher"
    } else {
        "lower"
    };
    let size = match (estimate.percent(), evidence.percent_interval) {
        (Some(percent), Some(interval)) => format!(
            "{at_least}{} % {direction} (between {} and {})",
            phrase::significant(percent.abs(), 3),
            phrase::signed_percent(interval.low),
            phrase::signed_percent(interval.high)
        ),
        _ => format!(
            "{at_least}{} {} {direction}{}, in units because the baseline's mean cannot be told \
             from zero",
            phrase::significant(estimate.difference.abs(), 3),
            evidence.metric.unit,
            evidence
                .interval
                .map_or_else(String::new, |interval| format!(
                    " (between {} and {})",
                    phrase::significant(interval.low, 3),
                    phrase::significant(interval.high, 3)
                ))
        ),
    };
    let limited = evidence
        .censored
        .map(|censored| format!(" It was limited by {}.", censored.words()))
        .unwrap_or_default();
    Judged {
        verdict: Verdict::Different,
        better: Some(better),
        sentence: phrase::capitalised(&format!(
            "{at}{treatment} is {} than {baseline}: {metric} is {size}.{limited}",
            if better { "better" } else { "worse" },
        )),
        more_blocks: None,
    }
}

fn undecided(
    evidence: &Evidence,
    estimate: &Estimate,
    at: &str,
    treatment: &str,
    baseline: &str,
) -> Judged {
    let between = match (evidence.percent_interval, evidence.interval) {
        (Some(percent), _) => format!(
            "lies between {} and {}",
            phrase::signed_percent(percent.low),
            phrase::signed_percent(percent.high)
        ),
        (None, Some(interval)) => format!(
            "lies between {} and {} {}",
            phrase::significant(interval.low, 3),
            phrase::significant(interval.high, 3),
            evidence.metric.unit
        ),
        (None, None) => "has no bounds".to_owned(),
    };
    let mut sentence = format!(
        "{at}{treatment} and {baseline} cannot be told apart: the difference of their {} {between}.",
        evidence.metric.name
    );
    let mut more_blocks = None;
    if estimate.method == Method::PairedTOnScale
        && evidence
            .step
            .is_some_and(|step| estimate.difference.abs() <= step)
    {
        let step = evidence.step.unwrap_or(0.0);
        sentence.push_str(&format!(
            " Nothing finer than the step of the scale, {} {}, is claimed; measure more finely \
             or run longer.",
            phrase::significant(step, 2),
            evidence.metric.unit
        ));
    } else {
        let (blocks, remark) = what_would_decide(evidence, estimate);
        more_blocks = blocks;
        sentence.push_str(&remark);
    }
    let mut judged = Judged::undecided(sentence);
    judged.more_blocks = more_blocks;
    judged
}

/// How many more blocks would likely decide, and the words for it.
fn what_would_decide(evidence: &Evidence, estimate: &Estimate) -> (Option<u64>, String) {
    let more = |effect: f64, alpha: f64| more_blocks(estimate.blocks(), effect, estimate.sd, alpha);
    let for_difference = more(
        estimate.difference.abs() - estimate.shift,
        evidence.adjusted.alpha,
    );
    // Two one-sided tests at alpha are one two-sided test at twice that.
    let for_equivalence = evidence.margin.and_then(|margin| {
        let room = margin * estimate.baseline_mean.abs() - estimate.difference.abs();
        more(
            room - estimate.shift,
            2.0 * evidence.alpha / evidence.family.max(1) as f64,
        )
    });
    let fewest = [for_difference, for_equivalence]
        .into_iter()
        .flatten()
        .min();
    match fewest {
        Some(more) => (
            Some(more),
            format!(
                " About {} more would likely decide, if the means stay where they are.",
                phrase::count(more, "block")
            ),
        ),
        None if evidence.margin.is_none() => (
            None,
            " A difference this small would take more than a thousand blocks; give a margin to \
             ask whether they are equivalent."
                .to_owned(),
        ),
        None => (
            None,
            " It would take more than a thousand blocks to decide; a wider margin or a longer \
             workload would help."
                .to_owned(),
        ),
    }
}
