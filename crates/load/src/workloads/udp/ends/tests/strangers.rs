//! Peers that are not what they should be, and what the receiver lets none of them do.

use std::io::{Read, Write};

use super::*;

#[test]
fn a_receiver_with_a_token_refuses_whoever_does_not_know_it() {
    let (receiver, _events) = serving(3, Some(token("the right token\n")));
    let stranger = send(&request(receiver, 64, 10), Direction::Forward, &|_| {}).unwrap_err();
    assert!(matches!(stranger, EndsError::TokenWanted), "{stranger}");
    let mut wrong = request(receiver, 64, 10);
    wrong.token = Some(token("the wrong token"));
    let refused = send(&wrong, Direction::Forward, &|_| {}).unwrap_err();
    assert!(matches!(refused, EndsError::Refused(_)), "{refused}");
    wrong.token = Some(token("the right token"));
    assert_eq!(
        send(&wrong, Direction::Forward, &|_| {}).unwrap().received,
        10
    );
}

#[test]
fn a_claim_of_four_gigabytes_ends_the_session_and_no_other() {
    let (receiver, events) = serving(2, None);
    let mut stream = TcpStream::connect(receiver).unwrap();
    stream.write_all(b"knu1\xff\xff\xff\xff").unwrap();
    assert_eq!(stream.read(&mut [0; 16]).unwrap_or(0), 0, "it was answered");
    let Event::Dropped { reason, .. } = events.recv().unwrap() else {
        panic!("it was served");
    };
    assert!(reason.contains("4294967295"), "{reason}");
    assert_eq!(sent(receiver, 64, 10).received, 10);
}

#[test]
fn a_strangers_datagrams_are_neither_answered_nor_counted() {
    let (receiver, _events) = serving(1, None);
    let mut by_hand = ByHand::accepted(receiver);
    let to = ("127.0.0.1", by_hand.port);
    let stranger = UdpSocket::bind("127.0.0.1:0").unwrap();
    stranger.set_nonblocking(true).unwrap();
    let mut wrong = by_hand.introduction();
    wrong.cookie[0] ^= 1;
    stranger.send_to(&wrong.encode(), to).unwrap();
    stranger.send_to(&[0; 64], to).unwrap();
    let own = by_hand.introduced();
    by_hand.begin();
    stranger.send_to(&[0; 64], to).unwrap();
    for number in 0..3u64 {
        let mut payload = [0; 64];
        payload[..8].copy_from_slice(&number.to_be_bytes());
        own.send(&payload).unwrap();
    }
    by_hand.say(&done(&[3]));
    let message::Message::Outcome(outcome) = by_hand.hear() else {
        panic!("no outcome");
    };
    assert_eq!((outcome.received, outcome.lost, outcome.strays), (3, 0, 0));
    assert!(stranger.recv(&mut [0; 100]).is_err(), "it was answered");
}

#[test]
fn counts_whose_sum_there_is_not_end_the_session() {
    for by_flow in [&[][..], &[1, 1], &[u64::MAX, 1]] {
        let (receiver, events) = serving(1, None);
        let mut by_hand = ByHand::accepted(receiver);
        let _own = by_hand.introduced();
        by_hand.begin();
        by_hand.say(&done(by_flow));
        let event = events.recv().unwrap();
        assert!(matches!(event, Event::Dropped { .. }), "{event:?}");
    }
    let of_two = |by_flow: &[u64]| {
        let message::Message::Done(sending) = done(by_flow) else {
            panic!("it is another message");
        };
        sending.is_of_flows(2)
    };
    assert!(of_two(&[u64::MAX - 1, 1]));
    assert!(!of_two(&[u64::MAX, 1]));
}

#[test]
fn one_sender_too_many_hears_why() {
    let (receiver, events) = serving(5, None);
    let held: Vec<TcpStream> = (0..4)
        .map(|_| TcpStream::connect(receiver).unwrap())
        .collect();
    let refused = send(&request(receiver, 64, 10), Direction::Forward, &|_| {}).unwrap_err();
    assert!(refused.to_string().contains("as many senders"), "{refused}");
    assert!(matches!(events.recv().unwrap(), Event::Dropped { .. }));
    drop(held);
    for _ in 0..4 {
        assert!(matches!(events.recv().unwrap(), Event::Dropped { .. }));
    }
    assert_eq!(sent(receiver, 64, 10).received, 10);
}

#[test]
fn a_sender_that_falls_silent_is_dropped() {
    let (receiver, events) = serving_for("127.0.0.1:0", 1, None, Duration::from_secs(2));
    let mut by_hand = ByHand::accepted(receiver);
    let _own = by_hand.introduced();
    by_hand.begin();
    // Connected, and never heard of again.
    let Event::Dropped { reason, .. } = events.recv().unwrap() else {
        panic!("it was served");
    };
    assert!(reason.contains("silent"), "{reason}");
}

#[test]
fn a_sender_that_dies_is_dropped_and_the_next_one_served() {
    let (receiver, events) = serving(2, None);
    let by_hand = ByHand::accepted(receiver);
    let _own = by_hand.introduced();
    drop(by_hand);
    assert!(matches!(events.recv().unwrap(), Event::Dropped { .. }));
    assert_eq!(sent(receiver, 64, 10).received, 10);
}
