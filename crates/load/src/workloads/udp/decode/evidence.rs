//! From a run's figures to evidence. Pure.

use knobstat_data::{Evidence, Unit};

use super::super::figures::{Class, Figures, PacerKind};
use super::super::pacer::iperf2_2007::staircase_rate;
use super::super::wire::SMALLEST_NUMBERED;
use super::energy_per_packet;

/// Collects evidence.
struct Found(Vec<Evidence>);

impl Found {
    fn add(&mut self, key: &str, scope: &str, unit: Unit, value: Result<f64, &str>) {
        self.0.push(Evidence {
            key: key.to_owned(),
            scope: scope.to_owned(),
            unit,
            value: value.map_err(str::to_owned),
        });
    }

    fn count(&mut self, key: &str, value: u64) {
        self.add(key, "run", Unit::COUNT, Ok(value as f64));
    }

    fn count_or(&mut self, key: &str, value: Option<u64>, reason: &str) {
        let value = value.map(|value| value as f64).ok_or(reason);
        self.add(key, "run", Unit::COUNT, value);
    }
}

/// Everything that figures have beside metrics; what is absent has its reason.
pub(super) fn evidence(figures: &Figures) -> Vec<Evidence> {
    let mut found = Found(Vec::new());
    packets(&mut found, figures);
    for (scope, end) in [("sender", &figures.sender), ("receiver", &figures.receiver)] {
        let busy = end.busy().map(|share| 100.0 * share);
        let cpu = end.cpu.map(f64::from).ok_or("it was kept on none");
        found.add("cpu.number", scope, Unit::COUNT, cpu);
        found.add("cpu.busy", scope, Unit::SHARE, busy.ok_or("no time passed"));
    }
    waiting(&mut found, figures);
    kernel(&mut found, figures);
    route(&mut found, figures);
    energy(&mut found, figures);
    pacing(&mut found, figures);
    found.0
}

fn packets(found: &mut Found, figures: &Figures) {
    let packets = &figures.packets;
    found.count("packets.sent", packets.sent);
    found.count("packets.received", packets.received);
    found.count("packets.lost", packets.lost);
    let reason = format!(
        "datagrams of {} bytes are too small to carry a number of {SMALLEST_NUMBERED}",
        figures.packet_size_bytes
    );
    let order = packets.order;
    found.count_or(
        "packets.reordered",
        order.map(|order| order.reordered),
        &reason,
    );
    found.count_or(
        "packets.duplicated",
        order.map(|order| order.duplicated),
        &reason,
    );
    found.count("packets.buffers", packets.buffers);
    if packets.strays > 0 {
        found.count("packets.strays", packets.strays);
    }
    if let Some(order) = order {
        if order.too_late > 0 {
            found.count("packets.too_late", order.too_late);
        }
        if order.foreign > 0 {
            found.count("packets.foreign", order.foreign);
        }
    }
}

fn waiting(found: &mut Found, figures: &Figures) {
    let waiting = &figures.waiting;
    let bytes = |value: u64| Ok(value as f64);
    found.add(
        "receiver.buffer",
        "receiver",
        Unit::BYTES,
        bytes(waiting.granted_buffer_bytes),
    );
    found.add(
        "receiver.nap",
        "receiver",
        Unit::NANOSECONDS,
        waiting.nap_nanoseconds.ok_or("this receiver blocks"),
    );
    found.count("receiver.naps", waiting.naps);
    found.count("receiver.spinning", u64::from(waiting.spinning));
}

fn kernel(found: &mut Found, figures: &Figures) {
    let kernel = &figures.kernel;
    let unreadable = "/proc/self/net cannot be read";
    found.count_or(
        "receiver.drops",
        kernel.socket_drops,
        "this kernel does not tell a socket's drops (SO_MEMINFO)",
    );
    found.count_or(
        "udp.receive_buffer_errors",
        kernel.receive_buffer_errors,
        unreadable,
    );
    found.count_or(
        "udp.send_buffer_errors",
        kernel.send_buffer_errors,
        unreadable,
    );
    found.count_or("ip.fragments_received", kernel.fragments, unreadable);
    found.count_or(
        "ip.reassembly_failures",
        kernel.reassembly_failures,
        unreadable,
    );
    let interface = kernel.interface;
    let elsewhere = if figures.ends_apart {
        "the interface towards the other machine, or its counters, cannot be told at one of them"
    } else {
        unreadable
    };
    let packets = interface.map(|interface| interface.packets);
    found.count_or("interface.packets", packets, elsewhere);
    let dropped = interface.map(|interface| interface.dropped);
    found.count_or("interface.dropped", dropped, elsewhere);
    found.count("sender.refusals", kernel.refusals);
}

