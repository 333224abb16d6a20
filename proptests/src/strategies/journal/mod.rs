//! What is asked of stores of journals, and durable workflows with what befalls them.

mod operation;
mod workflow;

pub use operation::store_operations;
pub use workflow::{calm_worker_cases, replayed_worker_cases, worker_cases, workflow_cases};
