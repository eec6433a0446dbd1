//! What holds whichever way datagrams go, and both at once.

use super::*;

#[test]
fn both_ways_at_once_are_two_results() {
    let (receiver, _events) = serving(2, None);
    let mut request = request(receiver, 64, 100);
    request
        .parameters
        .insert("rate".to_owned(), Value::PacketRate(2_000.0));
    let [forward, reverse] = send_both_ways(&request, &|_| {}).unwrap();
    assert_eq!(forward.direction, Direction::Forward);
    assert_eq!(reverse.direction, Direction::Reverse);
    for ends in [forward, reverse] {
        assert_eq!(ends.sent, 100);
        assert_eq!(ends.received + ends.lost, 100);
    }
}

#[test]
fn numbers_run_on_over_31_and_32_bits_between_two_ends() {
    let (receiver, _events) = serving(4, None);
    for first in [(1i64 << 31) - 10, (1 << 32) - 10] {
        for direction in [Direction::Forward, Direction::Reverse] {
            let mut request = request(receiver, 64, 100);
            request
                .parameters
                .insert("first_number".to_owned(), Value::Integer(first));
            let ends = send(&request, direction, &|_| {}).unwrap();
            assert_eq!((ends.sent, ends.received), (100, 100), "{first}");
            assert_eq!(ends.order, Some((0, 0)), "{first}");
        }
    }
}
