//! Cases of kind `operations`: durable operations of one attempt, over a journal and acknowledgments that may be lost.

mod build;
mod definition;
mod expectation;
mod outcome;
mod play;
mod repeat;
mod wire;

pub(super) use build::{acknowledgment, build, records};
pub use outcome::{FinishedOperation, OperationsOutcome};
pub(super) use wire::WireAcknowledgment;
