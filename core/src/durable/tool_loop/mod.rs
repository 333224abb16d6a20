//! The tool loop as a workflow: each model turn and each tool call is an operation.

mod approval;
mod calls;
mod ending;
mod keys;
mod result;
mod state;
mod steps;

pub use ending::{ToolLoopEnd, ToolLoopOutput, ToolLoopStep};
pub use state::{PendingApproval, ToolLoopBudget, ToolLoopState};
pub use steps::ToolLoop;
