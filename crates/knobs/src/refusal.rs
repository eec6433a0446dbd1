//! Messages of this crate as refusals: a cause and a remedy.

use knobstat_data::messages::{Refusal, RefusalKind};

/// A message of this crate, cause and remedy parted by its last semicolon, as a refusal.
pub fn refusal(kind: RefusalKind, message: &str) -> Refusal {
    match message.rsplit_once("; ") {
        Some((cause, remedy)) => Refusal {
            kind,
            cause: cause.to_owned(),
            remedy: remedy.to_owned(),
        },
        None => refusal_without_remedy(kind, message),
    }
}

/// A message that names no remedy, as a refusal.
pub fn refusal_without_remedy(kind: RefusalKind, message: &str) -> Refusal {
    Refusal {
        kind,
        cause: message.to_owned(),
        remedy: "`knobstat knobs` shows what this machine can take".to_owned(),
    }
}
