//! Proof that the other side knows a shared token, without sending it: HMAC-SHA-256 (RFC 2104)
//! over both sides' numbers.

use std::io;
use std::path::Path;

use sha2::{Digest, Sha256};

use super::message::Nonce;

/// A shared secret.
#[derive(Clone)]
pub struct Token(Vec<u8>);

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(…)")
    }
}

/// The shortest token that is worth having.
const SHORTEST: usize = 8;

impl Token {
    /// Reads one from a file; white space around it does not count.
    ///
    /// # Errors
    /// When the file cannot be read, or holds fewer than eight bytes.
    pub fn read(path: &Path) -> io::Result<Self> {
        let bytes = std::fs::read(path)?;
        let token = bytes.trim_ascii();
        if token.len() < SHORTEST {
            return Err(io::Error::other(format!(
                "a token has at least {SHORTEST} bytes"
            )));
        }
        Ok(Self(token.to_vec()))
    }

    /// The proof for a pair of numbers.
    pub(super) fn proof(&self, sender: &Nonce, receiver: &Nonce) -> [u8; 32] {
        hmac(&self.0, &[&sender[..], &receiver[..]].concat())
    }

    /// Whether a proof is right, in a time that does not tell where it is wrong.
    pub(super) fn accepts(&self, proof: &[u8; 32], sender: &Nonce, receiver: &Nonce) -> bool {
        let right = self.proof(sender, receiver);
        let difference = right.iter().zip(proof).fold(0, |sum, (a, b)| sum | (a ^ b));
        difference == 0
    }
}

fn hmac(key: &[u8], text: &[u8]) -> [u8; 32] {
    const BLOCK: usize = 64;
    let mut block = [0; BLOCK];
    if key.len() > BLOCK {
        block[..32].copy_from_slice(&Sha256::digest(key));
    } else {
        block[..key.len()].copy_from_slice(key);
    }
    let padded = |with: u8| block.map(|byte| byte ^ with);
    let inner = Sha256::new().chain_update(padded(0x36)).chain_update(text);
    let outer = Sha256::new()
        .chain_update(padded(0x5c))
        .chain_update(inner.finalize());
    outer.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hexadecimal(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn the_published_cases_come_out() {
        // RFC 4231, test cases 2 and 6.
        assert_eq!(
            hexadecimal(&hmac(b"Jefe", b"what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
        assert_eq!(
            hexadecimal(&hmac(
                &[0xaa; 131],
                b"Test Using Larger Than Block-Size Key - Hash Key First"
            )),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        );
    }

    #[test]
    fn a_proof_holds_for_its_own_token_and_numbers_alone() {
        let token = Token(b"a shared secret".to_vec());
        let other = Token(b"another secret.".to_vec());
        let proof = token.proof(&[1; 16], &[2; 16]);
        assert!(token.accepts(&proof, &[1; 16], &[2; 16]));
        assert!(!token.accepts(&proof, &[1; 16], &[3; 16]));
        assert!(!other.accepts(&proof, &[1; 16], &[2; 16]));
    }
}
