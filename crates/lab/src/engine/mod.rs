//! The engine: a pure function that says what comes next, and a thin loop that does it.

pub mod course;
pub mod next;
