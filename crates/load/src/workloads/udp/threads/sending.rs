//! The sender's thread: from its CPU to what it sent.

use std::net::UdpSocket;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use knobstat_sys::clock::{Reading, Stopwatch};
use knobstat_sys::net::affinity::thread_cpu_time;
use knobstat_sys::net::nap;
use knobstat_sys::topology::set_affinity;

use super::super::failure::{RunError, system};
use super::super::figures::{End, Pacer, PacerKind};
use super::super::options::{Length, Options, Pacing};
use super::super::outlet::{Flows, Outlet};
use super::super::pacer::iperf2_2007::{Stair, microseconds_per_packet, packets_per_wait};
use super::super::pacer::schedule::count_within;
use super::super::sender::{self, Missed, Quota, Readings};
use super::{Gate, Setting, end, median_nap};

/// What the sender came back with.
pub(in super::super) struct Sent {
    /// How many datagrams went.
    pub count: u64,
    /// How many of them by each flow.
    pub by_flow: Vec<u64>,
    /// When the first was about to go.
    pub began: Reading,
    /// When the last had gone.
    pub ended: Reading,
    /// Its CPU.
    pub end: End,
    /// How often there was no room on the way out.
    pub refusals: u64,
    /// What its pacer did, where there was one.
    pub pacer: Option<Pacer>,
}

/// Sends, from the moment that the gate opens; nothing where it does not.
///
/// # Errors
/// When the thread cannot get ready, or a datagram cannot be sent.
pub(super) fn send(
    setting: Setting,
    gate: Gate,
    stop: &AtomicBool,
) -> Result<Option<Sent>, RunError> {
    let Setting {
        options,
        placement,
        stopwatch,
        link,
        sockets,
        pacing_clock,
        contents,
    } = setting;
    link.sender
        .enter()
        .map_err(system("the sender's network namespace cannot be entered"))?;
    set_affinity(&[placement.sender]).map_err(system("the sender cannot be kept on its CPU"))?;
    let _ = nap::shorten_timer_slack();
    let sockets: Result<Vec<_>, _> = sockets.senders.iter().map(UdpSocket::try_clone).collect();
    let sockets = sockets.map_err(system("the sender's sockets cannot be shared"))?;
    let mut outlet = Flows::open(sockets, options, contents, link.raw.as_ref())?;
    let mut readings = Readings {
        clock: options.pacing_clock,
        per_packet: options.clock_reads_per_packet,
    };
    let margin = match options.pacing {
        Pacing::Schedule { .. } => sleep_margin(),
        Pacing::Unpaced | Pacing::Iperf2(_) => Duration::ZERO,
    };
    if !gate.pass() {
        return Ok(None);
    }
    let began = (stopwatch.read(), thread_cpu_time());
    let limit = setting.time_limit().map(|limit| limit + LATEST_STOP);
    let overdue =
        || limit.is_some_and(|limit| stopwatch.between(began.0, stopwatch.read()) > limit);
    let mut quota = Quota {
        count: count(options),
        stop,
        overdue: &overdue,
        looks: 0,
    };
    let (count, kind) = match options.pacing {
        Pacing::Unpaced => (
            sender::unpaced(&mut outlet, &mut readings, &mut quota)?,
            None,
        ),
        Pacing::Schedule { rate, catch_up } => {
            let mut waiting = SleepThenSpin {
                margin: margin.as_nanos() as u64,
                stopwatch,
                began: began.0,
            };
            let missed = match (catch_up, options.length) {
                (true, _) => Missed::MadeUp,
                (false, Length::Count(_)) => Missed::GivenUp { times: u64::MAX },
                (false, Length::Duration(_)) => Missed::GivenUp { times: quota.count },
            };
            let keeping = sender::scheduled(
                &mut outlet,
                &mut readings,
                &mut waiting,
                rate,
                missed,
                &mut quota,
            )?;
            let figures = schedule_figures(&keeping, rate, catch_up);
            (keeping.sent, Some((rate, figures)))
        }
        Pacing::Iperf2(rate) => {
            let per_packet = microseconds_per_packet(rate);
            let step = pacing_clock.and_then(|clock| clock.step_nanoseconds);
            let predicted = step.and_then(|step| packets_per_wait(step, per_packet));
            let stair = step
                .zip(predicted)
                .map(|(step, credited)| Stair { step, credited });
            let waits =
                sender::iperf2_2007(&mut outlet, &mut readings, per_packet, stair, &mut quota)?;
            let periods = waits.periods.total();
            let kind = PacerKind::Iperf2 {
                microseconds_per_packet: per_packet,
                waits: waits.packets.total(),
                packets_per_wait: waits.packets.quantile(0.5),
                credited_per_wait: waits.credited.quantile(0.5),
                nanoseconds_per_wait: waits.periods.quantile(0.5),
                packets_per_wait_predicted: predicted,
                waits_as_predicted: (stair.is_some() && periods > 0)
                    .then(|| waits.as_predicted as f64 / periods as f64),
            };
            (waits.sent, Some((rate, kind)))
        }
    };
    let ended = stopwatch.read();
    Ok(Some(Sent {
        count,
        began: began.0,
        ended,
        end: end(placement.sender, stopwatch, began),
        refusals: outlet.refusals(),
        by_flow: outlet.sent(),
        pacer: kind.map(|(asked_packets_per_second, kind)| Pacer {
            asked_packets_per_second,
            kind,
        }),
    }))
}

/// How long after its time a sender stops where nobody stopped it.
const LATEST_STOP: Duration = Duration::from_millis(50);

/// The datagrams after which a sender is done by itself.
fn count(options: &Options) -> u64 {
    match (options.length, options.pacing) {
        (Length::Count(count), _) => count,
        (Length::Duration(duration), Pacing::Schedule { rate, .. }) => {
            count_within(duration.as_secs_f64(), rate)
        }
        (Length::Duration(_), Pacing::Unpaced | Pacing::Iperf2(_)) => u64::MAX,
    }
}

fn schedule_figures(keeping: &sender::Keeping, rate: f64, catch_up: bool) -> PacerKind {
    let gap = 1e9 / rate;
    let quantile = |share| keeping.gaps.quantile(share);
    PacerKind::Schedule {
        catch_up,
        late: keeping.late,
        skipped: keeping.skipped,
        gap_nanoseconds: quantile(0.01)
            .zip(quantile(0.5))
            .zip(quantile(0.99))
            .map(|((low, middle), high)| [low, middle, high]),
        gaps_within_a_tenth: keeping
            .gaps
            .share_within((0.9 * gap).ceil() as u64, (1.1 * gap) as u64),
    }
}

/// How long before its time a sleep has to end, so that spinning does the rest.
fn sleep_margin() -> Duration {
    const ASKED: Duration = Duration::from_micros(100);
    const RESERVE: Duration = Duration::from_micros(60);
    median_nap(ASKED).saturating_sub(ASKED) + RESERVE
}

/// Sleeps while there is time for it, then leaves it to the loop to look at the clock.
struct SleepThenSpin<'a> {
    margin: u64,
    stopwatch: &'a Stopwatch,
    began: Reading,
}

impl sender::Waiting for SleepThenSpin<'_> {
    fn wait(&mut self, due: u64, now: u64) {
        // Both pacing clocks are on CLOCK_MONOTONIC's time line, which sleeps go by.
        if due - now > self.margin {
            nap::nap_until(due - self.margin);
        } else {
            std::hint::spin_loop();
        }
    }

    fn stopwatch(&mut self) -> u64 {
        self.stopwatch
            .between(self.began, self.stopwatch.read())
            .as_nanos() as u64
    }
}
