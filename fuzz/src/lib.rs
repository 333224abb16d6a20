//! What is fuzzed: `cargo fuzz run TARGET`. See `README.md`.

mod properties;
pub mod targets;

pub use properties::properties;
