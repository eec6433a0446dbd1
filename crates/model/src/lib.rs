//! A simulated machine behind the same seam as a real one.
//!
//! [`MachineFile`] says what the machine is; [`cores`] and [`network`] simulate a job on its
//! processor and a sender on its link, event by event, in simulated nanoseconds; [`Session`]
//! answers the requests of the seam. Everything is drawn from the machine's seed and from nothing
//! else: the same requests give the same replies.
//!
//! Pure: no file, no clock, no environment. It knows the names of knobs, parameters, metrics and
//! evidence, and nothing of plans, stores or statistics.

pub mod clocks;
pub mod cores;
pub mod disturbance;
mod evidence;
pub mod machine;
pub mod network;
mod random;
mod session;
pub mod settings;
mod simulator;
mod workloads;

pub use machine::{MachineError, MachineFile};
pub use random::Random;
pub use session::Session;
pub use settings::Settings;
pub use simulator::Simulator;
