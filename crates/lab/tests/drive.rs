//! The loop against a machine in memory: what is asked in which order, what is kept, and how it
//! ends.

#[path = "drive/beginnings.rs"]
mod beginnings;
#[path = "drive/bench.rs"]
mod bench;
#[path = "drive/boots.rs"]
mod boots;
#[path = "drive/failures.rs"]
mod failures;
#[path = "support/fake.rs"]
mod fake;
#[path = "drive/interruptions.rs"]
mod interruptions;
#[path = "drive/order.rs"]
mod order;
#[path = "drive/reboots.rs"]
mod reboots;
mod support;
