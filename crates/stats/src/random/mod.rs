//! Random numbers from a seed, the same on every machine.
