//! The executor: what happens between an agent's decision to call a tool and the result it gets (E1–E15).
//!
//! One file a policy. `flow.rs` takes a call through them in order (E2).

mod approval;
mod attempt;
mod backoff;
mod batch;
mod builder;
mod cache;
mod call;
mod context;
mod flow;
mod guard;
mod handle;
mod hook;
mod ledger;
mod lock;
mod loop_run;
mod plan;
mod result;
mod retry;
mod run;
mod shown;
mod tool_loop;

pub use approval::{ApprovalPort, ApprovalRequest, Decision};
pub use backoff::{Backoff, BackoffError, BackoffSettings};
pub use batch::Completed;
pub use builder::ExecutorBuilder;
pub use cache::{Cache, MemoryCache};
pub use call::{CallContext, Ports, ToolCall};
pub use context::ToolContext;
pub use guard::CountedCalls;
pub use handle::Executor;
pub use hook::{BudgetExceeded, Hook, HookCall};
pub use ledger::{Ledger, LedgerEntry, MemoryLedger};
pub(crate) use loop_run::{Asked, LoopRun};
pub use plan::{Plan, PlanError, PlanStep, Skipped, StepOutcome, StepResult};
pub use result::{Outcome, RunError, ToolResult};
pub use run::RunLimits;
pub use tool_loop::{LoopEnd, LoopError, LoopOptions, LoopOutcome, OnDelta};
pub(crate) use tool_loop::{answer, unanswered};
