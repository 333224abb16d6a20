//! What stores of journals answer, and what durable workflows come to.

mod call;
mod store;
mod workflow;

pub use call::{StoreAnswer, StoreCall};
pub use store::StoreModel;
pub use workflow::{WorkflowEnd, WorkflowPrediction, arithmetic};
