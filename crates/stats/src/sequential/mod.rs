//! Looking after every block without false alarms.
//!
//! The running value `e_n` of a comparison starts at 1 and, without an effect, has expectation of at
//! most 1 whenever one stops; by Ville's inequality it ever reaches 1/alpha with probability of at
//! most alpha. It is the ratio of the likelihood of the t statistics with a normal mixture over
//! the standardised effect (scale g) to that without effect. (Robbins 1970; Lai 1976; Howard et
//! al. 2021; Grünwald et al. 2024.)

mod confidence_sequence;
mod e_value;
mod monitor;

pub use confidence_sequence::{ConfidenceSequence, smallest_bounded_n};
pub use e_value::{MixtureScale, log_e_value};
pub use monitor::{Monitor, Stop};
