//! What must hold for any bytes. The fuzzer calls these, and so does a test of the root package with the seeds.

mod case;
mod cassette;
mod delivery;
mod foreign;
mod mcp;
mod program;
mod redaction;
mod stream;

pub use case::case;
pub use cassette::cassette;
pub use delivery::delivery;
pub use foreign::foreign;
pub use mcp::mcp;
pub use program::program;
pub use redaction::redaction;
pub use stream::stream;
