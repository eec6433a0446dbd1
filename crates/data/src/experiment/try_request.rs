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
    /// What the experiment is called, where it says; else it is called as its command.
    pub name: Option<String>,
    /// The factors, each `NAME=A,B,…`; `\,` stands for a comma within a level.
    pub factors: Vec<String>,
    /// How many blocks, where it says.
    pub replicates: Option<u32>,
    /// The seed of the order, where it says.
    pub seed: Option<u64>,
    /// The CPUs that the command is pinned to, where it says.
    pub cpus: Option<String>,
    /// Whether the command and its steps are run through a shell.
    pub shell: bool,
    /// How many runs go before each measured one, where it says.
    pub warmup_runs: Option<u32>,
    /// Run once before the first run of a treatment, as all steps below, where it says.
    pub setup: Option<String>,
    /// Run before every run.
    pub prepare: Option<String>,
    /// Run after every run.
    pub cleanup: Option<String>,
    /// Run once after the last run of a treatment.
    pub teardown: Option<String>,
    /// When a run has taken too long, where it says.
    pub timeout: Option<String>,
    /// The exit codes that count as success; none for 0 alone.
    pub allowed_exit: Vec<u8>,
    /// The share of the baseline within which two treatments are equivalent, where it says.
    pub margin: Option<String>,
    /// The program and its arguments; `{factor}` is replaced as in a file. For a shell they are
    /// one line, with blanks between them.
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
    let name = request.name.clone().unwrap_or_else(|| name_of(request));
    let mut source = format!(
        "name = {}\n\n[workload]\nkind = \"command\"\n",
        toml_text(&name)
    );
    let mut key = |key: &str, value: Option<String>| {
        if let Some(value) = value {
            source.push_str(&format!("{key} = {value}\n"));
        }
    };
    let text = |value: &Option<String>| value.as_deref().map(toml_text);
    key("command", Some(command_of(request)));
    key("shell", request.shell.then(|| "true".to_owned()));
    key(
        "warmup_runs",
        request.warmup_runs.map(|runs| runs.to_string()),
    );
    key("setup", text(&request.setup));
    key("prepare", text(&request.prepare));
    key("cleanup", text(&request.cleanup));
    key("teardown", text(&request.teardown));
    key("cpus", text(&request.cpus));
    key("timeout", text(&request.timeout));
    key(
        "allowed_exit",
        (!request.allowed_exit.is_empty()).then(|| format!("{:?}", request.allowed_exit)),
    );
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
    if let Some(margin) = &request.margin {
        source.push_str(&format!("\n[analysis]\nmargin = {}\n", toml_text(margin)));
    }
    Ok(source)
}

/// The command as a file has it: a list of words, or a line for a shell.
fn command_of(request: &TryRequest) -> String {
    if request.shell {
        return toml_text(&request.command.join(" "));
    }
    let words: Vec<String> = request.command.iter().map(|word| toml_text(word)).collect();
    format!("[{}]", words.join(", "))
}

/// The name of an experiment that has none: its command in one line, as a shell would be given it.
fn name_of(request: &TryRequest) -> String {
    let line: String = if request.shell {
        request.command.join(" ")
    } else {
        let words: Vec<String> = request.command.iter().map(|word| quoted(word)).collect();
        words.join(" ")
    };
    let line: String = line
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

/// A word in quotes, where a shell would take it for more or less than one.
fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "_-+=./:,@%{}".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
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
