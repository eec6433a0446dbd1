//! What the end-to-end tests share: laid-out machines, the program itself, and a place of its own
//! for everything that it writes.

pub mod campaign;
pub mod endless;
pub mod guardian;
pub mod install;
pub mod limit;
pub mod machine;
pub mod pipe;
pub mod processes;
pub mod program;
pub mod progress;
pub mod random;
pub mod terminal;
