//! The loop of 2007, live on this machine's coarse clock.

use knobstat_data::words::BitRate;
use knobstat_sys::clock::{Clock, reported_resolution};

use super::*;

#[test]
fn under_the_coarse_clock_the_loop_of_2007_credits_a_step_of_packets_per_wait() {
    for (bytes, per_packet) in [(128, 1), (512, 4), (1280, 10)] {
        let (figures, yielded) = figures([
            ("method", text("send")),
            ("packet_size", size(bytes)),
            ("rate", Value::BitRate(BitRate(1e9))),
            ("pacer", text("iperf2-2007")),
            ("pacing_clock", text("coarse")),
            ("duration", Value::Duration(Duration::from_millis(300))),
        ]);
        check(&figures, &yielded);
        assert_eq!(
            evidence(&yielded, "pacer.whole_microseconds_per_packet"),
            Ok(f64::from(per_packet))
        );
        let clock = figures.pacing_clock.unwrap();
        let waits = evidence(&yielded, "pacer.waits").unwrap();
        let tick = reported_resolution(Clock::MonotonicCoarse).as_nanos() as f64;
        let sees_each_tick = clock
            .step_nanoseconds
            .is_some_and(|step| (step as f64) < 1.5 * tick);
        if !clock.regular || !sees_each_tick || waits < 3.0 {
            // A machine too loaded to see its own ticks.
            eprintln!("skipped at {bytes} B: {clock:?}, {waits} waits");
            continue;
        }
        let predicted = evidence(&yielded, "pacer.packets_per_wait_predicted").unwrap();
        let credited = evidence(&yielded, "pacer.credited_per_wait").unwrap();
        let packets = evidence(&yielded, "pacer.packets_per_wait").unwrap();
        // A tick that passes between a wait's end and the next packet makes a multiple of it.
        let steps = (credited / predicted).round();
        assert!(
            steps >= 1.0 && (credited / predicted / steps - 1.0).abs() < 0.02,
            "{bytes} B: {credited} against {predicted}"
        );
        assert!(packets >= credited);
        // A tick that passes while nothing is waited for lets one more datagram go.
        let ticks = evidence(&yielded, "pacer.steps_per_wait").unwrap();
        assert!(
            packets <= credited + ticks,
            "{packets}, {credited}, {ticks}"
        );
    }
}

/// The staircase of 2007, live: on a clock that stands still between ticks the rate is a whole number
/// of datagrams in a whole number of ticks, whatever the size.
#[test]
fn on_the_coarse_clock_the_rate_is_a_stair() {
    for (bytes, most_attempts) in [(128, 4), (512, 4), (1280, 40)] {
        let mut undisturbed = 0;
        let mut too_slow = 0;
        let mut had_its_cpu = 0;
        let mut on_a_stair = false;
        for attempt in 0..most_attempts {
            if on_a_stair && attempt >= 4 {
                break;
            }
            let result = work(&parameters([
                ("method", text("send")),
                ("packet_size", size(bytes)),
                ("rate", Value::BitRate(BitRate(1e9))),
                ("pacer", text("iperf2-2007")),
                ("pacing_clock", text("coarse")),
                ("duration", Value::Duration(Duration::from_millis(200))),
            ]));
            let (figures, yielded) = match result {
                Ok(result) => decoded(result),
                // The sender did not get onto its CPU in all of the time.
                Err(error) => {
                    assert!(error.to_string().contains("nothing was sent"), "{error}");
                    continue;
                }
            };
            had_its_cpu += u32::from(figures.sender.busy() >= Some(0.9));
            let Ok(share) = evidence(&yielded, "pacer.waits_as_predicted") else {
                continue;
            };
            on_a_stair |= share > 0.0;
            println!("{bytes} B: {share:.0} % of the waits as predicted");
            if share < 90.0 {
                continue;
            }
            let sent = figures.packets.sent as f64 / figures.sending_seconds;
            let stair = evidence(&yielded, "pacer.staircase_rate").unwrap();
            println!("{bytes} B: {sent:.0} packets/s, the stair is {stair:.0}");
            // The last wait is cut short, and a tenth of the waits may be otherwise.
            assert!(sent < 1.15 * stair, "{sent} against {stair}");
            if sent > 0.85 * stair {
                undisturbed += 1;
                break;
            }
            // Whoever takes the CPU between two waits leaves the waits as they are and makes the
            // rate lower.
            too_slow += u32::from(figures.sender.busy() >= Some(0.95));
        }
        assert!(
            undisturbed > 0 || too_slow < 4,
            "{bytes} B: {too_slow} runs had their CPU, and none reached its stair"
        );
        // The datagrams of a wait take 1.5 ms at 1280 B, which even a busy machine leaves alone now and
        // then, unless it leaves the sender next to no time at all; at 128 B they take 15 ms.
        assert!(
            on_a_stair || bytes < 1280 || had_its_cpu == 0,
            "{bytes} B: no wait was as predicted, and {had_its_cpu} runs had their CPU"
        );
        if undisturbed == 0 {
            eprintln!("{bytes} B: this machine was too busy for a rate of whole stairs");
        }
    }
}

#[test]
fn at_64_bytes_the_loop_of_2007_has_no_time_to_wait_for() {
    let (figures, yielded) = figures([
        ("rate", Value::BitRate(BitRate(1e9))),
        ("pacer", text("iperf2-2007")),
        ("count", Value::Integer(1000)),
    ]);
    check(&figures, &yielded);
    assert_eq!(evidence(&yielded, "pacer.waits"), Ok(0.0));
    assert!(evidence(&yielded, "pacer.packets_per_wait").is_err());
}
