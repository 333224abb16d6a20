//! Programs of tool calls, evaluated under limits and policies (V1–V11).
//!
//! A program is a tree that a model plans in one go, as JSON: calls of tools inside calls of tools, conditions, and
//! operations on lists. Nothing in it runs but what it says, under an [`ExecutionLimits`] that counts every node and
//! every attempt, so a program from anybody can be evaluated.
//!
//! - Version 1.0: `function` (a tool with positional parameters, evaluated at once), `value`, `conditional`, and `map`,
//!   `filter` and `reduce` with a `lambda`; programs may stand inside programs.
//! - Version 2.0: `definitions` of functions that may be recursive, `call`, `tool_call` (named arguments, evaluated in
//!   order), `literal`, `variable`, `conditional`, and `memo` (a value that is evaluated once).
//!
//! [`Program::schema`] gives the JSON Schema of either, with a description of every field. [`Program::parse`] reads one and
//! reports all that is wrong with it, with places. An [`Evaluator`] evaluates it with the tools of a [`ToolProvider`]:
//! an [`Executor`](crate::executor::Executor), whose policies then apply underneath, or any type of one's own. A
//! [`CompiledProgram`] is a tool itself.
//!
//! No depth of a program overflows the stack: what waits is on the heap. Values in a program have at most 128 levels.

mod attempt;
mod budget;
mod compile;
mod datum;
mod definition;
mod error;
mod evaluate;
mod executor;
mod flight;
mod limits;
mod machine;
mod outcome;
mod policy;
mod provider;
mod report;
mod syntax;

pub use budget::{Budget, Consumption};
pub use compile::{CompileError, CompiledProgram};
pub use definition::{DefinitionError, ToolDefinition};
pub use error::{ErrorKind, EvaluationError, ProviderError, ToolFailure};
pub use evaluate::Evaluator;
pub use limits::{ExecutionLimits, LimitExceeded, Resource};
pub use outcome::{Answer, BranchOutcome, Evaluation};
pub use policy::{ExecutionPolicy, ParallelFailures, RetryPolicy};
pub use provider::{ProviderCall, ToolProvider};
pub use syntax::{Mode, Offence, Program, ProgramError, Version};
