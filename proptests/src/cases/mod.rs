//! What is tried: plain data that strategies make, models predict and [`played`](crate::played) tools act out.

mod approval;
mod batch;
mod call;
mod fault_plan;
mod journal;
mod limits;
mod model_traffic;
mod policy;
mod program;
mod queue;
mod replay_session;
mod retry;
mod script;
mod tool_session;

pub use approval::{Answer, ApprovalScript, ApprovalStep};
pub use batch::{BatchCall, BatchCase};
pub use call::{ArgumentsCase, CallCase, GuardCase};
pub use fault_plan::FaultScope;
pub use journal::{
    ActivationCase, Advance, CallableEnding, DecisionChoice, DeliveryCase, FaultEnding, FenceChoice, LifeCase, LifeEnd,
    Manners, NextCase, OperationCase, OutputChoice, ReplayCase, Side, StepCase, StoreFault, StoreLaw, StoreOperation,
    WorkerCase, WorkflowCase, event_key, operation_key,
};
pub use limits::{Caps, run_limits};
pub use model_traffic::{ModelAnswer, ModelExchangeCase, ModelTraffic};
pub use policy::{Policies, ToolPolicy};
pub use program::{
    AttemptEnding, AttemptScript, AttemptStep, DefinitionTree, Expression, FunctionNode, HigherOrderNode, Keying,
    ListOperation, Mutation, MutationKind, NodeKind, ProgramArgument, ProgramCase, ProgramTool, ProgramTree, Shape,
    ToolBehaviours, ToolParam, Version1Node, Version1Program, Version2Program, without_messages,
};
pub use queue::{QueueCase, QueuedCall};
pub use replay_session::{
    RecordedCall, ReplayAnswer, ReplayAsk, ReplayCall, ReplayFailure, ReplayOrder, ReplaySession,
};
pub use retry::RetryCase;
pub use script::{Ending, Script, Step};
pub use tool_session::{SessionCall, SessionEnding, SessionTool, ToolSession};
