//! Journals in a file.

mod damage;
mod differences;
mod locks;
mod log;
mod opening;
mod reading;
mod sharing;
