//! What the executor, the evaluator and durable operations promise, checked from outside: one module a feature, rules cited as E1–E15, V1–V11, D1–D8.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails here and says where")]

mod capture;
mod ports;
mod probe;
mod rig;

mod approval;
mod batch;
mod blocking;
mod cache;
mod cancel;
mod control_flow;
mod failures;
mod guards;
mod hooks;
mod locks;
mod mirror;
mod opentelemetry;
mod plan;
mod record;
mod retry;
mod runs;
mod secrets;
mod threads;
mod tool_loop;
mod typed;

mod durable;
mod evaluator;
