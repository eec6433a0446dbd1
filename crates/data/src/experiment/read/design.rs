//! `[design]`: blocks, order and limits.

use toml::de::DeValue;

use super::factors::ReadFactor;
use super::partial::partial_treatment;
use super::section::members;
use super::{Reader, Section};
use crate::experiment::keys::Table;
use crate::experiment::quantities;
use crate::experiment::values::{self, Fault};
use crate::experiment::{Design, OnFailure, Order, Settle, Stop, Unavailable};
use crate::words::Treatment;

/// The most blocks that may be asked for.
const MOST_REPLICATES: i64 = 10_000_000;

/// How often a tainted run may be repeated at most.
const MOST_REPEATS: i64 = 1000;

const ORDERS: [(&str, Order); 2] = [
    ("randomized-blocks", Order::RandomizedBlocks),
    ("as-written", Order::AsWritten),
];
const UNAVAILABLE: [(&str, Unavailable); 2] =
    [("skip", Unavailable::Skip), ("error", Unavailable::Error)];
const ON_FAILURE: [(&str, OnFailure); 2] =
    [("continue", OnFailure::Continue), ("stop", OnFailure::Stop)];

impl Default for Design {
    /// What a file without `[design]` asks for.
    fn default() -> Self {
        Self {
            replicates: 6,
            stop: None,
            order: Order::RandomizedBlocks,
            seed: None,
            exclude: Vec::new(),
            settle: Settle::AfterChange,
            cool_below: None,
            unavailable: Unavailable::Skip,
            max_repeats: 3,
            on_failure: OnFailure::Continue,
        }
    }
}

/// Reads `[design]`.
pub fn read(reader: &mut Reader<'_>, file: &Section<'_>, factors: &[ReadFactor]) -> Design {
    let default = Design::default();
    let Some(section) = file.table(reader, "design", "[design]") else {
        return default;
    };
    section.refuse_unknown_keys(reader, Table::Design, &[]);
    let replicates = section.read(reader, "replicates", |value| {
        values::whole(value, 1, MOST_REPLICATES).map(|count| count as u32)
    });
    let stop = read_stop(reader, &section);
    let seed = section.read(reader, "seed", |value| {
        values::whole(value, 0, i64::MAX).map(|seed| seed as u64)
    });
    let settle = section.read(reader, "settle", quantities::duration);
    let max_repeats = section.read(reader, "max_repeats", |value| {
        values::whole(value, 0, MOST_REPEATS).map(|count| count as u32)
    });
    Design {
        replicates: stop
            .map(|stop| stop.max_replicates)
            .or(replicates)
            .unwrap_or(default.replicates),
        stop,
        order: section
            .word(reader, "order", &ORDERS, &[])
            .unwrap_or(default.order),
        seed,
        exclude: read_exclude(reader, &section, factors),
        settle: settle.map_or(default.settle, Settle::Always),
        cool_below: section.read(reader, "cool_below", quantities::temperature),
        unavailable: section
            .word(reader, "unavailable", &UNAVAILABLE, &[])
            .unwrap_or(default.unavailable),
        max_repeats: max_repeats.unwrap_or(default.max_repeats),
        on_failure: section
            .word(reader, "on_failure", &ON_FAILURE, &[])
            .unwrap_or(default.on_failure),
    }
}

fn read_exclude(
    reader: &mut Reader<'_>,
    section: &Section<'_>,
    factors: &[ReadFactor],
) -> Vec<Treatment> {
    let Some(entry) = section.entry("exclude") else {
        return Vec::new();
    };
    let Some(list) = members(reader, entry, "[{ turbo = \"on\", cstate = \"C1\" }]") else {
        return Vec::new();
    };
    list.iter()
        .filter_map(|member| {
            let (value, span) = (member.get_ref(), member.span());
            partial_treatment(reader, "`exclude`", value, &span, factors)
        })
        .collect()
}

fn at_least_two(value: &DeValue<'_>) -> Result<u32, Fault> {
    values::whole(value, 2, MOST_REPLICATES).map(|count| count as u32)
}