fn energy(found: &mut Found, figures: &Figures) {
    let packets = &figures.packets;
    let of_receiver = figures.receiver_energy.as_ref();
    let ends = [
        ("sender", Some(&figures.energy), packets.sent),
        ("receiver", of_receiver, packets.received),
    ];
    for (scope, energy, packets) in ends {
        if let Some(energy) = energy.filter(|_| figures.route.class != Class::D) {
            let value = energy_per_packet(energy, packets);
            let value = value.as_ref().map(|value| *value).map_err(String::as_str);
            found.add("energy.per_packet", scope, Unit::MICROJOULES, value);
        }
    }
}

fn route(found: &mut Found, figures: &Figures) {
    let route = &figures.route;
    found.add("route.mtu", "run", Unit::BYTES, Ok(route.mtu_bytes as f64));
    found.count("route.fragments_per_packet", route.fragments_per_packet);
    found.count("sender.datagrams_per_buffer", route.datagrams_per_buffer);
    let class = match route.class {
        Class::A => 1.0,
        Class::B => 2.0,
        Class::C => 3.0,
        Class::D => 4.0,
    };
    found.add(
        "sender.class",
        "sender",
        Unit::new("A=1, B=2, C=3, D=4"),
        Ok(class),
    );
}

fn pacing(found: &mut Found, figures: &Figures) {
    if let Some(clock) = &figures.pacing_clock {
        let step = clock.step_nanoseconds.map(|step| step as f64);
        found.add(
            "pacer.clock_step",
            "sender",
            Unit::NANOSECONDS,
            step.ok_or("the pacing clock was not seen to move"),
        );
    }
    let Some(pacer) = &figures.pacer else {
        return;
    };
    found.add(
        "pacer.asked_rate",
        "sender",
        Unit::PACKETS_PER_SECOND,
        Ok(pacer.asked_packets_per_second),
    );
    match pacer.kind {
        PacerKind::Schedule {
            catch_up,
            late,
            skipped,
            gap_nanoseconds,
            gaps_within_a_tenth,
        } => {
            found.count("pacer.catch_up", u64::from(catch_up));
            found.count("pacer.late", late);
            found.count("pacer.skipped", skipped);
            let no_gap = "there was no second send";
            for (index, key) in ["pacer.gap_p01", "pacer.gap_p50", "pacer.gap_p99"]
                .into_iter()
                .enumerate()
            {
                let gap = gap_nanoseconds.map(|gaps| gaps[index] as f64);
                found.add(key, "sender", Unit::NANOSECONDS, gap.ok_or(no_gap));
            }
            found.add(
                "pacer.gaps_within_a_tenth",
                "sender",
                Unit::SHARE,
                gaps_within_a_tenth.map(|share| 100.0 * share).ok_or(no_gap),
            );
        }
        PacerKind::Iperf2 {
            microseconds_per_packet,
            waits,
            packets_per_wait,
            credited_per_wait,
            packets_per_wait_predicted,
            nanoseconds_per_wait,
            waits_as_predicted,
        } => {
            found.count(
                "pacer.whole_microseconds_per_packet",
                microseconds_per_packet,
            );
            found.count("pacer.waits", waits);
            let unwaited = "it never waited";
            found.count_or("pacer.packets_per_wait", packets_per_wait, unwaited);
            found.count_or("pacer.credited_per_wait", credited_per_wait, unwaited);
            found.count_or(
                "pacer.packets_per_wait_predicted",
                packets_per_wait_predicted,
                if microseconds_per_packet == 0 {
                    "less than a microsecond per packet is none: it never waits"
                } else {
                    "the clock's step is shorter than the time per packet"
                },
            );
            let step = figures
                .pacing_clock
                .and_then(|clock| clock.step_nanoseconds)
                .unwrap_or(0);
            let staircase = staircase(step, packets_per_wait_predicted, nanoseconds_per_wait)
                .ok_or("no two waits that the clock's step decides");
            found.add(
                "pacer.steps_per_wait",
                "run",
                Unit::COUNT,
                staircase.map(|(steps, _)| steps as f64),
            );
            found.add(
                "pacer.waits_as_predicted",
                "run",
                Unit::SHARE,
                waits_as_predicted
                    .map(|share| 100.0 * share)
                    .ok_or("no two waits that the clock's step decides"),
            );
            found.add(
                "pacer.staircase_rate",
                "run",
                Unit::PACKETS_PER_SECOND,
                staircase.map(|(_, rate)| rate),
            );
        }
    }
}

/// How many of its clock's steps the loop of 2007 took from one wait's end to the next, and the rate
/// that the formula has for that many.
fn staircase(
    step_nanoseconds: u64,
    credited: Option<u64>,
    nanoseconds_per_wait: Option<u64>,
) -> Option<(u64, f64)> {
    let steps = nanoseconds_per_wait?.checked_add(step_nanoseconds / 2)? / step_nanoseconds.max(1);
    (steps > 0).then_some(())?;
    let rate = staircase_rate(step_nanoseconds, credited?, steps);
    Some((steps, rate))
}
