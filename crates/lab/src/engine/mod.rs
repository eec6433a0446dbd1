//! The engine: a pure function that says what comes next, and a thin loop that does it.
//!
//! [`prepare`] talks to the target only to learn what it is; [`Prepared`] can be looked at
//! (`--check`, the estimate) and dropped with nothing done; [`Prepared::drive`] takes the machine
//! and carries the experiment out.

mod boot_trials;
mod cells;
mod conversation;
pub mod course;
mod drive;
mod ended;
mod error;
mod estimate;
pub mod next;
mod prepare;
mod progress;
mod sound;
mod specify;
mod world;

pub use drive::Means;
pub use ended::{Ended, Finish};
pub use error::EngineError;
pub use estimate::Estimate;
pub use prepare::{Assignment, Prepared, prepare};
pub use progress::{Progress, RunBegins, Silent};
pub use world::{RealWorld, World};
