//! What is asked of stores of journals, and durable workflows with what befalls them.

mod law;
mod operation;
mod workflow;

pub use law::store_operations_about;
pub use operation::store_operations;
pub use workflow::{calm_worker_cases, replayed_worker_cases, worker_cases, workflow_cases};
