//! Journals in a file.

mod damage;
mod differences;
mod log;
mod opening;
mod sharing;
