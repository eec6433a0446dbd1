//! `docs/experiment-file.md` has every key that the reader knows, with its default, and no other.
//! (The parameters of the workloads are held to it where the workloads are.)

use super::{parse, right};
use crate::experiment::keys::Table;

const DOCUMENT: &str = include_str!("../../../../../docs/experiment-file.md");

/// The keys and defaults of the table under a heading.
fn documented(title: &str) -> Vec<(String, String)> {
    let quoted = format!("`{title}`");
    let the_file = title.replacen("the", "The", 1);
    let section = DOCUMENT
        .split("\n#")
        .find(|section| {
            let heading = section.lines().next().unwrap_or_default();
            let heading = heading.trim_start_matches('#').trim();
            heading == quoted || heading == the_file
        })
        .unwrap_or_else(|| panic!("no heading {title}"));
    section
        .lines()
        .filter_map(|line| {
            let mut cells = line.strip_prefix("| `")?.split('|');
            let key = cells.next()?.trim().trim_end_matches('`').to_owned();
            Some((key, cells.next()?.trim().to_owned()))
        })
        .collect()
}

#[test]
fn every_key_is_documented_with_its_default_and_no_other_is() {
    for table in Table::ALL {
        let known: Vec<(String, String)> = table
            .keys()
            .iter()
            .map(|key| (key.name.to_owned(), key.default.to_owned()))
            .collect();
        assert_eq!(documented(table.title()), known, "{}", table.title());
    }
}

/// A file with all keys is right, and without any one of them it is still right or lacks what is
/// required: so each of them is read.
#[test]
fn the_file_with_every_key_is_right() {
    let full = include_str!("full.toml");
    assert_eq!(right(full).name, "everything");
    // A guest has a file of its own: one experiment has one target.
    let guest = include_str!("guest.toml");
    assert_eq!(right(guest).name, "a guest with everything");
    let keys = Table::Guest.keys().iter();
    let missing: Vec<_> = keys
        .map(|key| key.name)
        .filter(|name| !guest.contains(&format!("\n{name} = ")))
        .collect();
    assert_eq!(missing, Vec::<&str>::new(), "of {:?}", Table::Guest);
    for table in Table::ALL
        .into_iter()
        .filter(|table| *table != Table::Guest)
    {
        for key in table.keys().iter().filter(|key| key.name != "stop") {
            // Of `design.stop`, and of the two ways to find a metric, another file has the rest.
            let given = full.contains(&format!("{} = ", key.name))
                || full.contains(&format!("[{}", key.name));
            assert!(given || table == Table::Stop, "{} of {table:?}", key.name);
        }
    }
}

/// An unknown key is refused in every table.
#[test]
fn every_table_refuses_a_key_that_it_does_not_have() {
    let full = include_str!("full.toml");
    for heading in [
        "[workload]",
        "[workload.metrics.rate]",
        "[knobs.fan]",
        "[factors]",
        "[fixed]",
        "[design]",
        "[target]",
        "[analysis]",
    ] {
        let with_unknown = full.replacen(heading, &format!("{heading}\nunheard_of = [1, 2]"), 1);
        let text = parse(&with_unknown).expect_err(heading).to_string();
        assert!(text.contains("`unheard_of` is not a"), "{heading}: {text}");
        assert!(text.ends_with("1 error\n"), "{heading}: {text}");
    }
    let at_the_top = format!("unheard_of = 1\n{full}");
    assert!(parse(&at_the_top).is_err());
}
