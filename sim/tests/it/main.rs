//! What a world promises.
#![expect(clippy::unwrap_used, reason = "a test says what it expects by failing")]
#![expect(
    clippy::disallowed_macros,
    reason = "one test is of the order of `tokio::select!`; clippy looks for this here alone"
)]

#[cfg(feature = "alarm")]
mod alarm;
mod attack;
mod attack_all;
mod campaign;
#[cfg(feature = "case")]
mod case_cassettes;
mod cassettes;
mod classic;
mod disk;
mod disk_operations;
#[cfg(feature = "case")]
mod export;
mod faults;
mod hosts;
mod http;
mod journal;
mod lives;
mod mcp;
mod provider;
mod replayed_http;
mod report;
mod scripts;
mod service;
mod service_attack;
mod streams;
mod sweep;
mod tasks;
mod time;
mod undelivered;
mod waits;
mod world;
