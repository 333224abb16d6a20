//! Durable operations (D1–D8).

mod agent;
mod always_replay;
mod crashes;
mod decisions;
mod events;
mod ground;
mod operations;
mod programs;
mod remote;
#[cfg(feature = "sqlite")]
mod sqlite;
mod stage;
mod store;
mod tool_loop;
mod tool_loop_approvals;
mod workers;
