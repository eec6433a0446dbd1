//! A run: from what is asked to what was found out.
//!
//! Everything that allocates, calibrates or may fail for want of a right happens before the
//! threads are let go.

use knobstat_sys::clock::Stopwatch;
use knobstat_sys::net::PacingClock;
use knobstat_sys::net::affinity::obtainable_cpus;

use super::failure::{RunError, system};
use super::figures::{ClockFigures, Figures, OrderFigures, Packets, Waiting};
use super::flow::{Counters, Sockets};
use super::options::{Options, Pacing};
use super::placement::Placement;
use super::route;
use super::threads::{self, Setting};

/// The receive buffer that a receiver should have: the kernel doubles what is asked for.
pub(super) const RECEIVE_BUFFER: usize = 4 << 20;

/// Does a run whose receiver asks for a buffer of so many bytes.
///
/// # Errors
/// When it cannot be begun, or fails on the way.
pub(super) fn run(options: &Options, receive_buffer: usize) -> Result<Figures, RunError> {
    let allowed = obtainable_cpus().map_err(system("the CPUs of this process cannot be told"))?;
    let placement = Placement::choose(options.sender_cpu, options.receiver_cpu, &allowed)?;
    let stopwatch = Stopwatch::calibrated();
    let sockets = Sockets::open(options, receive_buffer)?;
    let route = route::find(options, &sockets.sender)
        .map_err(system("the route between the two sockets cannot be told"))?;
    let pacing_clock = reads_the_clock(options).then(|| clock_figures(options.pacing_clock));
    let before = Counters::read(&sockets);
    let (sent, received) = threads::let_go(Setting {
        options,
        placement,
        stopwatch: &stopwatch,
        sockets: &sockets,
        pacing_clock,
    })?;
    let kernel = Counters::read(&sockets).since(&before, sent.refusals);
    if sent.count == 0 {
        return Err(RunError::NothingSent);
    }
    let tally = received
        .seen
        .order
        .as_ref()
        .map(|order| order.tally(sent.count));
    Ok(Figures {
        packet_size_bytes: options.packet_size as u64,
        packets: Packets {
            sent: sent.count,
            received: received.seen.datagrams,
            received_bytes: received.seen.bytes,
            lost: tally.map_or(
                sent.count.saturating_sub(received.seen.datagrams),
                |tally| tally.lost,
            ),
            order: tally.map(|tally| OrderFigures {
                reordered: tally.reordered,
                duplicated: tally.duplicated,
                too_late: tally.too_late,
                foreign: tally.foreign,
            }),
        },
        stopwatch: stopwatch.name().to_owned(),
        stopwatch_caveat: stopwatch.caveat(),
        stopwatch_granularity_nanoseconds: stopwatch.granularity().as_nanos() as f64,
        sending_seconds: stopwatch.between(sent.began, sent.ended).as_secs_f64(),
        receiving_seconds: received.seen.last.map(|last| {
            stopwatch
                .between(sent.began, last.max(sent.ended))
                .as_secs_f64()
        }),
        sender: sent.end,
        receiver: received.end,
        waiting: Waiting {
            nap_nanoseconds: received.nap.map(|nap| nap.as_nanos() as f64),
            naps: received.seen.naps,
            spinning: received.seen.spinning,
            asked_buffer_bytes: receive_buffer as u64,
            granted_buffer_bytes: sockets.granted_buffer as u64,
        },
        route,
        kernel,
        pacer: sent.pacer,
        pacing_clock,
    })
}

fn reads_the_clock(options: &Options) -> bool {
    options.pacing != Pacing::Unpaced || options.clock_reads_per_packet > 0
}

fn clock_figures(clock: PacingClock) -> ClockFigures {
    let step = clock.measure_step();
    ClockFigures {
        step_nanoseconds: step.map(|step| step.smallest),
        regular: step.is_some_and(|step| step.is_regular()),
    }
}
