//! Cells whose values were held down by something that is not under test.
//!
//! A throughput at line rate says "at least this much". Two such cells cannot be ranked, and one
//! such cell can only win: whatever it would have reached is above what was seen.

use knobstat_data::Better;
use knobstat_data::observation::Limit;

use crate::observations::Observed;

/// What held the values of a cell down: the limit of at least half of its runs, where that is not
/// the thing under test.
pub fn limit(cell: &[Observed]) -> Option<Limit> {
    let times = |limit: Limit| {
        cell.iter()
            .filter(|observed| observed.limited_by == Some(limit))
            .count()
    };
    let most = [Limit::Receiver, Limit::Link, Limit::Pacer]
        .into_iter()
        .reduce(|most, next| {
            if times(next) > times(most) {
                next
            } else {
                most
            }
        })?;
    (limited(cell) > 0 && 2 * limited(cell) >= cell.len()).then_some(most)
}

/// How many of a cell's runs were held down by something that is not under test.
pub fn limited(cell: &[Observed]) -> usize {
    cell.iter()
        .filter(|observed| observed.limited_by.is_some_and(Limit::censors))
        .count()
}

/// Why two cells cannot be ranked as their values suggest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Censored {
    /// Both were held down.
    Both(Limit, Limit),
    /// The one that looks worse was held down: it may be the better one.
    TheWorse(Limit),
    /// The one that looks better was held down: the difference is at least what was seen.
    TheBetter(Limit),
}

/// How the limits of two cells bear on their difference (treatment minus baseline).
pub fn censored(
    treatment: Option<Limit>,
    baseline: Option<Limit>,
    difference: f64,
    better: Better,
) -> Option<Censored> {
    let treatment_looks_better = match better {
        Better::Higher => difference > 0.0,
        Better::Lower => difference < 0.0,
    };
    match (treatment, baseline) {
        (None, None) => None,
        (Some(of_treatment), Some(of_baseline)) => Some(Censored::Both(of_treatment, of_baseline)),
        (Some(limit), None) if treatment_looks_better => Some(Censored::TheBetter(limit)),
        (None, Some(limit)) if !treatment_looks_better && difference != 0.0 => {
            Some(Censored::TheBetter(limit))
        }
        (Some(limit), None) | (None, Some(limit)) => Some(Censored::TheWorse(limit)),
    }
}

impl Censored {
    /// What held the cells down, in words: "the link", "the link and the receiver".
    pub fn words(self) -> String {
        match self {
            Self::Both(a, b) if a != b => format!("the {} and the {}", a.word(), b.word()),
            Self::Both(limit, _) | Self::TheWorse(limit) | Self::TheBetter(limit) => {
                format!("the {}", limit.word())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_held_down_can_win_and_not_lose() {
        let link = Some(Limit::Link);
        let higher = Better::Higher;
        assert_eq!(censored(None, None, 1.0, higher), None);
        assert_eq!(
            censored(link, None, 1.0, higher),
            Some(Censored::TheBetter(Limit::Link))
        );
        assert_eq!(
            censored(link, None, -1.0, higher),
            Some(Censored::TheWorse(Limit::Link))
        );
        assert_eq!(
            censored(None, link, -1.0, higher),
            Some(Censored::TheBetter(Limit::Link))
        );
        assert_eq!(
            censored(link, Some(Limit::Receiver), 5.0, higher).map(Censored::words),
            Some("the link and the receiver".to_owned())
        );
    }

    #[test]
    fn the_limit_of_a_cell_is_that_of_half_its_runs() {
        let cell = |limits: &[Option<Limit>]| -> Option<Limit> {
            let cell: Vec<Observed> = limits
                .iter()
                .map(|limited_by| Observed {
                    block: 0,
                    sequence: 0,
                    value: 1.0,
                    limited_by: *limited_by,
                    granularity: None,
                })
                .collect();
            limit(&cell)
        };
        assert_eq!(cell(&[None, Some(Limit::Sender)]), None);
        assert_eq!(cell(&[None, Some(Limit::Link)]), Some(Limit::Link));
        assert_eq!(cell(&[None, None, Some(Limit::Link)]), None);
        assert_eq!(cell(&[]), None);
        assert_eq!(
            cell(&[Some(Limit::Pacer), Some(Limit::Link), Some(Limit::Pacer)]),
            Some(Limit::Pacer)
        );
    }
}
