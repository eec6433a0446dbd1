//! Evidence side by side: means by treatment, and what is put together from several pieces.

use knobstat_analysis::{EvidenceRow, evidence};
use knobstat_data::{Evidence, Unit};

use crate::support::{Bench, KNOB, texts, wall, yielded};

fn piece(key: &str, scope: &str, unit: Unit, value: Result<f64, &str>) -> Evidence {
    Evidence {
        key: key.to_owned(),
        scope: scope.to_owned(),
        unit,
        value: value.map_err(str::to_owned),
    }
}

/// A run of three seconds on two CPUs, of which the second idles.
fn pieces(ticks_of_the_idle_cpu: f64, in_c3: f64) -> Vec<Evidence> {
    let count = || Unit::COUNT;
    let seconds = || Unit::SECONDS;
    vec![
        piece("cpu.busy", "cpu0", seconds(), Ok(2.99)),
        piece("cpu.busy", "cpu1", seconds(), Ok(0.02)),
        piece("interrupts.timer", "cpu0", count(), Ok(750.0)),
        piece(
            "interrupts.timer",
            "cpu1",
            count(),
            Ok(ticks_of_the_idle_cpu),
        ),
        piece("idle.C3.time", "cpu0", seconds(), Ok(0.0)),
        piece("idle.C3.time", "cpu1", seconds(), Ok(in_c3)),
        piece("frequency.effective", "cpu0", Unit::new("MHz"), Ok(3400.0)),
        piece("frequency.effective", "cpu1", Unit::new("MHz"), Ok(1200.0)),
        piece("energy", "machine", Unit::new("J"), Err("a guest")),
    ]
}

fn rows() -> Vec<EvidenceRow> {
    let levels = texts(&["1", "0"]);
    let record = Bench::new("idle tick", &[("idletick", KNOB, &levels)], wall())
        .blocks(4)
        .record(|treatment, block| {
            let mut result = yielded(&wall(), 3.0);
            let ticks = if treatment.to_string().ends_with('1') {
                3000.0
            } else {
                9.0
            };
            result.evidence = pieces(ticks + block as f64 - 1.5, 1.5);
            Some(result)
        });
    evidence(&record)
}

fn row<'r>(rows: &'r [EvidenceRow], key: &str, scope: &str) -> &'r EvidenceRow {
    rows.iter()
        .find(|row| row.key == key && row.scope == scope)
        .unwrap_or_else(|| panic!("no {key} of {scope} in {rows:?}"))
}

#[test]
fn means_stand_side_by_side_in_the_order_of_the_plan() {
    let rows = rows();
    let ticks = row(&rows, "interrupts.timer", "cpu1");
    assert_eq!(ticks.means, [Some(3000.0), Some(9.0)]);
    assert!(!ticks.combined);
    let energy = row(&rows, "energy", "machine");
    assert_eq!(energy.means, [None, None]);
    assert_eq!(energy.reason.as_deref(), Some("a guest"));
}

#[test]
fn what_is_put_together_comes_first_and_tells_the_cause() {
    let rows = rows();
    assert!(rows[0].combined);
    let ticks = row(&rows, "interrupts.timer", "idle CPUs");
    assert_eq!(ticks.means, [Some(1000.0), Some(3.0)]);
    assert_eq!(ticks.unit.as_str(), "1/s");
    let busy = row(&rows, "interrupts.timer", "busy CPUs");
    assert_eq!(busy.means, [Some(250.0), Some(250.0)]);
    let residency = row(&rows, "idle.C3.time", "all CPUs");
    assert_eq!(residency.means, [Some(25.0), Some(25.0)]);
    let frequency = row(&rows, "frequency.effective", "busiest CPU");
    assert_eq!(frequency.means, [Some(3400.0), Some(3400.0)]);
}
