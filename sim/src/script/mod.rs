//! Scripts: tools, reviewers and models that do as they are told.

mod approvals;
mod model;
mod tool;

pub use approvals::ScriptedApprovals;
pub use model::ScriptedModel;
pub use tool::{Failure, Invocation, Invocations, ScriptedTool, Step, Then};