fn read_stop(reader: &mut Reader<'_>, section: &Section<'_>) -> Option<Stop> {
    let entry = section.entry("stop")?;
    let stop = Section::of_entry(reader, entry, "stop = { half_width = \"1%\" }")?;
    stop.refuse_unknown_keys(reader, Table::Stop, &[]);
    let half_width = stop.read(reader, "half_width", quantities::share);
    let margin = stop.read(reader, "margin", quantities::share);
    if stop.entry("half_width").is_none() && stop.entry("margin").is_none() {
        stop.missing(
            reader,
            "half_width",
            "`half_width = \"1%\"`, or `margin = \"1%\"`, or both",
        );
    }
    let max_replicates = stop
        .read(reader, "max_replicates", at_least_two)
        .unwrap_or(40);
    let min_replicates = stop
        .read(reader, "min_replicates", at_least_two)
        .unwrap_or_else(|| max_replicates.min(5));
    if min_replicates > max_replicates {
        let fault = Fault::new(
            format!("asks for at least {min_replicates} and at most {max_replicates} blocks"),
            "the least is above the most",
            "raise `max_replicates` or lower `min_replicates`",
        );
        reader.fault("`stop`", &entry.span, fault);
    }
    if let Some(replicates) = section.entry("replicates") {
        let fault = Fault::new(
            "stands beside `stop`, which decides how many blocks there are",
            "one of the two",
            "leave it out, and give `max_replicates` in `stop`",
        );
        let context = vec![(entry.name_span.clone(), "`stop` is here".to_owned())];
        reader.fault_with("`replicates`", &replicates.name_span, fault, context);
    }
    Some(Stop {
        half_width,
        margin,
        min_replicates,
        max_replicates,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::Ratio;
    use toml::de::DeTable;

    /// What a `[design]` with this `stop` asks for, and its faults.
    fn stop_of(text: &str) -> (Option<Stop>, Vec<String>) {
        let source = format!("[design]\n{text}\n");
        let document = DeTable::parse(&source).unwrap();
        let file = Section::new("the file", 0..0, document.get_ref());
        let mut reader = Reader::new(&source);
        let section = file.table(&mut reader, "design", "[design]").unwrap();
        let stop = read_stop(&mut reader, &section);
        let faults = reader.faults.into_iter().map(|fault| fault.message);
        (stop, faults.collect())
    }

    #[test]
    fn a_stop_is_read_with_its_defaults() {
        let (stop, faults) = stop_of("stop = { half_width = '1%' }");
        let expected = Stop {
            half_width: Some(Ratio(0.01)),
            margin: None,
            min_replicates: 5,
            max_replicates: 40,
        };
        assert_eq!((stop, faults), (Some(expected), vec![]));
        let (stop, faults) = stop_of("stop = { margin = '2%', max_replicates = 4 }");
        let expected = Stop {
            half_width: None,
            margin: Some(Ratio(0.02)),
            min_replicates: 4,
            max_replicates: 4,
        };
        assert_eq!((stop, faults), (Some(expected), vec![]));
    }

    #[test]
    fn what_is_wrong_with_a_stop_is_told() {
        for (text, fault) in [
            ("stop = {}", "`half_width` is missing"),
            ("stop = 'soon'", "must be a table"),
            ("stop = { half_width = 0.01 }", "must be a share"),
            (
                "stop = { margin = '1%', least = 3 }",
                "`least` is not a key",
            ),
            ("stop = { margin = '1%', min_replicates = 1 }", "from 2 to"),
            (
                "stop = { margin = '1%', min_replicates = 9, max_replicates = 8 }",
                "at least 9 and at most 8",
            ),
            (
                "replicates = 6\nstop = { margin = '1%' }",
                "stands beside `stop`",
            ),
        ] {
            let (_, faults) = stop_of(text);
            assert!(
                faults.len() == 1 && faults[0].contains(fault),
                "{text}: {faults:?}"
            );
        }
    }
}
