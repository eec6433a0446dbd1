//! What the processor and the kernel counted of the run's processes, from the execution of the
//! program to the end of the last descendant.

mod capture;
mod decode;

pub(super) use capture::PerformanceCounters;
