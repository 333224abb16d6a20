//! What is asked of stores of journals, and what durable workflows do.

mod law;
mod operation;
mod workflow;

pub use law::StoreLaw;
pub use operation::{Advance, DecisionChoice, FenceChoice, OutputChoice, Side, StoreOperation};
pub use workflow::{
    ActivationCase, CallableEnding, DeliveryCase, FaultEnding, LifeCase, LifeEnd, Manners, NextCase, OperationCase,
    ReplayCase, StepCase, StoreFault, WorkerCase, WorkflowCase, event_key, operation_key,
};
