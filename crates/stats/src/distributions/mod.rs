//! Tail areas and quantiles of the distributions that the tests refer to.
//!
//! Everything is built on the error function of `libm` and on incomplete beta and gamma functions
//! whose leading factors are free of cancellation, so that twelve digits hold in the far tails
//! and at any number of degrees of freedom.

mod beta;
mod chi_squared;
mod dunnett;
mod fisher_f;
mod gamma;
mod noncentral_t;
mod normal;
mod probability;
mod root;
mod saddle_point;
mod scale;
mod student_t;
mod studentized_range;
mod trapezoid;

pub use chi_squared::ChiSquared;
pub use dunnett::DunnettT;
pub use fisher_f::FisherF;
pub use noncentral_t::NoncentralT;
pub use normal::Normal;
pub use probability::Probability;
pub use student_t::StudentT;
pub use studentized_range::StudentizedRange;

pub(crate) use beta::regularised_beta;

use crate::degenerate::Degenerate;

/// Fails unless `value` is a finite number above zero.
pub(crate) fn positive(name: &'static str, value: f64) -> Result<f64, Degenerate> {
    if value > 0.0 && value.is_finite() {
        Ok(value)
    } else {
        Err(Degenerate::OutOfRange {
            name,
            value,
            wanted: "a finite number above zero",
        })
    }
}
