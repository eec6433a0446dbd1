//! Datagrams from the end that asks.

use super::*;

#[test]
fn both_ends_agree_on_what_was_sent_at_every_size() {
    let sizes = [0, 1, 15, 1472, 1473, 65_507];
    let (receiver, _events) = serving(sizes.len() as u64, None);
    for size in sizes {
        let ends = sent(receiver, size, 10);
        assert_eq!((ends.sent, ends.received + ends.lost), (10, 10), "{size}");
        // Ten of the largest are more than an ordinary user's buffer holds.
        if size <= 1473 {
            assert_eq!(ends.lost, 0, "{size}");
        }
        assert_eq!(ends.order.is_some(), size >= 8);
        assert_eq!(ends.class, 'A');
    }
}

#[test]
fn several_senders_get_a_result_of_their_own_each() {
    let (receiver, events) = serving(3, None);
    let senders: Vec<_> = [100, 200, 300]
        .map(|count| thread::spawn(move || sent(receiver, 64, count)))
        .into_iter()
        .collect();
    for (sender, count) in senders.into_iter().zip([100, 200, 300]) {
        let ends = sender.join().unwrap();
        assert_eq!(ends.sent, count);
        assert_eq!(ends.received + ends.lost, count);
    }
    for _ in 0..3 {
        assert!(matches!(events.recv().unwrap(), Event::Served { .. }));
    }
}

#[test]
fn delays_come_with_an_offset_and_its_uncertainty() {
    let (receiver, _events) = serving(1, None);
    let mut request = request(receiver, 64, 200);
    request.delays = true;
    request
        .parameters
        .insert("rate".to_owned(), Value::PacketRate(10_000.0));
    let ends = send(&request, Direction::Forward, &|_| {}).unwrap();
    let offset = ends.offset.unwrap();
    // One machine has one clock.
    assert!(offset.nanoseconds.unsigned_abs() <= offset.uncertainty_nanoseconds);
    assert_eq!(ends.one_way.unwrap().total(), ends.received);
    assert_eq!(ends.gaps.unwrap().total(), ends.received - 1);
    assert!(ends.round_trip.quantile(0.5).unwrap() > 0);
}
