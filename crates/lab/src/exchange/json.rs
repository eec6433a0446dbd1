//! A record as JSON, complete, and back.

use knobstat_data::Record;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::check::{RecordError, check};

/// The name and version of the format: the first thing in a file.
pub const SCHEMA: &str = "knobstat.record/1";

/// What the formats of this family begin with.
const FAMILY: &str = "knobstat.record/";

/// Why a text is not a record.
#[derive(Debug, Error)]
pub enum ImportError {
    /// It is not JSON, or not a record.
    #[error("this is no record of knobstat ({0}); import what `knobstat export` wrote")]
    Unreadable(serde_json::Error),
    /// It is something else of knobstat's or of another program's.
    #[error(
        "this has the schema \"{0}\" and not \"{SCHEMA}\"; import what `knobstat export` wrote"
    )]
    OtherSchema(String),
    /// A newer version of the program wrote it.
    #[error("this has the schema \"{0}\" of a newer knobstat; import it with that one")]
    Newer(String),
    /// The record contradicts itself.
    #[error("this record contradicts itself ({0}); export it again from where it came")]
    Contradiction(#[from] RecordError),
}

#[derive(Serialize)]
struct Outgoing<'r> {
    schema: &'static str,
    record: &'r Record,
}

#[derive(Deserialize)]
struct Incoming {
    record: Record,
}

#[derive(Deserialize)]
struct Heading {
    schema: String,
}

/// The record as JSON. Everything is in it, numbers to the last bit.
///
/// # Errors
/// When the record holds what JSON cannot say, such as a number that is not finite: none that
/// came out of a store does.
pub fn to_json(record: &Record) -> Result<String, RecordError> {
    check(record)?;
    let schema = SCHEMA;
    serde_json::to_string_pretty(&Outgoing { schema, record })
        .map(|mut text| {
            text.push('\n');
            text
        })
        .map_err(|error| RecordError(error.to_string()))
}

/// The record in a JSON text.
///
/// # Errors
/// When the text is something else, of a newer version, or contradicts itself.
pub fn from_json(text: &str) -> Result<Record, ImportError> {
    let heading: Heading = serde_json::from_str(text).map_err(ImportError::Unreadable)?;
    if heading.schema != SCHEMA {
        let version = heading.schema.strip_prefix(FAMILY);
        let is_newer = version.and_then(|version| version.parse::<u32>().ok());
        return Err(match is_newer {
            Some(2..) => ImportError::Newer(heading.schema),
            _ => ImportError::OtherSchema(heading.schema),
        });
    }
    let incoming: Incoming = serde_json::from_str(text).map_err(ImportError::Unreadable)?;
    check(&incoming.record)?;
    Ok(incoming.record)
}
