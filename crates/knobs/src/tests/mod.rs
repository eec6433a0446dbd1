//! Whole machines, turned and put back.

mod endings;
mod freebsd;
mod laid_out;
mod machines;
mod misbehaviour;
