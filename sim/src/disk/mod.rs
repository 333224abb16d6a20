//! Disks: one a host, which outlives the host's lives.
//!
//! A disk keeps two trees: what processes see, and what is durable. A change is seen at once and is *pending* until the file
//! or the directory that it is of is synced. A crash loses nothing, for the operating system survives it. A power cut loses
//! of what is pending what the world's seed says (`survival.rs`).
//!
//! It is our own and not `turmoil-fs`, which knows files by path: there a file that is renamed before it is synced loses its
//! contents, two files that had one name in turn are mixed, and the order of a listing differs from process to process.

mod change;
mod device;
mod fault;
mod file;
mod handle;
mod options;
mod survival;
mod tree;
mod volume;

pub(crate) use device::Device;
pub(crate) use fault::{Faults, Flushes};
pub use file::File;
pub use handle::{Disk, Metadata};
pub use options::OpenOptions;
