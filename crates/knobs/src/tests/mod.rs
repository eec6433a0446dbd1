//! Whole machines, turned and put back.

mod endings;
mod failure_modes;
mod freebsd;
mod laid_out;
mod machines;
mod misbehaviour;
mod turning;
