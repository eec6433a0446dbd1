//! Identities: hashes of what is known beforehand, random bits for what happened.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

macro_rules! identity {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// The identity as lower-case hexadecimal digits.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }

        /// Takes back what was printed; anything else than hexadecimal digits is refused.
        impl FromStr for $name {
            type Err = ();

            fn from_str(text: &str) -> Result<Self, ()> {
                let hexadecimal =
                    |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
                if !text.is_empty() && text.len() <= 64 && text.bytes().all(hexadecimal) {
                    Ok(Self(text.to_owned()))
                } else {
                    Err(())
                }
            }
        }
    };
}

identity! {
    /// What was asked for: the canonical content of an experiment and the machine it is for.
    RequestId
}
identity! {
    /// One carrying out of a request.
    ExperimentId
}
identity! {
    /// A planned cell of an experiment: known before anything has run.
    RunId
}
identity! {
    /// One execution of a run: random, so that two stores can be merged.
    AttemptId
}

/// The first `digits` hexadecimal digits of the SHA-256 of the parts, each preceded by its
/// length so that no two lists of parts share a hash.
fn digest(digits: usize, parts: &[&[u8]]) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    hasher
        .finalize()
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .take(digits)
        .map(|digit| char::from(b"0123456789abcdef"[usize::from(digit)]))
        .collect()
}

impl RequestId {
    /// The request for an experiment of this canonical content on this machine.
    pub fn of(canonical_content: &str, machine_id: &str) -> Self {
        Self(digest(
            64,
            &[canonical_content.as_bytes(), machine_id.as_bytes()],
        ))
    }
}

impl ExperimentId {
    /// A carrying out of a request, told apart by random bits.
    pub fn of(request: &RequestId, random: [u8; 16]) -> Self {
        Self(digest(12, &[request.as_str().as_bytes(), &random]))
    }
}

impl RunId {
    /// The cell of an experiment at this block, boot and treatment. Warm-up runs have an index
    /// of their own and never share an id with the run they warm up for.
    pub fn of(
        experiment: &ExperimentId,
        block: usize,
        boot: usize,
        treatment: usize,
        warmup: Option<u32>,
    ) -> Self {
        let cell = format!("{block}/{boot}/{treatment}/{warmup:?}");
        Self(digest(
            24,
            &[experiment.as_str().as_bytes(), cell.as_bytes()],
        ))
    }
}

impl AttemptId {
    /// An attempt of 128 random bits.
    pub fn from_random(random: [u8; 16]) -> Self {
        Self(
            random
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect::<String>(),
        )
    }
}

/// The SHA-256 of a text, in hexadecimal digits: what names the bytes of an experiment file.
pub fn sha256(text: &str) -> String {
    Sha256::digest(text.as_bytes())
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_of_a_known_text_is_known() {
        assert_eq!(
            sha256("abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }

    #[test]
    fn parts_do_not_run_together() {
        assert_ne!(RequestId::of("ab", "c"), RequestId::of("a", "bc"));
    }

    #[test]
    fn a_run_and_its_warm_up_differ() {
        let experiment = ExperimentId::of(&RequestId::of("a", "b"), [0; 16]);
        let run = RunId::of(&experiment, 0, 0, 1, None);
        assert_ne!(run, RunId::of(&experiment, 0, 0, 1, Some(0)));
        assert_eq!(run, RunId::of(&experiment, 0, 0, 1, None));
        assert_eq!(run.to_string().parse(), Ok(run));
    }
}
