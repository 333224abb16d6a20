//! The guide in `docs/`: its pages hold together, and its Rust compiles and runs.

mod agent;
mod book;
mod executor;
mod faults;
mod markdown;
mod suite;
