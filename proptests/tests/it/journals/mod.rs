//! Stores of journals, and durable workflows over them.

mod distribution;
mod store;
mod violations;
mod workers;
mod workflows;
