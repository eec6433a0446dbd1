//! A run: from what is asked to what was found out.
//!
//! Everything that allocates, calibrates or may fail for want of a right happens before the
//! threads are let go.

use knobstat_sys::clock::Stopwatch;
use knobstat_sys::net::PacingClock;
use knobstat_sys::net::affinity::obtainable_cpus;

use super::energy::EnergyMeter;
use super::failure::{RunError, system};
use super::figures::{ClockFigures, Figures, Packets, Waiting};
use super::link::{Counters, Link, Sockets};
use super::options::{Options, Pacing};
use super::placement::Placement;
use super::route;
use super::seen::FlowSeen;
use super::threads::{self, Setting};
use super::wire::Contents;

/// Does a run on this machine.
///
/// # Errors
/// When it cannot be begun, or fails on the way.
pub(super) fn run(options: &Options) -> Result<Figures, RunError> {
    // First of all: a pair may take a user namespace, which a process with threads cannot enter.
    let link = Link::open(options)?;
    let allowed = obtainable_cpus().map_err(system("the CPUs of this process cannot be told"))?;
    let placement = Placement::choose(options.sender_cpu, options.receiver_cpu, &allowed)?;
    let stopwatch = Stopwatch::calibrated();
    let sockets = Sockets::open(options, &link)?;
    let route = match sockets.senders.first() {
        Some(sender) => route::find(options, &link, sender)?,
        None => return Err(RunError::NothingSent),
    };
    let pacing_clock = pacing_clock(options);
    let before = Counters::read(&link, &sockets);
    let mut energy = EnergyMeter::start();
    let (sent, received) = threads::let_go(Setting {
        options,
        placement,
        stopwatch: &stopwatch,
        link: &link,
        sockets: &sockets,
        pacing_clock,
        contents: Contents::default(),
    })?;
    let energy = energy.stop();
    let kernel = Counters::read(&link, &sockets).since(&before, sent.refusals);
    if sent.count == 0 {
        return Err(RunError::NothingSent);
    }
    let packets = packets(&received.seen.flows, &sent.by_flow);
    Ok(Figures {
        packet_size_bytes: options.packet_size as u64,
        packets,
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
        ends_apart: false,
        waiting: Waiting {
            nap_nanoseconds: received.nap.map(|nap| nap.as_nanos() as f64),
            naps: received.seen.naps,
            spinning: received.seen.spinning,
            asked_buffer_bytes: options.receive_buffer as u64,
            granted_buffer_bytes: sockets.granted_buffer as u64,
        },
        route,
        kernel,
        pacer: sent.pacer,
        pacing_clock,
        energy,
        receiver_energy: None,
    })
}

/// What became of the datagrams of all flows.
pub(super) fn packets(flows: &[FlowSeen], sent: &[u64]) -> Packets {
    let mut packets = Packets::default();
    for (flow, &sent) in flows.iter().zip(sent) {
        let tally = flow.order.as_ref().map(|order| order.tally(sent));
        packets.sent += sent;
        packets.received += flow.datagrams;
        packets.received_bytes += flow.bytes();
        packets.buffers += flow.buffers;
        packets.strays += flow.strays;
        packets.lost += match &tally {
            Some(tally) => tally.lost,
            None => sent.saturating_sub(flow.datagrams),
        };
        if let Some(tally) = tally {
            let order = packets.order.get_or_insert_default();
            order.reordered += tally.reordered;
            order.duplicated += tally.duplicated;
            order.too_late += tally.too_late;
            order.foreign += tally.foreign;
        }
    }
    packets
}

/// How the pacing clock moves, where it is read at all.
pub(super) fn pacing_clock(options: &Options) -> Option<ClockFigures> {
    reads_the_clock(options).then(|| clock_figures(options.pacing_clock))
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
