//! Stores of journals, and durable workflows over them.

mod store;
mod workers;
mod workflows;

pub use store::check_memory;
pub use workers::{Delivered, Ended, live_once, memory, run};
pub use workflows::check_any;
pub(super) use workflows::properties;
