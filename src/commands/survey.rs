//! What the commands `clock`, `timer` and `noise` share: from arguments to parameters, and from
//! figures to text and JSON.

use knobstat_data::{Parameters, Value};
use knobstat_load::workloads::survey::{Distribution, Seen, StopwatchFigures};
use knobstat_report::plots::histogram::{self, Bin};
use serde_json::Value as Json;

use crate::arguments::Survey;
use crate::output;
use crate::trouble::{Exit, Trouble};

/// The parameters of the workload that the arguments ask for.
pub fn parameters(arguments: &Survey) -> Parameters {
    let mut parameters = Parameters::from([
        ("duration".to_owned(), Value::Duration(arguments.duration)),
        ("interval".to_owned(), Value::Duration(arguments.interval)),
    ]);
    if let Some(cpus) = &arguments.cpus {
        parameters.insert("cpus".to_owned(), Value::Cpus(cpus.clone()));
    }
    if let Some(priority) = arguments.priority {
        parameters.insert("priority".to_owned(), Value::Priority(priority));
    }
    parameters
}

/// A survey that could not be made.
pub fn trouble(why: String) -> Trouble {
    Trouble::request(
        why,
        "`knobstat help` and the survey's name list what may be asked for.",
    )
}

/// Figures as a JSON object that begins with the name of its schema.
pub fn under_schema(schema: &str, figures: serde_json::Result<Json>) -> Result<Json, Trouble> {
    let mut object = serde_json::Map::new();
    object.insert("schema".to_owned(), Json::from(schema));
    match figures {
        Ok(Json::Object(figures)) => object.extend(figures),
        Ok(other) => {
            object.insert("figures".to_owned(), other);
        }
        Err(error) => {
            return Err(Trouble::new(
                Exit::RunsFailed,
                format!("the figures could not be written ({error})"),
                "",
            ));
        }
    }
    Ok(Json::Object(object))
}

/// Prints a JSON value.
pub fn print_json(json: &Json) -> Result<(), Trouble> {
    output::result(&format!("{json:#}"))
}

/// A time in nanoseconds with three digits and its unit.
pub fn time(nanoseconds: f64) -> String {
    let (value, unit) = match nanoseconds {
        time if time >= 999.5e6 => (time / 1e9, "s"),
        time if time >= 999.5e3 => (time / 1e6, "ms"),
        time if time >= 999.5 => (time / 1e3, "us"),
        time => (time, "ns"),
    };
    format!("{} {unit}", digits(value))
}

/// A number with three digits, whole where it has more.
pub fn digits(value: f64) -> String {
    let size = value.abs();
    if size >= 99.95 || size == 0.0 {
        format!("{value:.0}")
    } else if size >= 9.995 {
        format!("{value:.1}")
    } else {
        format!("{value:.2}")
    }
}

/// A number with three digits; `-` where there is none.
pub fn digits_of<T>(seen: &Seen<T>, number: impl Fn(&T) -> f64) -> String {
    seen.value()
        .map_or("-".to_owned(), |value| digits(number(value)))
}

/// Nanoseconds as microseconds, with three digits.
pub fn microseconds(nanoseconds: f64) -> String {
    digits(nanoseconds / 1e3)
}

/// How a survey was timed, in a line.
pub fn stopwatch_line(stopwatch: &StopwatchFigures) -> String {
    match &stopwatch.caveat {
        Some(caveat) => format!("Caveat: {caveat}.\n"),
        None => format!(
            "Timed by {} read directly, step {}{}.\n",
            stopwatch.name,
            time(stopwatch.granularity_nanoseconds as f64),
            stopwatch
                .uncertainty_ppm
                .value()
                .map(|ppm| format!(", rate within {} ppm", digits(*ppm)))
                .unwrap_or_default()
        ),
    }
}

/// A histogram under a title; nothing where it cannot be drawn.
pub fn plot(title: &str, distribution: &Distribution) -> String {
    let bins: Vec<Bin> = distribution
        .histogram
        .iter()
        .map(|bucket| Bin {
            from: bucket.from,
            to: bucket.to,
            count: bucket.count,
        })
        .collect();
    let width = output::width_of_results().min(100);
    match histogram::plot(&bins, width, time) {
        Some(lines) => format!("\n{title}\n{}\n", lines.join("\n")),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_three_digits_and_a_unit() {
        for (nanoseconds, text) in [
            (0.0, "0 ns"),
            (0.25, "0.25 ns"),
            (25.31, "25.3 ns"),
            (999.4, "999 ns"),
            (999.6, "1.00 us"),
            (131_500.0, "132 us"),
            (4e6, "4.00 ms"),
            (12.5e9, "12.5 s"),
        ] {
            assert_eq!(time(nanoseconds), text);
        }
    }

    #[test]
    fn the_schema_stands_first() {
        let stopwatch = StopwatchFigures {
            name: "tsc".to_owned(),
            granularity_nanoseconds: 20,
            uncertainty_ppm: Seen::Value(2.0),
            caveat: None,
        };
        let json = under_schema("knobstat.none/1", serde_json::to_value(&stopwatch)).unwrap();
        let first = json.as_object().unwrap().keys().next();
        assert_eq!(first.map(String::as_str), Some("schema"));
        assert_eq!(
            stopwatch_line(&stopwatch),
            "Timed by tsc read directly, step 20.0 ns, rate within 2.00 ppm.\n"
        );
    }
}
