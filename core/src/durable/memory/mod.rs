//! The store in memory.

mod acknowledgment;
mod store;
mod stored_workflow;

pub use acknowledgment::Acknowledgment;
pub use store::MemoryStore;
