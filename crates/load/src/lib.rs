//! Workloads, evidence, and the bracket around a run.
//!
//! A workload says what process is to be started and what its output means; everything else is
//! the same for all of them: one stopwatch, one evidence path, one timeout, one drop of
//! privileges. This crate knows no knob and no experiment beyond the cell it is asked to run.

#![cfg(target_os = "linux")]

pub mod launch;
pub mod parameters;
pub mod workloads;
