//! Tools: what they are called, what they take, how they may be called, and how they fail.

mod callable;
mod error;
mod function;
mod prepared;
mod registry;
mod schema;
mod spec;

pub use callable::Tool;
pub use error::{ArgumentsError, CallError, Cancelled, ErrorKind, Interrupted, ToolError};
pub use function::FunctionTool;
pub use prepared::PreparedTool;
pub use registry::{RegisterError, Registry};
pub(crate) use schema::Schema;
pub use spec::{CacheScope, Confirm, ConfirmRule, ToolSpec};
