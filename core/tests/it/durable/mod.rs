//! Durable operations (D1–D8).

mod always_replay;
mod crashes;
mod decisions;
mod events;
mod operations;
mod stage;
mod store;
mod workers;
