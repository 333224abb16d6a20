//! Hosts: each with tasks, a clock, a place in the network, and lives that end.

mod clock;
mod hosts;
mod life;
mod machine;
mod process;
mod storage;

pub use hosts::HostError;
pub(crate) use hosts::Hosts;
pub use machine::Host;
pub use process::Process;
