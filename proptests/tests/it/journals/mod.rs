//! Stores of journals, and durable workflows over them.

mod agents;
mod distribution;
mod programs;
pub(crate) mod store;
mod violations;
mod workflows;
