//! What a receiver has seen of a flow.

use super::delay::Delays;
use super::order::Order;
use super::wire::{SMALLEST_NUMBERED, read_number, read_time};

/// One flow's account.
pub(super) struct FlowSeen {
    /// Datagrams of the run's size that arrived.
    pub datagrams: u64,
    /// The buffers that they came in.
    pub buffers: u64,
    /// Datagrams of another size, which are none of the run's.
    pub strays: u64,
    /// Their accounting by number; absent where they were too small for one.
    pub order: Option<Order>,
    /// Their gaps and delays, where the kernel tells when each arrived.
    pub delays: Option<Box<Delays>>,
    packet_size: usize,
}

impl FlowSeen {
    /// An empty account for datagrams of a size, numbered from `first`.
    pub(super) fn new(packet_size: usize, first: u64, delays: Option<Delays>) -> Self {
        Self {
            datagrams: 0,
            buffers: 0,
            strays: 0,
            order: (packet_size >= SMALLEST_NUMBERED).then(|| Order::starting_at(first)),
            delays: delays.map(Box::new),
            packet_size,
        }
    }

    /// Their payload in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.datagrams * self.packet_size as u64
    }

    /// Takes one datagram into account: its beginning, its length, and when it arrived by the
    /// kernel's CLOCK_REALTIME, where that is known.
    #[inline]
    pub(super) fn datagram(&mut self, bytes: &[u8], length: usize, arrived: Option<u64>) {
        if length != self.packet_size {
            self.strays += 1;
            return;
        }
        self.datagrams += 1;
        if let Some(order) = &mut self.order
            && let Some(number) = read_number(bytes)
        {
            order.arrived(number);
        }
        if let (Some(delays), Some(arrived)) = (&mut self.delays, arrived) {
            delays.arrived(arrived, read_time(bytes));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_of_another_size_is_none_of_the_runs() {
        let mut seen = FlowSeen::new(8, 0, None);
        seen.datagram(&0u64.to_be_bytes(), 8, None);
        seen.datagram(&[0; 7], 7, None);
        seen.datagram(&[0; 8], 9, None);
        assert_eq!((seen.datagrams, seen.bytes(), seen.strays), (1, 8, 2));
    }

    #[test]
    fn the_first_datagram_only_seeds_the_gaps() {
        let mut seen = FlowSeen::new(16, 0, Some(Delays::new(true, 0)));
        let mut payload = [0; 16];
        for (number, sent, arrived) in [(0u64, 100u64, 150u64), (1, 200, 290)] {
            payload[..8].copy_from_slice(&number.to_be_bytes());
            payload[8..].copy_from_slice(&sent.to_be_bytes());
            seen.datagram(&payload, 16, Some(arrived));
        }
        let delays = seen.delays.unwrap();
        assert_eq!(delays.gaps.total(), 1);
        assert_eq!(delays.gaps.quantile(0.5), Some(140));
        assert_eq!(delays.one_way.unwrap().total(), 2);
    }
}
