//! Scripts: tools, reviewers and models that do as they are told.

mod approvals;
mod attempts;
mod invocations;
mod model;
mod provider;
mod step;
mod tool;

pub use approvals::ScriptedApprovals;
pub use invocations::{Invocation, Invocations};
pub use model::ScriptedModel;
pub use provider::{ScriptedFunction, ScriptedProvider};
pub use step::{Failure, Step, Then};
pub use tool::ScriptedTool;
