//! What `go test -bench` prints: Go's benchmark data format (golang.org/design/14313).
//!
//! A line `BenchmarkName iterations value unit [value unit …]` is a result; the same name on several
//! lines is a benchmark that ran several times. `Unit NAME better=higher` says which way a unit is
//! better, `pkg:` which package follows. All other lines are passed over, as the format wants it.

use std::collections::HashMap;

use super::error::{ReadError, names, quoted};
use super::number::number;
use super::{Choice, lines};
use crate::samples::series::Series;
use knobstat_data::Better;

/// What a result begins with.
const PREFIX: &[u8] = b"Benchmark";

/// The unit that every benchmark has unless it says otherwise.
const USUAL: &str = "ns/op";

pub(super) fn read(bytes: &[u8], choice: Choice) -> Result<Vec<Series>, ReadError> {
    let units = units(bytes);
    let wanted: Vec<String> = if choice.columns.is_empty() {
        let usual = units.iter().find(|unit| **unit == USUAL.as_bytes());
        usual
            .or(units.first())
            .map(|unit| text(unit))
            .into_iter()
            .collect()
    } else {
        choice.columns.to_vec()
    };
    if units.is_empty() {
        return Err(ReadError::NoNumbers);
    }
    if let Some(missing) = wanted
        .iter()
        .find(|wanted| !units.contains(&wanted.as_bytes()))
    {
        let present: Vec<String> = units.iter().map(|unit| text(unit)).collect();
        return Err(ReadError::NoColumn {
            wanted: quoted(missing.as_bytes()),
            present: names(present.iter().map(String::as_str)),
        });
    }
    let directions = directions(bytes);
    let several_packages = several_packages(bytes);
    let mut places: HashMap<(&[u8], &[u8], usize), usize> = HashMap::new();
    let mut all: Vec<Series> = Vec::new();
    let mut package: &[u8] = b"";
    for (line, content) in lines(bytes) {
        if let Some(name) = package_of(content) {
            package = name;
        }
        let Some(result) = ResultLine::of(content) else {
            continue;
        };
        for (index, unit) in wanted.iter().enumerate() {
            let Some(value) = result.value(unit.as_bytes()) else {
                continue;
            };
            let value = number(value, line)?;
            let place = *places
                .entry((package, result.name, index))
                .or_insert_with(|| {
                    let name = text(result.name);
                    let mut series = Series::new(
                        if several_packages {
                            format!("{} {name}", text(package))
                        } else {
                            name
                        },
                        unit.clone(),
                    );
                    series.unit = unit.clone();
                    series.better = better(unit, &directions);
                    all.push(series);
                    all.len() - 1
                });
            all[place].values.push(value);
        }
    }
    Ok(all)
}

/// A result line in its parts.
struct ResultLine<'a> {
    /// The name without `Benchmark`.
    name: &'a [u8],
    /// Values and units in turn.
    pairs: &'a [u8],
}

/// The fields of a line.
fn fields(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace)
        .filter(|field| !field.is_empty())
}

impl<'a> ResultLine<'a> {
    /// The result in a line, where it is one: a name, a number of iterations, pairs.
    fn of(line: &'a [u8]) -> Option<Self> {
        let rest = line.strip_prefix(PREFIX)?;
        let end = rest.iter().position(u8::is_ascii_whitespace)?;
        let (name, rest) = rest.split_at(end);
        let rest = rest.trim_ascii_start();
        let end = rest.iter().position(u8::is_ascii_whitespace)?;
        let (iterations, pairs) = rest.split_at(end);
        let count = fields(pairs).count();
        let is_result =
            iterations.iter().all(u8::is_ascii_digit) && count >= 2 && count.is_multiple_of(2);
        is_result.then_some(Self { name, pairs })
    }

    /// The value that has this unit.
    fn value(&self, wanted: &[u8]) -> Option<&'a [u8]> {
        let mut fields = fields(self.pairs);
        while let (Some(value), Some(unit)) = (fields.next(), fields.next()) {
            if unit == wanted {
                return Some(value);
            }
        }
        None
    }
}

/// Whether a line is a result, by which the format is known.
pub(super) fn is_result(line: &[u8]) -> bool {
    ResultLine::of(line).is_some()
}

