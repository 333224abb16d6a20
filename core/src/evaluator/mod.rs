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
//! ```
//! use serde_json::json;
//! use windtunnel_core::BoxError;
//! use windtunnel_core::evaluator::{ErrorKind, ExecutionLimits, Program};
//! use windtunnel_core::executor::Executor;
//! use windtunnel_core::tool::{FunctionTool, Registry};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), BoxError> {
//! let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
//! let mut registry = Registry::new();
//! registry.register(FunctionTool::json("population", "Counts.", schema, |arguments, _| async move {
//!     Ok::<_, BoxError>(json!(arguments["city"].as_str().map_or(0, str::len)))
//! }))?;
//! let executor = Executor::new(registry);
//!
//! let program = Program::from_value(&json!({
//!     "schema_version": "1.0", "mode": "single",
//!     "body": [{
//!         "type": "map",
//!         "function": {"type": "lambda", "params": ["city"], "body": {
//!             "type": "function", "name": "population", "params": [{"type": "value", "name": "city", "value": null}],
//!         }},
//!         "iterable": {"type": "value", "name": "cities", "value": ["Oslo", "Lima"]},
//!     }],
//! }))?;
//! let limits = ExecutionLimits { max_tool_calls: 10.try_into().ok(), ..ExecutionLimits::default() };
//! let evaluation = executor.evaluator().limits(limits).evaluate(&program).await;
//! match evaluation.result {
//!     Ok(answer) => assert_eq!(answer.into_value(), json!([4, 4])),
//!     Err(error) if error.kind() == Some(ErrorKind::ExecutionLimit) => println!("give it more: {error}"),
//!     Err(error) => return Err(error.into()),
//! }
//! # Ok(())
//! # }
//! ```
//!
//! All expressions of a body begin at once, in either mode. Version 1 parameters are evaluated at once too, version 2
//! arguments one after another, in order.
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
