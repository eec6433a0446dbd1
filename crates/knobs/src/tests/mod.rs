//! Whole machines, turned and put back.

mod endings;
mod laid_out;
mod machines;
mod misbehaviour;
