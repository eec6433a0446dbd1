//! What all processes of a run used together, whether they were waited for or not: the kernel's
//! accounts of a control group made for the run.

mod capture;
mod decode;
mod groups;

pub use capture::Group;
pub use groups::Groups;
