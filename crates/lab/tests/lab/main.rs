//! The store and the loop from outside: one program of tests, with what they share beside them.

mod beginnings;
mod bench;
mod boots;
mod chance;
mod durability;
mod exchange;
mod failures;
mod fake;
mod interruptions;
mod next;
mod order;
mod outcomes;
mod reboots;
mod store;
mod support;
