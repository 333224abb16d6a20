//! Durable operations (D1–D8).

mod agent;
mod always_replay;
mod crashes;
mod decisions;
mod events;
mod operations;
mod programs;
mod remote;
mod stage;
mod store;
mod tool_loop;
mod tool_loop_approvals;
mod workers;
