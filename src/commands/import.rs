//! `knobstat import`: an exported experiment into the store.

use std::io::Read;
use std::path::Path;

use knobstat_lab::exchange::from_json;

use crate::arguments::{Global, Import};
use crate::front;
use crate::output;
use crate::trouble::Trouble;

/// Reads the file and says what was taken in.
pub fn run(arguments: &Import, global: &Global) -> Result<(), Trouble> {
    let text = read(&arguments.file).map_err(|error| {
        Trouble::request(
            format!("{} cannot be read ({error})", arguments.file.display()),
            "Name a file that `knobstat export` wrote, or - for standard input.",
        )
    })?;
    let record = from_json(&text).map_err(|error| Trouble::request(error.to_string(), ""))?;
    let merged = front::open_store(global)?
        .import(&record)
        .map_err(front::store_trouble)?;
    output::result(&if merged.experiment {
        format!(
            "Experiment {} is in the store, with {} attempts.",
            record.id, merged.attempts
        )
    } else {
        format!(
            "Experiment {} was there; {} attempts were new.",
            record.id, merged.attempts
        )
    })
}

fn read(file: &Path) -> std::io::Result<String> {
    if file == Path::new("-") {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text)?;
        return Ok(text);
    }
    std::fs::read_to_string(file)
}
