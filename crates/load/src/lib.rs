//! Workloads, evidence, and the bracket around a run.
//!
//! A workload says what process is to be started and what its output means; everything else is
//! the same for all of them: one stopwatch, one evidence path, one timeout, one drop of
//! privileges. This crate knows no knob and no experiment beyond the cell it is asked to run.

#![cfg(target_os = "linux")]

pub mod evidence;
pub mod histogram;
pub mod launch;
pub mod parameters;
pub mod run;
pub mod workloads;

pub use run::{Executor, ExecutorError, SpawnSettings, StepError};
pub use workloads::built_in::main as workload_main;
pub use workloads::schemas;
