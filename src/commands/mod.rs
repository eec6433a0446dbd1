//! The commands, one file each: what is asked for, and the call that does it.

mod baseline;
pub mod bound;
pub mod clock;
pub mod compare;
pub mod completions;
pub mod doctor;
pub mod export;
pub mod import;
pub mod knobs;
pub mod list;
pub mod manual;
pub mod ministat;
pub mod noise;
pub mod report;
pub mod restore;
pub mod resume;
pub mod run;
pub mod show;
mod survey;
pub mod timer;
pub mod try_out;
pub mod udp;
pub mod vm;
