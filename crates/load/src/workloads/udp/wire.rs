//! What a datagram carries: its number, in the first eight bytes of its payload, most significant
//! byte first; where delays are asked for, the time of its sending in the next eight, in
//! nanoseconds of CLOCK_REALTIME. The rest is zeros. A datagram too small for a number carries
//! nothing.

use std::time::{SystemTime, UNIX_EPOCH};

/// The smallest payload that carries a number.
pub(super) const SMALLEST_NUMBERED: usize = size_of::<u64>();

/// The smallest payload that carries a number and a time.
pub(super) const SMALLEST_TIMED: usize = 2 * SMALLEST_NUMBERED;

/// What is written into datagrams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Contents {
    /// Whether the time of sending goes with the number.
    pub times: bool,
}

impl Contents {
    /// Writes what there is room for.
    #[inline]
    pub(super) fn write(self, payload: &mut [u8], number: u64) {
        write_number(payload, number);
        if self.times
            && let Some(field) = payload.get_mut(SMALLEST_NUMBERED..SMALLEST_TIMED)
        {
            field.copy_from_slice(&realtime().to_be_bytes());
        }
    }
}

/// CLOCK_REALTIME in nanoseconds: the clock that the kernel stamps arrivals with.
pub(super) fn realtime() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_nanos() as u64)
}

/// Writes a datagram's number where it has room for one.
#[inline]
pub(super) fn write_number(payload: &mut [u8], number: u64) {
    if let Some(field) = payload.first_chunk_mut() {
        *field = number.to_be_bytes();
    }
}

/// The number of a datagram; absent where it is too small for one.
#[inline]
pub(super) fn read_number(payload: &[u8]) -> Option<u64> {
    payload.first_chunk().copied().map(u64::from_be_bytes)
}

/// The time of sending; absent where it is too small for one.
pub(super) fn read_time(payload: &[u8]) -> Option<u64> {
    read_number(payload.get(SMALLEST_NUMBERED..)?)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_number_survives_the_wire_beyond_32_bits() {
        let mut payload = [0; 15];
        for number in [0, 1, u64::from(u32::MAX) + 1, u64::MAX] {
            write_number(&mut payload, number);
            assert_eq!(read_number(&payload), Some(number));
        }
    }

    #[test]
    fn a_datagram_too_small_for_a_number_is_left_alone() {
        let mut payload = [9; SMALLEST_NUMBERED - 1];
        write_number(&mut payload, 5);
        assert_eq!(payload, [9; SMALLEST_NUMBERED - 1]);
        assert_eq!(read_number(&payload), None);
        assert_eq!(read_number(&[]), None);
    }

    proptest! {
        #[test]
        fn whatever_arrives_is_read_or_absent(payload in proptest::collection::vec(any::<u8>(), 0..40)) {
            prop_assert_eq!(read_number(&payload).is_some(), payload.len() >= SMALLEST_NUMBERED);
            prop_assert_eq!(read_time(&payload).is_some(), payload.len() >= SMALLEST_TIMED);
            let mut written = payload.clone();
            Contents { times: true }.write(&mut written, 7);
            prop_assert_eq!(written.len(), payload.len());
        }
    }
}
