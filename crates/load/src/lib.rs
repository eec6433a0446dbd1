//! Workloads, evidence, and the bracket around a run.
