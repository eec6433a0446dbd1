//! `knobstat try`: an experiment without a file.
//!
//! The request is written out as the text of an experiment file, and that is read as any other:
//! there is one dialect, one set of rules and one kind of message, and the record keeps a file
//! that can be run again.

use thiserror::Error;

use super::toml_text::{toml_key, toml_level, toml_text};
use super::{Diagnostics, Experiment};
use crate::vocabulary::Vocabulary;
use crate::words::Level;

/// An experiment as the command line asks for it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TryRequest {
    /// The factors, each `NAME=A,B,…`; `\,` stands for a comma within a level.
    pub factors: Vec<String>,
    /// How many blocks, where it says.
    pub replicates: Option<u32>,
    /// The seed of the order, where it says.
    pub seed: Option<u64>,
    /// The CPUs that the command is pinned to, where it says.
    pub cpus: Option<String>,
    /// The program and its arguments; `{factor}` is replaced as in a file.
    pub command: Vec<String>,
}

/// Why a request is no experiment.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TryError {
    /// A factor is not written `NAME=A,B`.
    #[error("\"{argument}\" {problem}: write NAME=A,B as in turbo=on,off")]
    Factor {
        /// The argument.
        argument: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// A factor is given twice.
    #[error(
        "the factor \"{name}\" is given twice: give all its levels at once, as in {name}=A,B,C"
    )]
    Repeated {
        /// The factor.
        name: String,
    },
    /// The experiment that was asked for is none.
    #[error(transparent)]
    Experiment(#[from] Box<Diagnostics>),
}

/// How messages call the text that is made of a request.
const FILE_NAME: &str = "the experiment asked for";

/// A name made of a command is cut to this many characters.
const LONGEST_NAME: usize = 60;

impl Experiment {
    /// The experiment that a request asks for, and the text of the file that says the same.
    ///
    /// # Errors
    /// When a factor is not written as it should be, or the experiment has faults.
    pub fn from_try(
        request: &TryRequest,
        vocabulary: &Vocabulary,
    ) -> Result<(Self, String), TryError> {
        let source = source_of(request)?;
        let experiment = Self::parse(&source, FILE_NAME, vocabulary).map_err(Box::new)?;
        Ok((experiment, source))
    }
}

/// The text of the file that asks for the same.
fn source_of(request: &TryRequest) -> Result<String, TryError> {
    let mut source = format!("name = {}\n\n", toml_text(&name_of(&request.command)));
    let words: Vec<String> = request.command.iter().map(|word| toml_text(word)).collect();
    source.push_str(&format!(
        "[workload]\nkind = \"command\"\ncommand = [{}]\n",
        words.join(", ")
    ));
    if let Some(cpus) = &request.cpus {
        source.push_str(&format!("cpus = {}\n", toml_text(cpus)));
    }
    source.push_str("\n[factors]\n");
    let mut names: Vec<String> = Vec::new();
    for argument in &request.factors {
        let (name, levels) = factor(argument)?;
        if names.contains(&name) {
            return Err(TryError::Repeated { name });
        }
        let levels: Vec<String> = levels.iter().map(toml_level).collect();
        source.push_str(&format!("{} = [{}]\n", toml_key(&name), levels.join(", ")));
        names.push(name);
    }
    if request.replicates.is_some() || request.seed.is_some() {
        source.push_str("\n[design]\n");
    }
    if let Some(replicates) = request.replicates {
        source.push_str(&format!("replicates = {replicates}\n"));
    }
    if let Some(seed) = request.seed {
        source.push_str(&format!("seed = {seed}\n"));
    }
    Ok(source)
}

/// The name of an experiment that has none: its command in one line.
fn name_of(command: &[String]) -> String {
    let line: String = command
        .join(" ")
        .chars()
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .collect();
    if line.trim().is_empty() {
        return "without a command".to_owned();
    }
    if line.chars().count() <= LONGEST_NAME {
        return line;
    }
    let cut: String = line.chars().take(LONGEST_NAME - 1).collect();
    format!("{cut}…")
}

fn factor(argument: &str) -> Result<(String, Vec<Level>), TryError> {
    let error = |problem| TryError::Factor {
        argument: argument.to_owned(),
        problem,
    };
    let (name, levels) = argument
        .split_once('=')
        .ok_or_else(|| error("has no `=` between a name and its levels"))?;
    if name.is_empty() {
        return Err(error("has no name before the `=`"));
    }
    let levels = split_levels(levels);
    if levels.iter().any(String::is_empty) {
        return Err(error("has an empty level"));
    }
    let levels = levels.into_iter().map(level).collect();
    Ok((name.to_owned(), levels))
}

/// The parts between commas; `\,` is a comma of a part.
fn split_levels(text: &str) -> Vec<String> {
    let mut levels = vec![String::new()];
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            ',' => levels.push(String::new()),
            '\\' if letters.peek() == Some(&',') => {
                letters.next();
                if let Some(last) = levels.last_mut() {
                    last.push(',');
                }
            }
            kept => {
                if let Some(last) = levels.last_mut() {
                    last.push(kept);
                }
            }
        }
    }
    levels
}

/// A level as a file would have it: a number or a truth value where it reads back as written.
fn level(text: String) -> Level {
    if let Ok(truth) = text.parse::<bool>() {
        return Level::Boolean(truth);
    }
    if let Ok(whole) = text.parse::<i64>()
        && whole.to_string() == text
    {
        return Level::Integer(whole);
    }
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() && number.to_string() == text => Level::Number(number),
        _ => Level::Text(text),
    }
}
