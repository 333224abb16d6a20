//! Programs under limits and policies (V1–V11).

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
