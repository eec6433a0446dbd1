//! Whether a receiver that finds its queue empty naps or spins.
//!
//! A receiver that sleeps per datagram costs its sender an interrupt each time; one that naps for
//! a while and then drains what has come costs next to none, as long as its buffer holds what
//! comes during a nap. How long a nap really is depends on the machine (with high-resolution
//! timers off a nap of 200 µs is a tick), and so does the buffer that was granted.

use std::time::Duration;

/// What the decision depends on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Facts {
    /// How long a nap was measured to be.
    pub nap: Duration,
    /// The receive buffer as granted, in bytes as the kernel accounts them.
    pub granted_buffer: u64,
    /// The payload of a datagram in bytes.
    pub packet_size: u64,
    /// Datagrams a second that may come: the asked rate, or more than the sender could do.
    pub packets_per_second: f64,
    /// Whether the sender has the same CPU: spinning would then only keep it away.
    pub shares_cpu: bool,
}

/// What to do when the queue is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Idle {
    /// Sleep for the nap's length.
    Nap,
    /// Look again at once.
    Spin,
}

/// The decision, which may change once: from napping to spinning.
#[derive(Clone, Copy, Debug)]
pub(super) struct NapPolicy {
    /// Half of the granted buffer, in bytes.
    half_buffer: u64,
    spinning: bool,
    shares_cpu: bool,
}

impl NapPolicy {
    /// Spins from the beginning when what comes during a nap exceeds half of the buffer.
    pub(super) fn new(facts: Facts) -> Self {
        let half_buffer = facts.granted_buffer / 2;
        let per_nap =
            facts.nap.as_secs_f64() * facts.packets_per_second * charge(facts.packet_size) as f64;
        Self {
            half_buffer,
            spinning: !facts.shares_cpu && per_nap > half_buffer as f64,
            shares_cpu: facts.shares_cpu,
        }
    }

    /// Takes note of what had come during a nap, in bytes as the kernel accounts them: nap × rate
    /// as it turned out. Naps no more once that was beyond half of the buffer.
    pub(super) fn woke(&mut self, queued: u64) {
        if queued > self.half_buffer && !self.shares_cpu {
            self.spinning = true;
        }
    }

    /// What to do now that the queue is empty.
    pub(super) fn idle(&self) -> Idle {
        if self.spinning { Idle::Spin } else { Idle::Nap }
    }
}

/// The memory that a datagram of this payload takes of the buffer, at most: the kernel charges
/// the allocation (a power of two, with room for headers and its own notes) and its descriptor.
/// Seen on Linux 6.18: 832 B for 64, 2304 B for 1280, 8448 B for 4000.
fn charge(packet_size: u64) -> u64 {
    ((packet_size + 400).next_power_of_two() + 256).max(832)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ORDINARY_BUFFER: u64 = 2 * 212_992;
    const LARGE_BUFFER: u64 = 8 << 20;

    fn facts(nap_microseconds: u64, granted_buffer: u64) -> Facts {
        Facts {
            nap: Duration::from_micros(nap_microseconds),
            granted_buffer,
            packet_size: 64,
            packets_per_second: 250_000.0,
            shares_cpu: false,
        }
    }

    #[test]
    fn with_a_large_buffer_and_fine_timers_it_naps() {
        assert_eq!(NapPolicy::new(facts(260, LARGE_BUFFER)).idle(), Idle::Nap);
    }

    #[test]
    fn a_nap_of_a_tick_or_two_spins_where_the_buffer_is_ordinary() {
        assert_eq!(
            NapPolicy::new(facts(4_200, ORDINARY_BUFFER)).idle(),
            Idle::Spin
        );
        assert_eq!(
            NapPolicy::new(facts(260, ORDINARY_BUFFER)).idle(),
            Idle::Nap
        );
    }

    #[test]
    fn naps_that_turn_out_too_long_end_napping_for_good() {
        let mut policy = NapPolicy::new(facts(260, ORDINARY_BUFFER));
        policy.woke(ORDINARY_BUFFER / 2);
        assert_eq!(policy.idle(), Idle::Nap);
        policy.woke(ORDINARY_BUFFER / 2 + 1);
        policy.woke(0);
        assert_eq!(policy.idle(), Idle::Spin);
    }

    #[test]
    fn on_the_senders_own_cpu_it_never_spins() {
        let mut policy = NapPolicy::new(Facts {
            shares_cpu: true,
            ..facts(4_200, ORDINARY_BUFFER)
        });
        policy.woke(u64::MAX);
        assert_eq!(policy.idle(), Idle::Nap);
    }

    proptest! {
        #[test]
        fn what_naps_has_room_for_a_nap_in_half_its_buffer(
            nap in 1u64..20_000,
            granted_buffer in 2_048u64..LARGE_BUFFER,
            packet_size in 0u64..65_508,
            packets_per_second in 0.1f64..5e6,
        ) {
            let facts = Facts { packet_size, packets_per_second, ..facts(nap, granted_buffer) };
            if NapPolicy::new(facts).idle() == Idle::Nap {
                let per_nap = facts.nap.as_secs_f64() * packets_per_second;
                prop_assert!(per_nap * charge(packet_size) as f64 <= granted_buffer as f64 / 2.0);
            }
        }
    }
}
