//! Reference models: small, slow and plain, and written without the executor's code. Where a model and an executor
//! disagree, one of them is wrong.

mod backoff;
mod batch;
mod guard;
mod journal;
mod ledger;
mod program;
mod queue;
mod replay;
mod retry;

pub use backoff::{delay_bounds_s, delay_s};
pub use batch::{BatchPrediction, PredictedResult};
pub use guard::{GuardAnswer, GuardModel, Reviewed};
pub use journal::{StoreAnswer, StoreCall, StoreModel, WorkflowEnd, WorkflowPrediction, arithmetic};
pub use ledger::{LedgerModel, PredictedEntry};
pub use program::{BranchEnd, PredictedCall, ProgramEnd, ProgramFailure, ProgramPrediction};
pub use queue::{QueuePrediction, Turn};
pub use replay::ReplayModel;
pub use retry::{CallEnd, ObservedCall, RetryPrediction};
