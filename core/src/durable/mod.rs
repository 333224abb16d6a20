//! Durable model and tool operations (D1–D8): a workflow that goes on where its worker was lost.
//!
//! A [`Workflow`] is a name and a few entries. Each *activation* begins at one of them with a state, makes
//! [operations](WorkflowContext::operation), and comes to a [`Decision`]: continue with another state, sleep, wait for an
//! event, complete or fail. The result of every operation is committed to a [`JournalStore`] before the workflow sees it.
//! When an attempt of an activation is lost, the next one begins anew and is given the committed results instead of making
//! those calls again. Only the state of a [`Checkpoint`] crosses from one activation to the next.
//!
//! A [`Worker`] claims what is due, runs it and commits the decision; an attempt that was overtaken by another one can
//! commit nothing ([`Fence`]). [`MemoryStore`] is a store for tests and worlds; with the feature `sqlite`, `sqlite` has one in
//! a file; and [`remote`] puts a network between a worker and its store.
//!
//! # What is not promised
//! **An effect can happen and its commit not** (D8): when the worker is lost between the two, the next attempt makes that
//! call again. It carries the same [idempotency key](OperationCall::idempotency_key), by which a service that takes one can
//! tell the repeat. Nothing here makes an outside effect happen exactly once, and nothing resumes a stream halfway.
//!
//! # How it is built
//! [`Binding`], [`Record`], [`Journal`], [`Activation`], [`Checkpoint`] and [`Decision`] are plain types that know no
//! future, no clock and no store: what a journal and a request mean follows from them alone.

mod activation;
mod attempt;
mod binding;
mod checkpoint;
mod claim;
mod commit;
mod context;
mod decision;
mod difference;
mod encoding;
mod error;
mod finite;
mod frozen;
mod history;
mod journal;
mod layer;
mod leg;
mod limits;
mod memory;
mod nesting;
mod program;
mod record;
pub mod remote;
mod report;
mod retry;
mod rules;
mod run;
mod settle;
#[cfg(feature = "sqlite")]
pub mod sqlite;
mod store;
mod stored;
mod text;
mod tool_loop;
mod worker;
mod workflow;

pub use activation::{Activation, OrderCheck, Step};
pub use binding::{Binding, OperationKind};
pub use checkpoint::Checkpoint;
pub use claim::{Claim, Claimed, Fence, Wake};
pub use commit::{Commit, Refusal};
pub use context::{OperationCall, WorkflowContext};
pub use decision::Decision;
pub use difference::BindingDifference;
pub use error::{Cause, DurableError, ErrorKind};
pub use frozen::JsonFlaw;
pub use history::{ActivationHistory, CommittedRecord, WorkflowHistory};
pub use journal::{Answer, Journal};
pub use layer::JournalLayer;
pub use limits::{
    CALLABLE_BYTES_MAX, DEPTH_MAX, EVENT_BYTES_MAX, JOURNAL_BYTES_MAX, MESSAGE_BYTES_MAX, NAME_BYTES_MAX,
    OUTPUT_BYTES_MAX, RECORD_BYTES_MAX, RECORDS_MAX, STATE_BYTES_MAX, WAIT_MAX,
};
pub use memory::{Acknowledgment, MemoryStore};
pub use program::OperationTools;
pub use record::{Record, RecordError};
pub use retry::{ActivationRetry, AttemptError};
pub use store::{Delivery, JournalStore, Started, StoreError};
pub use text::NameFlaw;
pub use tool_loop::{
    PendingApproval, ToolLoop, ToolLoopBudget, ToolLoopEnd, ToolLoopOutput, ToolLoopState, ToolLoopStep,
};
pub use worker::{Ending, StartError, Turn, Worker};
pub use workflow::Workflow;