/// More units than this are no file of benchmarks.
const MOST_UNITS: usize = 256;

/// Every unit, in the order in which they appear.
fn units(bytes: &[u8]) -> Vec<&[u8]> {
    let mut units: Vec<&[u8]> = Vec::new();
    for result in lines(bytes).filter_map(|(_, line)| ResultLine::of(line)) {
        for unit in fields(result.pairs).skip(1).step_by(2) {
            if !units.contains(&unit) && units.len() < MOST_UNITS {
                units.push(unit);
            }
        }
    }
    units
}

/// What `Unit` lines say of units.
fn directions(bytes: &[u8]) -> HashMap<&[u8], Better> {
    let mut directions = HashMap::new();
    for (_, line) in lines(bytes) {
        let mut fields = fields(line);
        if fields.next() != Some(b"Unit") {
            continue;
        }
        if let Some(unit) = fields.next() {
            for setting in fields {
                match setting {
                    b"better=higher" => directions.insert(unit, Better::Higher),
                    b"better=lower" => directions.insert(unit, Better::Lower),
                    _ => None,
                };
            }
        }
    }
    directions
}

/// Which way a unit is better: as the file says, else as units of the testing package are.
fn better(unit: &str, directions: &HashMap<&[u8], Better>) -> Option<Better> {
    directions.get(unit.as_bytes()).copied().or({
        if unit.ends_with("/op") {
            Some(Better::Lower)
        } else if unit.ends_with("/s") {
            Some(Better::Higher)
        } else {
            None
        }
    })
}

fn package_of(line: &[u8]) -> Option<&[u8]> {
    line.strip_prefix(b"pkg:").map(<[u8]>::trim_ascii)
}

fn several_packages(bytes: &[u8]) -> bool {
    let mut packages = lines(bytes).filter_map(|(_, line)| package_of(line));
    let first = packages.next();
    packages.any(|package| Some(package) != first)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "goos: linux\npkg: example.org/a\nUnit widgets better=higher\n\
        BenchmarkEncode-8   \t     100\t    123.5 ns/op\t  45 B/op\t 3 widgets\n\
        BenchmarkEncode-8   \t     100\t    124 ns/op\t  45 B/op\t 4 widgets\n\
        BenchmarkAlone\nBenchmarkOdd 10 5\nBenchmarkText x 5 ns/op\n\
        BenchmarkDecode-8 7 9 ns/op\nPASS\nok  \texample.org/a\t1.2s\n";

    fn with(text: &str, column: Option<&str>) -> Result<Vec<Series>, ReadError> {
        let columns: Vec<String> = column.into_iter().map(str::to_owned).collect();
        let choice = Choice {
            columns: &columns,
            delimiters: None,
        };
        read(text.as_bytes(), choice)
    }

    #[test]
    fn repeats_are_values_of_one_benchmark() {
        let found = with(OUTPUT, None).unwrap();
        let labels: Vec<&str> = found.iter().map(|series| series.label.as_str()).collect();
        assert_eq!(labels, ["Encode-8", "Decode-8"]);
        assert_eq!(found[0].values, [123.5, 124.0]);
        assert_eq!(found[0].better, Some(Better::Lower));
    }

    #[test]
    fn other_units_have_their_own_direction() {
        let found = with(OUTPUT, Some("widgets")).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].better, Some(Better::Higher));
        let error = with(OUTPUT, Some("MB/s")).unwrap_err();
        assert!(error.to_string().contains("\"B/op\""), "{error}");
    }

    #[test]
    fn packages_tell_benchmarks_of_one_name_apart() {
        let text = "pkg: a\nBenchmarkX 1 1 ns/op\npkg: b\nBenchmarkX 1 2 ns/op\n";
        let labels: Vec<String> = with(text, None)
            .unwrap()
            .into_iter()
            .map(|series| series.label)
            .collect();
        assert_eq!(labels, ["a X", "b X"]);
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        assert_eq!(with("PASS\n", None), Err(ReadError::NoNumbers));
        assert!(with("BenchmarkX 1 one ns/op\n", None).is_err());
        assert!(with("BenchmarkX 1 inf ns/op\n", None).is_err());
    }
}
