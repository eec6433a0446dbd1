//! The published experiments as a reader sees them.

use insta::assert_snapshot;
use knobstat_data::record::Omission;
use knobstat_data::words::Level;
use knobstat_data::{Evidence, Record, Unit};

use crate::rendered;
use crate::support::{HZ_250, HZ_1000, clock_sources, turbo_boost};

/// The 2007 experiment with what a run of its pacing loop tells, and with what its author could
/// not have.
pub fn clock_sources_with_evidence() -> Record {
    let mut record = clock_sources(&HZ_250);
    let plan = record.plan.clone();
    for attempt in &mut record.attempts {
        let treatment = &plan.treatments[attempt.treatment].treatment;
        let size = treatment
            .level("packet_size")
            .and_then(Level::as_number)
            .unwrap();
        let per_packet = (size * 8.0 / 1000.0).floor();
        let jiffies = treatment.level("clocksource") == Some(&Level::text("jiffies"));
        let step = if jiffies { 4_000_000.0 } else { 279.0 };
        let waits = if jiffies && per_packet > 0.0 {
            Ok(step / 1000.0 / per_packet)
        } else {
            Err("it never waited".to_owned())
        };
        let evidence = |key: &str, unit: Unit, value: Result<f64, String>| Evidence {
            key: key.to_owned(),
            scope: "sender".to_owned(),
            unit,
            value,
        };
        attempt.result.evidence = vec![
            evidence(
                "pacer.whole_microseconds_per_packet",
                Unit::COUNT,
                Ok(per_packet),
            ),
            evidence("pacer.clock_step", Unit::NANOSECONDS, Ok(step)),
            evidence("pacer.packets_per_wait", Unit::COUNT, waits.clone()),
            evidence("pacer.packets_per_wait_predicted", Unit::COUNT, waits),
            evidence(
                "cpu.busy",
                Unit::SHARE,
                Ok(if jiffies { 100.0 } else { 81.0 }),
            ),
        ];
    }
    record.omitted = vec![Omission {
        factor: "clocksource".to_owned(),
        level: Level::text("hpet"),
        reason: "the kernel does not list it".to_owned(),
        remedy: Some("boot without hpet=disable".to_owned()),
    }];
    record.machine.cpu = Some("AMD Opteron(tm) Processor 250".to_owned());
    record.machine.kernel = Some("2.6.22-rc4".to_owned());
    record.machine.hz = Some(250);
    record
}

#[test]
fn clock_sources_at_hz_250_in_text() {
    assert_snapshot!(rendered(&clock_sources_with_evidence(), "text", 80));
}

#[test]
fn clock_sources_at_hz_1000_in_text() {
    assert_snapshot!(rendered(&clock_sources(&HZ_1000), "text", 110));
}

#[test]
fn turbo_boost_in_text() {
    assert_snapshot!(rendered(&turbo_boost(), "text", 80));
}

#[test]
fn turbo_boost_in_markdown() {
    assert_snapshot!(rendered(&turbo_boost(), "markdown", 80));
}

#[test]
fn turbo_boost_for_ministat() {
    assert_snapshot!(rendered(&turbo_boost(), "ministat", 80));
}
