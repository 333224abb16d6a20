//! The suite for what retries.

mod answer;
mod crowd;
mod nested;
mod operation;
mod played;
mod points;
mod policy;
mod subject;
mod suite;
mod trial;
mod trials;
mod world;

pub use answer::{Answer, AnswerError};
pub use operation::{Announcement, CallNote, ErrorClass, Operation, OperationError};
pub use played::{Played, RunEnding};
pub use policy::{RetryBudget, RetryPolicy};
pub(super) use policy::{optional, rust};
pub use subject::{RetryClient, RetryFailure, RetryFeature, RetrySubject};
pub use suite::retry_suite;
pub use trial::RetryTrial;
pub(super) use world::in_world;
