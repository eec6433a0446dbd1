//! Why a run could not be done.

use std::io;

use thiserror::Error;

use super::outlet::OutletError;
use super::placement::PlacementError;

/// Why a run could not be done.
#[derive(Debug, Error)]
pub(super) enum RunError {
    /// A CPU that cannot be had.
    #[error(transparent)]
    Placement(#[from] PlacementError),
    /// A system call around the run failed.
    #[error("{what}: {source}")]
    System {
        what: &'static str,
        source: io::Error,
    },
    /// What goes whole does not fit the route.
    #[error(
        "a datagram of {size} bytes does not fit the route whole, and method = \"{method}\" makes \
         no fragments: packet_size may be up to {most}, or choose \"sendmmsg\""
    )]
    TooLarge {
        method: &'static str,
        size: usize,
        most: u64,
    },
    /// The sender failed.
    #[error(transparent)]
    Outlet(#[from] OutletError),
    /// The time was over before the first datagram.
    #[error("nothing was sent within the duration: make it longer")]
    NothingSent,
    /// A thread ended in a way that it should not.
    #[error("the {0}'s thread ended unexpectedly; this is a defect of knobstat")]
    Defect(&'static str),
}

/// A failed system call, told with what it was for.
pub(super) fn system(what: &'static str) -> impl Fn(io::Error) -> RunError {
    move |source| RunError::System { what, source }
}
