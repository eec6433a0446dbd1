//! The version of a store's format, and the steps that bring an older one up to date.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use super::error::StoreError;
use super::schema;

/// The version of the format that this program writes.
pub(super) const VERSION: i64 = STEPS.len() as i64;

/// Marks an SQLite file as a store of knobstat: the letters `knob`.
pub(super) const APPLICATION_ID: i64 = 0x6b6e_6f62;

/// The step at index `n` brings a store of version `n` to version `n + 1`.
const STEPS: &[&str] = &[schema::VERSION_1];

/// Whether the file is a store that this program can read as it is; an empty one is not yet.
///
/// # Errors
/// When the file is something else, or of a newer version.
pub(super) fn is_current(connection: &Connection, path: &Path) -> Result<bool, StoreError> {
    let number = |pragma| {
        connection
            .pragma_query_value(None, pragma, |row| row.get::<_, i64>(0))
            .map_err(|error| StoreError::of(path, error))
    };
    let version = number("user_version")?;
    let application = number("application_id")?;
    let objects: i64 = connection
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        .map_err(|error| StoreError::of(path, error))?;
    if application == 0 && version == 0 && objects == 0 {
        return Ok(false);
    }
    if application != APPLICATION_ID || version < 1 {
        return Err(StoreError::NotAStore {
            path: path.to_owned(),
        });
    }
    if version > VERSION {
        return Err(StoreError::Newer {
            path: path.to_owned(),
            found: version,
        });
    }
    Ok(version == VERSION)
}

/// Brings an empty or older store up to date, all of it or nothing.
///
/// # Errors
/// As [`is_current`], and when the store cannot be written.
pub(super) fn migrate(connection: &mut Connection, path: &Path) -> Result<(), StoreError> {
    if is_current(connection, path)? {
        return Ok(());
    }
    apply(connection, STEPS).map_err(|error| StoreError::of(path, error))
}

fn apply(connection: &mut Connection, steps: &[&str]) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Asked again now that nobody else can be migrating.
    let version: i64 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let done = usize::try_from(version).unwrap_or(steps.len());
    for step in steps.iter().skip(done) {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", steps.len() as i64)?;
    transaction.commit()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(connection: &Connection) -> i64 {
        connection
            .pragma_query_value(None, "user_version", |row| row.get(0))
            .unwrap()
    }

    #[test]
    fn an_older_store_takes_only_the_steps_that_it_lacks() {
        let mut connection = Connection::open_in_memory().unwrap();
        let first = "CREATE TABLE a (x); INSERT INTO a VALUES (1);";
        let second = "INSERT INTO a VALUES (2);";
        apply(&mut connection, &[first]).unwrap();
        apply(&mut connection, &[first, second]).unwrap();
        apply(&mut connection, &[first, second]).unwrap();
        let rows: i64 = connection
            .query_row("SELECT count(*) FROM a", [], |row| row.get(0))
            .unwrap();
        assert_eq!((rows, version(&connection)), (2, 2));
    }

    #[test]
    fn a_step_that_fails_leaves_everything_as_it_was() {
        let mut connection = Connection::open_in_memory().unwrap();
        apply(&mut connection, &["CREATE TABLE a (x);"]).unwrap();
        let broken = "INSERT INTO a VALUES (1); INSERT INTO missing VALUES (1);";
        apply(&mut connection, &["CREATE TABLE a (x);", broken]).unwrap_err();
        let rows: i64 = connection
            .query_row("SELECT count(*) FROM a", [], |row| row.get(0))
            .unwrap();
        assert_eq!((rows, version(&connection)), (0, 1));
    }
}
