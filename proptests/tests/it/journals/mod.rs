//! Stores of journals, and durable workflows over them.

mod agents;
mod distribution;
mod programs;
mod store;
mod violations;
mod workers;
mod workflows;
