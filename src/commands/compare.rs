//! `knobstat compare`: files of numbers, exports and experiments compared with today's statistics.
//!
//! Here: files, the store, the exit code. What the bytes mean and what follows from them is the
//! analysis' own.

use std::io::{ErrorKind, Read};
use std::path::Path;

use knobstat_analysis::samples::read::{
    Choice, Content, Format, ReadError, detect, read, series_of_record,
};
use knobstat_analysis::samples::{
    Arranged, Findings, Origin, Question, Series, Source, arrange, compare,
};
use knobstat_analysis::{Confidence, Verdict};
use knobstat_data::{Better, Record};
use knobstat_lab::exchange::from_json;
use knobstat_report::samples;

use crate::arguments::{Compare, CompareFormat, Direction, FailOn, Global};
use crate::front;
use crate::output;
use crate::trouble::Trouble;

/// The exit code where `--fail-on` found what it was asked to find.
const FOUND: u8 = 6;

/// Compares, prints, and says by the exit code whether anything was found that must not be.
pub fn run(arguments: &Compare, global: &Global) -> Result<u8, Trouble> {
    let sources = arguments
        .files
        .iter()
        .map(|file| source(file, arguments, global))
        .collect::<Result<Vec<_>, _>>()?;
    let (baseline, select) = (arguments.baseline.as_deref(), arguments.select.as_deref());
    let arranged = arrange(sources, baseline, select).map_err(|error| {
        Trouble::request(
            error.to_string(),
            "--select takes what has a text in its name, -C a column or metric, --baseline names \
             what the others are compared with.",
        )
    })?;
    let question = question(arguments)?;
    check(&arranged, arguments)?;
    let findings = compare(arranged, question);
    output::result(&if arguments.json {
        samples::json(&findings)
    } else {
        samples::text(&findings, output::width_of_results())
    })?;
    Ok(exit_code(&findings, arguments.fail_on))
}

fn question(arguments: &Compare) -> Result<Question, Trouble> {
    let confidence = Confidence::percent(arguments.confidence.percent())
        .map_err(|error| Trouble::request(error.to_string(), "Give --confidence 95%."))?;
    Ok(Question {
        confidence,
        margin: arguments.margin,
        better: arguments.better.map(|direction| match direction {
            Direction::Higher => Better::Higher,
            Direction::Lower => Better::Lower,
        }),
        paired: arguments.paired,
    })
}

/// What the samples must have for what is asked of them.
fn check(arranged: &Arranged, arguments: &Compare) -> Result<(), Trouble> {
    for group in &arranged.groups {
        let known = group.better.is_some() || arguments.better.is_some();
        if arguments.fail_on == Some(FailOn::Regression) && !known {
            return Err(Trouble::request(
                "a regression cannot be told, because the files do not say which way is better",
                "Give --better lower (for times) or --better higher (for rates).",
            ));
        }
        let gap = group.sets.iter().find(|set| set.series.passed_over > 0);
        if let (true, Some(set)) = (arguments.paired, gap) {
            return Err(Trouble::request(
                format!(
                    "{} has {} places without a value, so equal positions do not belong together",
                    set.name, set.series.passed_over
                ),
                "Take the other halves of those pairs out too, or compare without --paired.",
            ));
        }
    }
    Ok(())
}

fn exit_code(findings: &Findings, fail_on: Option<FailOn>) -> u8 {
    let Some(fail_on) = fail_on else {
        return 0;
    };
    let found = findings
        .comparisons()
        .filter(|comparison| comparison.judged.verdict == Verdict::Different)
        .filter(|comparison| match fail_on {
            FailOn::Regression => comparison.judged.better == Some(false),
            FailOn::Difference => true,
        })
        .count();
    if found == 0 {
        return 0;
    }
    let all = findings.comparisons().count();
    output::message(&match fail_on {
        FailOn::Regression => format!("knobstat: {found} of {all} comparisons are worse"),
        FailOn::Difference => format!("knobstat: {found} of {all} comparisons are different"),
    });
    FOUND
}

/// A file, or where there is none of that name, an experiment of the store.
fn source(file: &Path, arguments: &Compare, global: &Global) -> Result<Source, Trouble> {
    let name = file.display().to_string();
    let bytes = match bytes(file) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let record = stored(file, &name, global)?;
            return of_record(name, &record, arguments);
        }
        Err(error) => {
            let remedy = match error.kind() {
                ErrorKind::IsADirectory => "Name a file in it.",
                _ => "Check its permissions.",
            };
            return Err(Trouble::request(
                format!("{name} cannot be read ({error})"),
                remedy,
            ));
        }
    };
    let wrong = |error: ReadError| {
        Trouble::request(
            format!("{name}: {error}"),
            "docs/compare.md shows every format; --format forces one.",
        )
    };
    let content = match arguments.format {
        None => detect(&bytes).map_err(wrong)?,
        Some(CompareFormat::Columns) => Content::Numbers(Format::Columns),
        Some(CompareFormat::Csv) => Content::Numbers(Format::Csv),
        Some(CompareFormat::Hyperfine) => Content::Numbers(Format::Hyperfine),
        Some(CompareFormat::Go) => Content::Numbers(Format::GoBench),
        Some(CompareFormat::Record) => Content::Record,
    };
    match content {
        Content::Record => {
            let text = std::str::from_utf8(&bytes).map_err(|_| {
                Trouble::request(
                    format!("{name} is no text"),
                    "Name a file that `knobstat export` wrote.",
                )
            })?;
            let record = from_json(text)
                .map_err(|error| Trouble::request(format!("{name}: {error}"), ""))?;
            of_record(name, &record, arguments)
        }
        Content::Numbers(format) => {
            let choice = Choice {
                columns: &arguments.columns,
                delimiters: arguments.delimiters.as_deref(),
            };
            Ok(Source {
                series: read(&bytes, format, choice).map_err(wrong)?,
                name,
                origin: None,
            })
        }
    }
}

fn bytes(file: &Path) -> std::io::Result<Vec<u8>> {
    if file == Path::new("-") {
        let mut bytes = Vec::new();
        std::io::stdin().lock().read_to_end(&mut bytes)?;
        return Ok(bytes);
    }
    std::fs::read(file)
}

/// The experiment that goes by this word.
fn stored(file: &Path, name: &str, global: &Global) -> Result<Record, Trouble> {
    let neither = |why: &str| {
        Trouble::request(
            format!("there is no file {name}, and no experiment of that name{why}"),
            "Check the path; `knobstat list` shows the experiments of the store.",
        )
    };
    let Some(word) = file.to_str() else {
        return Err(neither(""));
    };
    let Some(store) = front::existing_store(global)? else {
        return Err(neither(", since there is no store yet"));
    };
    store.load(word).map_err(|error| {
        if error.exit_code() == 2 {
            neither(&format!(" ({error})"))
        } else {
            front::store_trouble(error)
        }
    })
}

/// What a record holds of the metrics that are asked for.
fn of_record(name: String, record: &Record, arguments: &Compare) -> Result<Source, Trouble> {
    let wrong = |error: ReadError| Trouble::request(format!("{name}: {error}"), "");
    let series: Vec<Series> = if arguments.columns.is_empty() {
        series_of_record(record, None).map_err(wrong)?
    } else {
        let of_metric = |metric: &String| series_of_record(record, Some(metric)).map_err(wrong);
        let all = arguments.columns.iter().map(of_metric);
        all.collect::<Result<Vec<_>, _>>()?
            .into_iter()
            .flatten()
            .collect()
    };
    Ok(Source {
        series,
        origin: Some(Origin::of(record)),
        name,
    })
}
