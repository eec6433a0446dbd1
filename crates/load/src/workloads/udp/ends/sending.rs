//! The half that sends, at whichever end it is.

use std::net::UdpSocket;
use std::ops::ControlFlow;
use std::time::Duration;

use knobstat_sys::clock::Stopwatch;
use knobstat_sys::net;
use knobstat_sys::net::affinity::obtainable_cpus;
use knobstat_sys::net::counters::NamespaceCounters;

use super::super::energy::EnergyMeter;
use super::super::link::{Link, Sockets};
use super::super::options::Options;
use super::super::placement::Placement;
use super::super::threads::{self, Setting};
use super::super::wire::Contents;
use super::super::work::pacing_clock;
use super::interface::Watched;
use super::message::Sending;
use super::{EndsError, system};

/// Sends by connected sockets, on a CPU where one is asked for; does something `every` so often
/// meanwhile, which may end it.
///
/// # Errors
/// When this end cannot send.
pub(super) fn send_by(
    sockets: Vec<UdpSocket>,
    options: &Options,
    cpu: Option<u32>,
    times: bool,
    every: Option<Duration>,
    meanwhile: impl FnMut() -> ControlFlow<()>,
) -> Result<Sending, EndsError> {
    let unknown = "the route to the other end cannot be told";
    let first = sockets.first().ok_or(EndsError::OutOfTurn)?;
    let mtu_bytes = u64::from(net::route_mtu(first).map_err(system(unknown))?);
    let is_ipv4 = first.local_addr().map_err(system(unknown))?.is_ipv4();
    let peer = first.peer_addr().map_err(system(unknown))?;
    let allowed = obtainable_cpus().map_err(system("the CPUs cannot be told"))?;
    let placement = Placement::choose(cpu, None, &allowed)
        .map_err(|error| EndsError::Run(error.to_string()))?;
    let stopwatch = Stopwatch::calibrated();
    let link = Link::elsewhere();
    let sockets = Sockets {
        senders: sockets,
        receivers: Vec::new(),
        granted_buffer: 0,
    };
    let pacing_clock = pacing_clock(options);
    let setting = Setting {
        options,
        placement,
        stopwatch: &stopwatch,
        link: &link,
        sockets: &sockets,
        pacing_clock,
        contents: Contents { times },
    };
    let namespace = NamespaceCounters::read().ok();
    let interface = Watched::towards(peer);
    let mut energy = EnergyMeter::start();
    let sent = threads::send_alone(setting, every, meanwhile)
        .map_err(|error| EndsError::Run(error.to_string()))?;
    let energy = energy.stop();
    let namespace = NamespaceCounters::read().ok().zip(namespace);
    Ok(Sending {
        by_flow: sent.by_flow,
        seconds: stopwatch.between(sent.began, sent.ended).as_secs_f64(),
        end: sent.end,
        refusals: sent.refusals,
        interface_drops: interface.and_then(|interface| Some(interface.counted()?.dropped_sending)),
        send_buffer_errors: namespace.map(|(now, then)| now.since(&then).send_buffer_errors),
        pacer: sent.pacer,
        pacing_clock,
        mtu_bytes,
        is_ipv4,
        energy,
        stopwatch: stopwatch.name().to_owned(),
        stopwatch_caveat: stopwatch.caveat(),
        stopwatch_granularity_nanoseconds: stopwatch.granularity().as_nanos() as f64,
    })
}
