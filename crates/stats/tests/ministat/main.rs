//! ministat from outside: against recorded output, against Debian's program, and on random input.

mod debian;
mod generator;
mod memory;
mod random;
mod reference;
