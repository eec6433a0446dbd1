//! What a datagram carries: its number, in the first eight bytes of its payload, most significant
//! byte first. The rest is zeros. A datagram too small for a number carries nothing.

/// The smallest payload that carries a number.
pub(super) const SMALLEST_NUMBERED: usize = size_of::<u64>();

/// Writes a datagram's number where it has room for one.
pub(super) fn write_number(payload: &mut [u8], number: u64) {
    if let Some(field) = payload.first_chunk_mut() {
        *field = number.to_be_bytes();
    }
}

/// The number of a datagram; absent where it is too small for one.
pub(super) fn read_number(payload: &[u8]) -> Option<u64> {
    payload.first_chunk().copied().map(u64::from_be_bytes)
}

#[cfg(test)]
mod tests {
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
}
