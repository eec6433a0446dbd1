//! From observations to findings.
