//! Why an experiment cannot be carried out, and the exit code that says so.

use knobstat_data::ExperimentId;
use knobstat_data::experiment::ParametersError;
use knobstat_data::messages::{Refusal, RefusalKind};
use knobstat_data::record::Omission;
use thiserror::Error;

use crate::store::StoreError;
use crate::target::TargetError;

/// Why an experiment cannot be carried out, or had to be broken off.
#[derive(Debug, Error)]
pub enum EngineError {
    /// The target said no.
    #[error("{}; {}", .0.cause, .0.remedy)]
    Refused(Refusal),
    /// The conversation with the target broke off.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// The conversation broke off before it was known whether everything was put back.
    #[error("it is not known whether every setting was put back ({0}); run `knobstat restore`")]
    RestoreUnknown(String),
    /// The target does not keep to the conversation.
    #[error(
        "the machine under test was asked to {asked} and answered something else ({answered}); use the same knobstat on both sides"
    )]
    Unexpected {
        /// What was asked.
        asked: &'static str,
        /// What came.
        answered: String,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A level that the experiment insists on cannot be had.
    #[error("this machine cannot take {}", omissions(.0))]
    Unavailable(Vec<Omission>),
    /// No treatment is left.
    #[error("nothing is left to run, because this machine cannot take {}", omissions(.0))]
    NothingLeft(Vec<Omission>),
    /// The experiment file excludes every treatment.
    #[error("nothing is left to run, because `exclude` leaves every treatment out; exclude fewer")]
    AllExcluded,
    /// A level that could be had when the experiment began cannot be had now.
    #[error(
        "experiment {} began when this machine could still take {}; make it available again to continue, or start anew with --new",
        .experiment, omissions(.levels)
    )]
    NoLongerAvailable {
        /// The experiment.
        experiment: ExperimentId,
        /// The levels.
        levels: Vec<Omission>,
    },
    /// A treatment does not make parameters for the workload.
    #[error(transparent)]
    Parameters(#[from] ParametersError),
    /// The system has no random bits.
    #[error("the system has no random bits for an identity ({0}); try again")]
    Random(std::io::Error),
}

impl EngineError {
    /// The exit code of the program.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Refused(refusal) | Self::Target(TargetError::Refused(refusal)) => {
                match refusal.kind {
                    RefusalKind::Request | RefusalKind::Setting => 2,
                    RefusalKind::Restore => 3,
                    RefusalKind::Disk => 4,
                    RefusalKind::Busy => 5,
                    RefusalKind::Missing => 127,
                    RefusalKind::NotExecutable => 126,
                    RefusalKind::Step | RefusalKind::Protocol | RefusalKind::Unguarded => 1,
                }
            }
            Self::Store(error) => error.exit_code(),
            Self::RestoreUnknown(_) => 3,
            Self::Unavailable(_)
            | Self::NothingLeft(_)
            | Self::AllExcluded
            | Self::NoLongerAvailable { .. }
            | Self::Parameters(_) => 2,
            Self::Target(_) | Self::Unexpected { .. } | Self::Random(_) => 1,
        }
    }
}

/// The levels with their reasons, and then what would make them available.
fn omissions(omissions: &[Omission]) -> String {
    // Levels with one reason are one clause.
    let mut levels: Vec<(&str, Vec<String>)> = Vec::new();
    for omission in omissions {
        let level = format!("{}={}", omission.factor, omission.level);
        match levels.iter_mut().find(|(why, _)| *why == omission.reason) {
            Some((_, alike)) => alike.push(level),
            None => levels.push((&omission.reason, vec![level])),
        }
    }
    let reasons: Vec<String> = levels
        .into_iter()
        .map(|(why, levels)| format!("{} ({why})", levels.join(" and ")))
        .collect();
    let mut remedies: Vec<&str> = Vec::new();
    for remedy in omissions
        .iter()
        .filter_map(|omission| omission.remedy.as_deref())
    {
        if !remedies.contains(&remedy) {
            remedies.push(remedy);
        }
    }
    if remedies.is_empty() {
        remedies.push("leave it out");
    }
    format!("{}; {}", reasons.join(", "), remedies.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use knobstat_data::Level;

    #[test]
    fn levels_with_one_reason_are_one_clause_and_a_remedy_is_said_once() {
        let omission = |factor: &str, level: &str, reason: &str| Omission {
            factor: factor.to_owned(),
            level: Level::text(level),
            reason: reason.to_owned(),
            remedy: Some("use sudo".to_owned()),
        };
        let error = EngineError::NothingLeft(vec![
            omission("thp", "always", "only root may"),
            omission("clocksource", "hpet", "it is not offered"),
            omission("thp", "never", "only root may"),
        ]);
        assert!(
            error.to_string().ends_with(
                "cannot take thp=always and thp=never (only root may), \
                 clocksource=hpet (it is not offered); use sudo"
            ),
            "{error}"
        );
    }
}
