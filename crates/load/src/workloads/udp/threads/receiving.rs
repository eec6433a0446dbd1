//! The receiver's thread: from its CPU to what it saw.

use std::time::Duration;

use knobstat_sys::net::affinity::thread_cpu_time;
use knobstat_sys::net::nap;
use knobstat_sys::topology::set_affinity;

use super::super::failure::{RunError, system};
use super::super::figures::End;
use super::super::nap_policy::{Facts, NapPolicy};
use super::super::options::ReceiverMethod;
use super::super::receiver::{Farewell, NAP, Received, Receiver};
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
    let nap = (options.receiver_method == ReceiverMethod::Napping).then(|| median_nap(NAP));
    let mut receiver = Receiver {
        socket: &sockets.receiver,
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
        packet_size: options.packet_size,
        stopwatch,
    };
    let memory = receiver.memory();
    if !gate.pass() {
        return Ok(None);
    }
    let began = (stopwatch.read(), thread_cpu_time());
    let seen = receiver
        .run(farewell, memory)
        .map_err(system("the receiver cannot receive"))?;
    Ok(Some(Heard {
        seen,
        end: end(placement.receiver, stopwatch, began),
        nap,
    }))
}
