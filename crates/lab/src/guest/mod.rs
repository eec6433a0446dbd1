//! Guests: this program as the whole user space of a kernel that QEMU boots.
//!
//! The initramfs is made of this program and the libraries that its dynamic linker lists, so that
//! a kernel image is all that a guest needs besides. Nothing here knows what is asked of a guest.

mod archive;
mod boot;
mod elf;
mod initramfs;
mod libraries;
mod pack;
mod qemu;

pub use archive::Archive;
pub use boot::{BOUND, BootError, Guest, find_qemu};
pub(crate) use boot::{Ready, ready};
pub use initramfs::{Initramfs, ModuleFile};
pub use libraries::of as libraries_of;
pub use pack::PackError;
pub use qemu::{Accelerator, Disk, GuestTime, Machine, Ports, QEMU};
