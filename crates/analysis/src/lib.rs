//! From observations to findings: what differs, by how much, how sure that is, and what may be
//! wrong with it.
//!
//! Pure: [`analyse`] sees a [`Record`](knobstat_data::Record) and nothing else. It knows no knob
//! and no workload beyond their names, reads no clock and prints nothing; sentences are part of
//! a finding, layout is not.
//!
//! The rules of judgement, in the order in which they apply:
//!
//! 1. The observation of a planned run is its first accepted attempt. Tainted, failed,
//!    interrupted and warm-up attempts are counted and never judged.
//! 2. A treatment is compared with its baseline on the differences within blocks ([`paired`]), by
//!    their own spread, or by one error for all treatments where these vary alike.
//! 3. Nothing finer than the step of the scale is claimed ([`scale`]).
//! 4. All comparisons of an experiment are one family; their p-values are adjusted together, and
//!    each interval has the confidence at which its comparison was tested ([`family`]), so that
//!    it holds zero exactly when the verdict is not "different".
//! 5. A value that something else held down is a bound, not a measurement ([`censoring`]).
//! 6. A metric timed by the clock under test gets no verdict ([`self_timed`]).

mod analyse;
mod analysis;
mod cause;
mod caveats;
pub mod censoring;
mod comparisons;
mod contrast;
mod elsewhere;
mod evidence;
mod factorial;
pub mod family;
mod needed;
pub mod observations;
pub mod paired;
pub mod phrase;
mod pooled;
mod ratio;
mod recommend;
pub mod samples;
pub mod scale;
pub mod self_timed;
mod sequential;
mod simple_effects;
mod simultaneous;
pub mod stop;
mod verdict;

pub use analyse::analyse;
pub use analysis::{
    Analysis, Caveat, Choice, Comparison, Effect, Method, MetricFindings, Recommendation,
    RunCounts, StopReason, Stopped, TreatmentFindings,
};
pub use elsewhere::EvidenceDifference;
pub use evidence::{EvidenceRow, evidence};
pub use knobstat_stats::{Confidence, Interval};
pub use simple_effects::SimpleEffect;
pub use verdict::{Judged, Verdict};
