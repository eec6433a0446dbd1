//! The receiver's end: several senders at once, each in a session of its own, none of which can
//! hold more than its share.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use super::message::Direction;
use super::session;
use super::token::Token;
use super::{EndsError, system};

/// How to serve.
#[derive(Clone, Debug)]
pub struct Serving {
    /// Where to listen.
    pub listen: SocketAddr,
    /// What a sender has to know.
    pub token: Option<Token>,
    /// The most senders at once.
    pub most_senders: usize,
    /// The most of them at one address.
    pub most_per_address: usize,
    /// After so long without a sign of life a sender is dropped.
    pub idle: Duration,
    /// After so many senders were served the end; never where absent.
    pub senders: Option<u64>,
    /// The CPU that datagrams are received on; any where absent.
    pub cpu: Option<u32>,
}

/// What happens meanwhile.
#[derive(Clone, Debug)]
pub enum Event {
    /// Senders can come.
    Listening(SocketAddr),
    /// A peer was served: datagrams sent, received and lost.
    Served {
        /// The peer.
        peer: SocketAddr,
        /// Which way they went.
        direction: Direction,
        /// Datagrams that were sent.
        sent: u64,
        /// Datagrams that arrived.
        received: u64,
        /// Datagrams that did not.
        lost: u64,
        /// Whether this receiver was the limit.
        receiver_was_the_limit: bool,
    },
    /// A sender was not served, or not to its end.
    Dropped {
        /// The sender.
        peer: SocketAddr,
        /// Why, in one sentence.
        reason: String,
    },
}

/// The senders that are being served, by their address.
#[derive(Default)]
struct Present(Mutex<HashMap<IpAddr, usize>>);

impl Present {
    fn senders(&self) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
        // A count is a count, whatever happened to the thread that held it.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many there are with one more from an address; nothing where that is too many.
    fn admits(&self, peer: IpAddr, serving: &Serving) -> Option<usize> {
        let mut senders = self.senders();
        let all: usize = senders.values().sum();
        let same = senders.get(&peer).copied().unwrap_or(0);
        let fits = all < serving.most_senders && same < serving.most_per_address;
        fits.then(|| {
            senders.insert(peer, same + 1);
            all + 1
        })
    }

    fn leaves(&self, peer: IpAddr) {
        let mut senders = self.senders();
        match senders.get_mut(&peer) {
            Some(count) if *count > 1 => *count -= 1,
            _ => {
                senders.remove(&peer);
            }
        }
    }
}

/// Serves senders, each in a thread of its own; tells what happens.
///
/// # Errors
/// When it cannot listen.
pub fn serve(serving: &Serving, tell: &(dyn Fn(Event) + Sync)) -> Result<(), EndsError> {
    let listener = TcpListener::bind(serving.listen)
        .map_err(system("the receiver cannot listen; is the address free?"))?;
    let own = listener.local_addr().map_err(system("no own address"))?;
    tell(Event::Listening(own));
    let present = Present::default();
    thread::scope(|scope| {
        let mut accepted = 0;
        while serving.senders.is_none_or(|most| accepted < most) {
            let (mut stream, peer) = match listener.accept() {
                Ok(accepted) => accepted,
                // One that went away before it was looked at, or too many descriptors for now.
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => {
                    thread::sleep(Duration::from_millis(10));
                    continue;
                }
            };
            let place = peer.ip().to_canonical();
            let Some(count) = present.admits(place, serving) else {
                let reason = "there are as many senders as are allowed".to_owned();
                // A few bytes into an empty buffer: this does not wait for anybody.
                let refused = session::refuse(&mut stream, reason);
                tell(Event::Dropped {
                    peer,
                    reason: refused.to_string(),
                });
                continue;
            };
            accepted += 1;
            let present = &present;
            let session = move || {
                tell(hold(stream, peer, serving, count));
                present.leaves(place);
            };
            if let Err(error) = thread::Builder::new().spawn_scoped(scope, session) {
                present.leaves(place);
                let reason = format!("no thread can be started ({error})");
                tell(Event::Dropped { peer, reason });
            }
        }
    });
    Ok(())
}

fn hold(stream: TcpStream, peer: SocketAddr, serving: &Serving, present: usize) -> Event {
    match session::hold(stream, peer, serving, present) {
        Ok(summary) => Event::Served {
            peer,
            direction: summary.direction,
            sent: summary.sent,
            received: summary.received,
            lost: summary.lost,
            receiver_was_the_limit: summary.receiver_was_the_limit,
        },
        Err(error) => Event::Dropped {
            peer,
            reason: error.to_string(),
        },
    }
}
