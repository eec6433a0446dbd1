//! Datagrams to the end that asks.

use super::*;

#[test]
fn what_comes_back_is_counted_where_it_was_asked_for() {
    let sizes = [0, 15, 64, 1473];
    let (receiver, events) = serving(sizes.len() as u64, None);
    for size in sizes {
        let ends = send(&request(receiver, size, 50), Direction::Reverse, &|_| {}).unwrap();
        assert_eq!(ends.direction, Direction::Reverse);
        assert_eq!((ends.sent, ends.received, ends.lost), (50, 50, 0), "{size}");
        let Event::Served {
            direction,
            sent,
            received,
            ..
        } = events.recv().unwrap()
        else {
            panic!("it was dropped");
        };
        assert_eq!((direction, sent, received), (Direction::Reverse, 50, 50));
    }
}

#[test]
fn delays_of_what_comes_back_are_by_the_other_clock() {
    let (receiver, _events) = serving(1, None);
    let mut request = request(receiver, 64, 100);
    request.delays = true;
    request
        .parameters
        .insert("rate".to_owned(), Value::PacketRate(5_000.0));
    let ends = send(&request, Direction::Reverse, &|_| {}).unwrap();
    let offset = ends.offset.unwrap();
    assert!(offset.nanoseconds.unsigned_abs() <= offset.uncertainty_nanoseconds);
    assert_eq!(ends.one_way.unwrap().total(), ends.received);
}

#[test]
fn what_is_asked_for_twice_and_differently_is_refused() {
    let (receiver, _events) = serving(1, None);
    let mut start = start(Direction::Reverse);
    start.sending = Some(request(receiver, 65, 10).parameters);
    let (_stream, answer) = asked(receiver, start);
    assert!(
        matches!(answer, message::Message::Refused { .. }),
        "{answer:?}"
    );
}
