//! Whole machines, turned and put back.

mod endings;
mod failure_modes;
mod freebsd;
mod governors;
mod hotplug;
mod laid_out;
mod limits;
mod machines;
mod misbehaviour;
mod turning;
