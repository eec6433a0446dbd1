//! The datagrams before the measured ones: each flow introduces itself by the cookie that only
//! the peer of the control connection was told, and the clocks are compared.

use super::message::Nonce;

/// What such a datagram begins with.
const MAGIC: [u8; 8] = *b"knobstat";

/// The length of each of them: an answer is never longer than what it answers.
pub(super) const LENGTH: usize = 64;

/// A datagram before the measured ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Introduction {
    /// The cookie.
    pub cookie: Nonce,
    /// Which of them it is; an answer has the number of its question.
    pub number: u64,
    /// In an answer: when the question arrived, and when the answer went, by the receiver's
    /// CLOCK_REALTIME in nanoseconds.
    pub times: [u64; 2],
}

impl Introduction {
    pub(super) fn encode(&self) -> [u8; LENGTH] {
        let mut bytes = [0; LENGTH];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..24].copy_from_slice(&self.cookie);
        bytes[24..32].copy_from_slice(&self.number.to_be_bytes());
        bytes[32..40].copy_from_slice(&self.times[0].to_be_bytes());
        bytes[40..48].copy_from_slice(&self.times[1].to_be_bytes());
        bytes
    }

    /// What arrived; nothing where it is none, or has another cookie.
    pub(super) fn decode(bytes: &[u8], cookie: &Nonce) -> Option<Self> {
        let bytes: &[u8; LENGTH] = bytes.try_into().ok()?;
        let word = |at: usize| {
            let word = bytes.get(at..at + 8).and_then(|word| word.try_into().ok());
            word.map(u64::from_be_bytes)
        };
        if bytes[..8] != MAGIC || bytes[8..24] != *cookie {
            return None;
        }
        Some(Self {
            cookie: *cookie,
            number: word(24)?,
            times: [word(32)?, word(40)?],
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_survives_the_wire(cookie: [u8; 16], number: u64, times: [u64; 2]) {
            let sent = Introduction { cookie, number, times };
            prop_assert_eq!(Introduction::decode(&sent.encode(), &cookie), Some(sent));
        }

        #[test]
        fn a_strangers_bytes_are_none(
            bytes in proptest::collection::vec(any::<u8>(), 0..100),
            cookie: [u8; 16],
        ) {
            prop_assert_eq!(Introduction::decode(&bytes, &cookie), None);
        }

        #[test]
        fn another_cookie_is_none(cookie: [u8; 16], place in 0usize..16) {
            let sent = Introduction { cookie, number: 1, times: [0; 2] };
            let mut other = cookie;
            other[place] ^= 1;
            prop_assert_eq!(Introduction::decode(&sent.encode(), &other), None);
        }
    }
}
