//! How many more blocks would likely decide what is undecided.

use super::family::Question;
use crate::confidence::Confidence;
use crate::degenerate::Degenerate;
use crate::planning::{blocks_for_half_width, required_blocks};
use crate::tests::paired::paired_t;

/// The blocks beyond those measured after which a comparison will likely be decided, should its mean
/// and spread stay as they are: until the t test finds its difference with a power of 80 %, or until
/// the interval fits into the margin, whichever comes first. `family` comparisons share the
/// probability of error. None where no feasible number would do.
///
/// # Errors
/// As [`paired_t`], or when the family is empty.
pub fn more_blocks(
    differences: &[f64],
    family: usize,
    question: Question,
) -> Result<Option<usize>, Degenerate> {
    let found = paired_t(differences)?;
    let alpha = question.confidence.alpha() / family as f64;
    let level = Confidence::from_alpha(alpha)?;
    let different = required_blocks(
        found.mean,
        found.sd,
        level.alpha(),
        0.8_f64.max(alpha.sqrt()),
    );
    let equivalent = question.margin.and_then(|margin| {
        let room = margin - question.tick.unwrap_or(0.0) - found.mean.abs();
        let one_sided = Confidence::from_alpha(2.0 * alpha).ok()?;
        blocks_for_half_width(found.sd, room, one_sided).ok()
    });
    let blocks = [different.ok(), equivalent]
        .into_iter()
        .flatten()
        .map(|required| required.n);
    Ok(blocks
        .min()
        .map(|blocks| blocks.saturating_sub(found.n).max(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearer_verdict_counts() {
        let differences = [0.5, -0.3, 0.8, 0.1, -0.1, 0.4];
        let question = Question {
            confidence: Confidence::PERCENT_95,
            margin: None,
            tick: None,
        };
        let alone = more_blocks(&differences, 1, question).unwrap().unwrap();
        assert!((5..100).contains(&alone), "{alone}");
        assert!(more_blocks(&differences, 5, question).unwrap().unwrap() > alone);
        let generous = Question {
            margin: Some(5.0),
            ..question
        };
        assert_eq!(more_blocks(&differences, 1, generous), Ok(Some(1)));
        assert!(more_blocks(&[1.0], 1, question).is_err());
        assert!(more_blocks(&differences, 0, question).is_err());
        assert_eq!(more_blocks(&[1.0, -1.0], 1, question), Ok(None));
    }
}
