//! Who held a result down: the sender, the receiver, the link or the pacer. Pure.

use knobstat_data::observation::Limit;

/// What the decision depends on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    /// Datagrams sent.
    pub sent: u64,
    /// Datagrams dropped at the receiver's full buffer: by its socket's own count, or the
    /// namespace's where the kernel does not tell the former.
    pub receiver_drops: u64,
    /// The share of its time that the receiver was busy, 0 to 1.
    pub receiver_busy: f64,
    /// Datagrams that were sent and did not arrive, for whatever reason.
    pub lost: u64,
    /// Packets that an interface on the way dropped.
    pub interface_drops: u64,
    /// How often the kernel had no room for a datagram on its way out.
    pub refusals: u64,
    /// The share of its time that the sender was busy, 0 to 1.
    pub sender_busy: f64,
    /// The asked rate and the one that was sent at, in datagrams a second.
    pub pacing: Option<Pace>,
}

/// What a pacer was asked and what it did.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// The asked rate.
    pub asked: f64,
    /// The rate that was sent at.
    pub sent: f64,
}

/// A loss at the receiver's buffer from this share on is the receiver's verdict: it would show in
/// the third digit of a throughput.
const TELLING_SHARE: f64 = 0.001;

/// A rate this close to the asked one was kept.
const KEPT: f64 = 0.99;

/// A sender that was busy for less than this share waited for something; together with refusals
/// on the way out that is the link.
const BUSY: f64 = 0.9;

/// Whether a receiver dropped so many of what was sent that a rate says nothing of the sender.
pub(super) fn receiver_was_the_limit(sent: u64, drops: Option<u64>) -> bool {
    drops.unwrap_or(0) as f64 > sent as f64 * TELLING_SHARE
}

impl Seen {
    /// Who the limit was.
    ///
    /// The receiver comes first: whatever the sender did, what the receiver dropped was there to
    /// be received. What was lost otherwise was lost on the way. A pacer that kept its rate comes next. The 2007 loop on a coarse clock keeps
    /// no rate: what its clock does to it is the sender's own doing, and the thing under test.
    pub(super) fn limit(&self) -> Limit {
        let telling = |count: u64| count as f64 > self.sent as f64 * TELLING_SHARE;
        if receiver_was_the_limit(self.sent, Some(self.receiver_drops)) {
            return Limit::Receiver;
        }
        if telling(self.lost_on_the_way()) {
            return Limit::Link;
        }
        if self
            .pacing
            .is_some_and(|pace| pace.sent >= pace.asked * KEPT)
        {
            return Limit::Pacer;
        }
        if telling(self.refusals) && self.sender_busy < BUSY {
            return Limit::Link;
        }
        Limit::Sender
    }

    /// Datagrams that reached no buffer of the receiver's.
    fn lost_on_the_way(&self) -> u64 {
        self.lost.saturating_sub(self.receiver_drops)
    }

    /// In a sentence, for the notes of a run, where a reader must know it.
    pub(super) fn sentence(&self) -> Option<String> {
        let percent = |count: u64| 100.0 * count as f64 / self.sent.max(1) as f64;
        match self.limit() {
            Limit::Receiver => Some(format!(
                "the receiver was the limit: its buffer was full for {:.2} % of the datagrams \
                 sent; it was busy for {:.0} % of the time",
                percent(self.receiver_drops),
                100.0 * self.receiver_busy
            )),
            Limit::Link if self.lost_on_the_way() > self.refusals => Some(format!(
                "the link was the limit: {:.2} % of the datagrams were lost on the way, {} of them \
                 at the interfaces of the two ends",
                percent(self.lost_on_the_way()),
                self.interface_drops.min(self.lost_on_the_way())
            )),
            Limit::Link => Some(format!(
                "the link was the limit: there was no room for {} datagrams on the way out",
                self.refusals
            )),
            Limit::Pacer | Limit::Sender => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FREE: Seen = Seen {
        sent: 100_000,
        receiver_drops: 0,
        receiver_busy: 0.3,
        lost: 0,
        interface_drops: 0,
        refusals: 0,
        sender_busy: 1.0,
        pacing: None,
    };

    fn pace(asked: f64, sent: f64) -> Option<Pace> {
        Some(Pace { asked, sent })
    }

    #[test]
    fn an_unpaced_run_without_losses_is_the_senders() {
        assert_eq!(FREE.limit(), Limit::Sender);
        assert_eq!(FREE.sentence(), None);
    }

    #[test]
    fn what_the_receiver_dropped_makes_it_the_limit_whatever_the_pacer_did() {
        let dropping = Seen {
            receiver_drops: 101,
            pacing: pace(1000.0, 1000.0),
            ..FREE
        };
        assert_eq!(dropping.limit(), Limit::Receiver);
        assert!(dropping.sentence().unwrap().contains("0.10 %"));
        let hardly = Seen {
            receiver_drops: 100,
            ..FREE
        };
        assert_eq!(hardly.limit(), Limit::Sender);
    }

    #[test]
    fn a_kept_rate_is_the_pacers_and_a_missed_one_the_senders() {
        assert_eq!(
            Seen {
                pacing: pace(1000.0, 995.0),
                ..FREE
            }
            .limit(),
            Limit::Pacer
        );
        assert_eq!(
            Seen {
                pacing: pace(1000.0, 513.0),
                ..FREE
            }
            .limit(),
            Limit::Sender
        );
    }

    #[test]
    fn what_was_lost_and_not_dropped_by_the_receiver_was_lost_on_the_way() {
        let losing = Seen {
            lost: 2_000,
            receiver_drops: 50,
            interface_drops: 1_000,
            pacing: pace(1000.0, 1000.0),
            ..FREE
        };
        assert_eq!(losing.limit(), Limit::Link);
        let sentence = losing.sentence().unwrap();
        assert!(sentence.contains("1.95 %"), "{sentence}");
        assert!(sentence.contains("1000 of them"), "{sentence}");
        let at_the_receiver = Seen {
            receiver_drops: 2_000,
            ..losing
        };
        assert_eq!(at_the_receiver.limit(), Limit::Receiver);
        assert!(receiver_was_the_limit(1000, Some(2)));
        assert!(!receiver_was_the_limit(1000, Some(1)));
        assert!(!receiver_was_the_limit(0, None));
    }

    #[test]
    fn refusals_on_the_way_out_are_the_links_where_the_sender_waited() {
        let waiting = Seen {
            refusals: 5_000,
            sender_busy: 0.5,
            ..FREE
        };
        assert_eq!(waiting.limit(), Limit::Link);
        assert_eq!(
            Seen {
                sender_busy: 1.0,
                ..waiting
            }
            .limit(),
            Limit::Sender
        );
    }
}
