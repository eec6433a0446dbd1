//! What a comparison of plain samples found: plain values, each with its sentence.

use knobstat_data::Better;
use knobstat_stats::Interval;
use knobstat_stats::summary::Summary;

use crate::analysis::Caveat;
use crate::verdict::Judged;

/// Everything that can be said of some samples.
#[derive(Clone, Debug, PartialEq)]
pub struct Findings {
    /// The confidence of the whole family of comparisons, in percent.
    pub confidence_percent: f64,
    /// The margin of equivalence in percent of the baseline's mean, where one was given.
    pub margin_percent: Option<f64>,
    /// Whether equal positions were taken as pairs.
    pub paired: bool,
    /// The groups of sets that were compared.
    pub groups: Vec<GroupFindings>,
    /// What a reader must know before believing the rest.
    pub caveats: Vec<Caveat>,
}

impl Findings {
    /// Every comparison, group by group.
    pub fn comparisons(&self) -> impl Iterator<Item = &Comparison> {
        self.groups.iter().flat_map(|group| &group.comparisons)
    }
}

/// Sets that were compared, the first being the baseline.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupFindings {
    /// What all of them measure; empty where there is one group without a name.
    pub at: String,
    /// The quantity; empty where nobody says.
    pub metric: String,
    /// Its unit; empty where nobody says.
    pub unit: String,
    /// Which way is better, where that is known.
    pub better: Option<Better>,
    /// The sets, the baseline first.
    pub sets: Vec<SetFindings>,
    /// Every other set against the baseline.
    pub comparisons: Vec<Comparison>,
}

/// One set of values.
#[derive(Clone, Debug, PartialEq)]
pub struct SetFindings {
    /// Its name.
    pub name: String,
    /// Its values, in the order of the file.
    pub values: Vec<f64>,
    /// The summary; none without values, or where sums overflow.
    pub summary: Option<Summary>,
    /// The interval of the mean, at the confidence asked for, for this mean alone.
    pub interval: Option<Interval>,
    /// Places of the file that had no value.
    pub passed_over: usize,
}

/// A set against the baseline of its group.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// What both measure; empty where there is one group without a name.
    pub at: String,
    /// The set's name.
    pub set: String,
    /// The baseline's name.
    pub baseline: String,
    /// How many values the set has.
    pub n: usize,
    /// How many values the baseline has.
    pub baseline_n: usize,
    /// The difference and the verdict on it.
    pub judged: Judged,
    /// The adjusted p-value of the difference being as large as the margin, where one was given.
    pub p_equivalence: Option<f64>,
    /// How the p-value was computed.
    pub method: Option<Method>,
    /// What the rank test says, where one was made.
    pub rank: Option<RankTest>,
}

/// How a comparison was tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// Welch's t on independent samples.
    Welch,
    /// The same, with the largest error that the step of the scale could hide.
    WelchOnScale,
    /// Student's t on the differences of pairs.
    PairedT,
    /// The same, with the largest error that the step of the scale could hide.
    PairedTOnScale,
}

impl Method {
    /// The method's name, as it is printed and exported.
    pub fn word(self) -> &'static str {
        match self {
            Self::Welch => "Welch's t",
            Self::WelchOnScale => "Welch's t, error bounded by the scale",
            Self::PairedT => "paired t",
            Self::PairedTOnScale => "paired t, error bounded by the scale",
        }
    }

    /// Whether the error was taken from the scale and not from the spread.
    pub fn is_on_scale(self) -> bool {
        matches!(self, Self::WelchOnScale | Self::PairedTOnScale)
    }
}

/// What ranks say of two sets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankTest {
    /// The test's name.
    pub name: &'static str,
    /// Whether the p-value was counted over all arrangements.
    pub exact: bool,
    /// The two-sided p-value by itself.
    pub p: f64,
    /// The p-value adjusted for the family.
    pub p_adjusted: f64,
    /// The Hodges-Lehmann estimate: by how much the set is shifted against the baseline.
    pub shift: f64,
    /// Its interval, at the confidence of the comparison; none with too few values for it.
    pub interval: Option<Interval>,
    /// The probability that a value of the set is the larger one, ties counting one half; none for
    /// pairs.
    pub probability_larger: Option<f64>,
}
