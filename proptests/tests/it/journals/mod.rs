//! Stores of journals, and durable workflows over them.

mod agents;
mod distribution;
mod programs;
pub(crate) mod store;
mod violations;
pub(crate) mod workers;
pub(crate) mod workflows;
