//! Factorial analysis of variance, with blocks and error strata.
