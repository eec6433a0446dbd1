//! The tables of `docs/model.md` are what the model says now.

mod judged;
mod published;

use std::fmt::Write;

use knobstat_model::MachineFile;
use knobstat_model::machine;
use published::{CORE_I7_870, OPTERON_TG3, SIZES, TREATMENTS, cells, job, sending, throughput};

const DOCUMENT: &str = include_str!("../../../docs/model.md");

/// Fails with the table that the document should have.
fn must_have(table: &str) {
    assert!(
        DOCUMENT.contains(table),
        "docs/model.md should have this table:\n\n{table}"
    );
}

fn parsed(source: &str) -> MachineFile {
    MachineFile::parse(source, "a machine file").unwrap()
}

#[test]
fn the_table_of_2010() {
    let machine = parsed(CORE_I7_870);
    let mut table = String::from(
        "| C-states | idle tick | post, s | model, s | error | idle cores awake | mean frequency |\n|---|---|---|---|---|---|---|\n",
    );
    for one in &TREATMENTS {
        let run = job(
            &machine,
            &[("cstate", one.cstate), ("idletick", one.idletick)],
        );
        let wall = run.wall / 1e9;
        writeln!(
            table,
            "| {} | {} | {:.3} | {wall:.3} | {:+.2} % | {:.1} % | {:.2} GHz |",
            one.cstate,
            one.idletick,
            one.average,
            100.0 * (wall / one.average - 1.0),
            100.0 * run.idle_cores_awake,
            run.mean_frequency
        )
        .unwrap();
    }
    must_have(&table);
}

#[test]
fn the_predictions_beyond_2010() {
    let machine = parsed(CORE_I7_870);
    let wall = |settings: &[(&str, &str)]| job(&machine, settings).wall / 1e9;
    let mut table = String::from(
        "| HZ | turbo | C1, tick on | C1, off | C2, on | C2, off | C3, on | C3, off |\n|---|---|---|---|---|---|---|---|\n",
    );
    for (hz, turbo) in [
        ("1000", "on"),
        ("250", "on"),
        ("100", "on"),
        ("1000", "off"),
    ] {
        write!(table, "| {hz} | {turbo} |").unwrap();
        for cstate in ["C1", "C2", "C3"] {
            for idletick in ["on", "off"] {
                let seconds = wall(&[
                    ("hz", hz),
                    ("turbo", turbo),
                    ("cstate", cstate),
                    ("idletick", idletick),
                ]);
                write!(table, " {seconds:.2} |").unwrap();
            }
        }
        table.push('\n');
    }
    must_have(&table);
}

#[test]
fn the_table_of_2007() {
    let machine = parsed(OPTERON_TG3);
    let mut table = String::from(
        "| HZ | bytes | clock source | post, Mbit/s | model | error |\n|---|---|---|---|---|---|\n",
    );
    for cell in cells() {
        let run = sending(&machine, cell.clock, cell.hz, cell.size);
        let predicted = throughput(&run, cell.size);
        let error = 100.0 * judged::error(&cell, predicted);
        let shown = if error == 0.0 {
            "inside".to_owned()
        } else {
            format!("{error:+.2} %")
        };
        let runs: Vec<String> = cell.runs.iter().map(ToString::to_string).collect();
        writeln!(
            table,
            "| {} | {} | {} | {} | {predicted:.1} | {shown} |",
            cell.hz,
            cell.size,
            cell.clock,
            runs.join(", ")
        )
        .unwrap();
    }
    must_have(&table);
}

#[test]
fn the_prediction_for_hpet() {
    let machine = parsed(OPTERON_TG3);
    let mut table = String::from("| bytes | tsc | hpet | acpi_pm |\n|---|---|---|---|\n");
    for size in SIZES {
        write!(table, "| {size} |").unwrap();
        for clock in ["tsc", "hpet", "acpi_pm"] {
            let found = throughput(&sending(&machine, clock, 1000, size), size);
            write!(table, " {found:.0} |").unwrap();
        }
        table.push('\n');
    }
    must_have(&table);
}

/// Every parameter with its value and how it was come by.
#[test]
fn the_parameters() {
    for source in [CORE_I7_870, OPTERON_TG3] {
        let mut table = String::from("| parameter | value | how |\n|---|---|---|\n");
        for one in machine::list(source).unwrap() {
            writeln!(table, "| `{}` | {} | {} |", one.path, one.value, one.how).unwrap();
        }
        must_have(&table);
    }
}
