//! Machines laid out in trees, and booted by hand.

mod course;
mod grub;
mod kexec;
mod machine;
mod systemd_boot;
