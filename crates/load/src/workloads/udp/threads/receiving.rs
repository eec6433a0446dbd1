//! The receiver's thread: from its CPU to what it saw.

use std::time::Duration;

use knobstat_sys::net::affinity::thread_cpu_time;
use knobstat_sys::net::nap;
use knobstat_sys::topology::set_affinity;

use super::super::failure::{RunError, system};
use super::super::figures::End;
use super::super::intake::Intake;
use super::super::nap_policy::{Facts, NapPolicy};
use super::super::options::ReceiverMethod;
use super::super::receiver::{Farewell, NAP, Progress, Received, Receiver, SILENCE};
use super::super::seen::FlowSeen;
use super::{Gate, Setting, end, median_nap};

/// What the receiver came back with.
pub(in super::super) struct Heard {
    /// What it saw.
    pub seen: Received,
    /// Its CPU.
    pub end: End,
    /// The length of its naps, where it naps.
    pub nap: Option<Duration>,
}

/// Receives, from the moment that the gate opens; nothing where it does not.
///
/// # Errors
/// When the thread cannot get ready, or the socket cannot be read.
pub(super) fn receive(
    setting: Setting,
    gate: Gate,
    farewell: &Farewell,
) -> Result<Option<Heard>, RunError> {
    let Setting {
        options,
        placement,
        stopwatch,
        sockets,
        ..
    } = setting;
    set_affinity(&[placement.receiver])
        .map_err(system("the receiver cannot be kept on its CPU"))?;
    // A kernel that refuses this has longer naps, which are measured next.
    let _ = nap::shorten_timer_slack();
    let nap = (options.receiver_method != ReceiverMethod::Blocking).then(|| median_nap(NAP));
    let progress = Progress::default();
    let mut receiver = Receiver {
        sockets: &sockets.receivers,
        method: options.receiver_method,
        policy: NapPolicy::new(Facts {
            nap: nap.unwrap_or_default(),
            granted_buffer: sockets.granted_buffer as u64,
            packet_size: options.packet_size as u64,
            packets_per_second: options
                .pacing
                .rate()
                .map_or(options.method.ceiling(), |rate| {
                    rate.min(options.method.ceiling())
                }),
            shares_cpu: placement.is_shared(),
        }),
        stopwatch,
        silence: SILENCE,
        progress: &progress,
    };
    let mut intake = Intake::new(
        options.receiver_method,
        options.packet_size,
        options.flows,
        false,
    )
    .map_err(system("this way of receiving cannot be had here"))?;
    let flows = (0..options.flows)
        .map(|_| FlowSeen::new(options.packet_size, options.first_number, None))
        .collect();
    if !gate.pass() {
        return Ok(None);
    }
    let began = (stopwatch.read(), thread_cpu_time());
    let seen = receiver
        .run(farewell, &mut intake, Received::nothing(flows))
        .map_err(system("the receiver cannot receive"))?;
    Ok(Some(Heard {
        seen,
        end: end(placement.receiver, stopwatch, began),
        nap,
    }))
}
