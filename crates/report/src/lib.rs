//! Findings as one value, rendered in many formats.
