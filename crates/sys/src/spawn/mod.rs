//! Starting a process at the least cost, with everything set in the child itself: group,
//! affinity, priority, limits, identity, streams. No wrapper program, no shell.
//!
//! The child is made by clone(CLONE_VM | CLONE_VFORK), so that its start does not depend on the
//! size of the harness, and only makes raw system calls until it executes the program. What it
//! fails at comes back typed. Everything that allocates happens in [`Prepared::new`], before any
//! stopwatch runs.

mod child;
mod children;
mod failure;
mod find;
mod into_group;
mod nothing;
mod prepared;
mod randomization;
mod stack;
mod wait;

pub use children::{children, reap};
pub use failure::{SpawnError, Step};
pub use find::{Lookup, find_program};
pub use prepared::{
    Child, Credentials, EnvironmentError, Limit, Prepared, Program, Scheduling, Settings,
};
pub(crate) use prepared::{is_dumpable, set_dumpable};
pub use randomization::may_disable_address_randomization;
pub use wait::{Exited, Status, Usage};

#[cfg(test)]
pub(crate) mod tests;
