//! Taking in a record from elsewhere: what is new of it is added, what is there stays.

use std::collections::HashMap;

use knobstat_data::Record;
use knobstat_data::observation::Attempt;
use knobstat_data::words::AttemptId;
use rusqlite::{OptionalExtension, params};

use super::write::{WriteError, insert_attempt, insert_experiment, set_finished};
use super::{Store, StoreError};

/// What was new in a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Merged {
    /// Whether the experiment was new.
    pub experiment: bool,
    /// How many attempts were new.
    pub attempts: usize,
}

impl Store {
    /// Takes in a record, merging it with what is known of the same experiment. Doing so twice
    /// changes nothing more.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] when an identity is known and stands for something else, and
    /// when the store cannot be read or written; nothing is taken in then.
    pub fn import(&mut self, record: &Record) -> Result<Merged, StoreError> {
        let known = match self.record(&record.id) {
            Ok(known) => Some(known),
            Err(StoreError::Unknown { .. }) => None,
            Err(error) => return Err(error),
        };
        let known_attempts: HashMap<&AttemptId, &Attempt> = known
            .iter()
            .flat_map(|known| &known.attempts)
            .map(|attempt| (&attempt.id, attempt))
            .collect();
        self.in_transaction(|connection| {
            match &known {
                None => insert_experiment(connection, record)?,
                Some(known) => check_same(known, record)?,
            }
            let mut attempts = 0;
            for attempt in &record.attempts {
                if let Some(known) = known_attempts.get(&attempt.id) {
                    if *known != attempt {
                        return Err(conflict(format!("attempt {}", attempt.id)));
                    }
                    continue;
                }
                let elsewhere: Option<String> = connection
                    .query_row(
                        "SELECT experiment FROM attempt WHERE id = ?1",
                        params![attempt.id.as_str()],
                        |row| row.get(0),
                    )
                    .optional()?;
                if let Some(experiment) = elsewhere {
                    return Err(conflict(format!(
                        "attempt {} of experiment {experiment}",
                        attempt.id
                    )));
                }
                insert_attempt(connection, &record.id, attempt)?;
                attempts += 1;
            }
            if let Some(known) = &known
                && let (None, Some(finished)) = (known.finished, record.finished)
            {
                set_finished(connection, &record.id, finished)?;
            }
            Ok(Merged {
                experiment: known.is_none(),
                attempts,
            })
        })
    }
}

/// Whether two records tell of one experiment: all but its attempts and its end is the same.
fn check_same(known: &Record, record: &Record) -> Result<(), WriteError> {
    let same = known.request == record.request
        && known.source == record.source
        && known.experiment == record.experiment
        && known.machine == record.machine
        && known.plan == record.plan
        && known.omitted == record.omitted
        && known.started == record.started;
    if same {
        Ok(())
    } else {
        Err(conflict(format!("experiment {}", record.id)))
    }
}

fn conflict(what: String) -> WriteError {
    WriteError::Conflict { what }
}
