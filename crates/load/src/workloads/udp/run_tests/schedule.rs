//! A sender that keeps an asked rate by a schedule.

use knobstat_data::observation::Limit;
use knobstat_data::words::BitRate;

use super::super::figures::PacerKind;
use super::*;

#[test]
fn a_schedule_sends_the_count_that_its_duration_holds_and_the_pacer_is_the_limit() {
    let (figures, yielded) = figures([
        ("rate", Value::PacketRate(2000.0)),
        ("duration", Value::Duration(Duration::from_millis(100))),
    ]);
    check(&figures, &yielded);
    assert!(figures.packets.sent <= 200);
    let Some(PacerKind::Schedule { late, .. }) = figures.pacer.map(|pacer| pacer.kind) else {
        panic!("no schedule in {figures:?}");
    };
    assert!(late <= figures.packets.sent);
    // A stall of this machine may have cost the rate, and so the verdict, but never the count.
    if figures.packets.lost == 0 && figures.sending_seconds < 0.1 {
        assert_eq!(figures.packets.sent, 200);
        assert_eq!(yielded.metrics[0].limited_by, Some(Limit::Pacer));
    }
}

#[test]
fn a_schedule_on_the_coarse_clock_says_that_its_gaps_do_not_hold() {
    let (figures, yielded) = figures([
        ("rate", Value::BitRate(BitRate(64.0 * 8.0 * 10_000.0))),
        ("pacing_clock", text("coarse")),
        ("count", Value::Integer(300)),
    ]);
    check(&figures, &yielded);
    assert_eq!(figures.packets.sent, 300);
    let step = figures.pacing_clock.unwrap().step_nanoseconds.unwrap();
    let said = yielded
        .notes
        .iter()
        .any(|note| note.contains("quarter of the gap"));
    assert_eq!(said, step > 25_000, "step {step}: {:?}", yielded.notes);
}

#[test]
fn additional_readings_are_made_by_the_sender_and_its_clock_is_described() {
    let (figures, yielded) = figures([
        ("clock_reads_per_packet", Value::Integer(2)),
        ("count", Value::Integer(1000)),
    ]);
    check(&figures, &yielded);
    assert!(evidence(&yielded, "pacer.clock_step").unwrap() > 0.0);
}
