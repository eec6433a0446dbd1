//! From a run's figures to sentences. Pure.

use super::super::figures::{Class, Figures, PacerKind};
use super::super::pacer::schedule::step_is_fine;
use super::super::verdict::Seen;

/// What a reader has to know, each in a sentence.
pub(super) fn notes(figures: &Figures, seen: &Seen) -> Vec<String> {
    let mut notes = Vec::new();
    notes.extend(seen.sentence());
    if !figures.ends_apart
        && let Some(cpu) = figures.sender.cpu
        && figures.receiver.cpu == Some(cpu)
    {
        notes.push(format!(
            "sender and receiver shared CPU {cpu}: each figure is one of both together"
        ));
    }
    notes.extend(small_buffer(figures));
    notes.extend(figures.stopwatch_caveat.clone());
    let route = &figures.route;
    let buffers = match route.class {
        Class::A => None,
        Class::B => Some("cut before the link"),
        Class::C => Some("cut at the receiving socket"),
        Class::D => Some("never cut"),
    };
    if let Some(where_cut) = buffers {
        notes.push(format!(
            "datagrams went in buffers of up to {}, {where_cut} (class {:?}): not to be compared \
             with datagrams that each walk down the stack",
            route.datagrams_per_buffer, route.class
        ));
    }
    if route.class == Class::D {
        notes.push(format!(
            "no packet rate is shown: what was moved are {} buffers, {:.1} datagrams each",
            figures.packets.buffers,
            figures.packets.received as f64 / figures.packets.buffers.max(1) as f64
        ));
    }
    if route.fragments_per_packet > 1 {
        notes.push(format!(
            "the route's MTU is {} bytes: each datagram went as {} fragments",
            route.mtu_bytes, route.fragments_per_packet
        ));
    }
    notes.extend(coarse_clock(figures));
    notes
}

/// What is to be said where the receiver was granted less of a buffer than it asked for.
fn small_buffer(figures: &Figures) -> Option<String> {
    let waiting = &figures.waiting;
    // The kernel doubles what is asked for.
    let asked = waiting.asked_buffer_bytes.saturating_mul(2);
    (waiting.granted_buffer_bytes < asked).then(|| {
        format!(
            "the receiver has a buffer of {} KiB in place of {}: bursts may be lost that a larger one \
             would hold; on its machine, set net.core.rmem_max to {} or run as root",
            waiting.granted_buffer_bytes >> 10,
            asked >> 10,
            waiting.asked_buffer_bytes
        )
    })
}

/// What is to be said where the pacing clock is too coarse for the schedule.
fn coarse_clock(figures: &Figures) -> Option<String> {
    let pacer = figures.pacer.as_ref()?;
    let PacerKind::Schedule {
        catch_up,
        late,
        skipped,
        ..
    } = pacer.kind
    else {
        return None;
    };
    let step = figures.pacing_clock.as_ref()?.step_nanoseconds?;
    if step_is_fine(step, pacer.asked_packets_per_second) {
        return None;
    }
    let sent = figures.packets.sent;
    let consequence = if catch_up {
        format!("the rate holds, the gaps do not ({late} of {sent} datagrams were late)")
    } else {
        format!(
            "neither the rate nor the gaps hold ({skipped} times were given up, {sent} datagrams sent)"
        )
    };
    Some(format!(
        "the pacing clock moves in steps of {:.1} us, more than a quarter of the gap of {:.1} us: \
         {consequence}",
        step as f64 / 1e3,
        1e6 / pacer.asked_packets_per_second,
    ))
}
