//! What is fuzzed: `cargo fuzz run TARGET`. See `README.md`.

pub mod targets;
