//! What came of running a case once.

use std::time::Duration;

use serde_json::{Value, json};
use windtunnel_core::BoxError;
use windtunnel_core::event::Event;

use super::agent::AgentOutcome;
use super::calls::CallsOutcome;
use super::cassettes::Replayed;
use super::operations::OperationsOutcome;
use super::program::ProgramOutcome;
use crate::fault::{DeliveredFault, UndeliveredFault};
use crate::script::Invocation;
use crate::{Run, WorldError};

/// What came of running a case with one seed.
#[derive(Debug)]
#[must_use = "a case can have run and still not hold: judge it"]
pub struct CaseRun {
    /// What came out.
    pub outcome: CaseOutcome,
    /// The attempts that reached a tool, in order.
    pub invocations: Vec<Invocation>,
    /// A bound that the case came to, for which it was cut off.
    pub(super) cut_off: Option<String>,
    /// What cassettes were asked for that they do not hold, and what they hold that nothing asked for.
    pub(super) replayed: Replayed,
    pub(super) world: Run<Result<(), BoxError>>,
}

/// What came out, by the case's kind.
#[derive(Debug)]
pub enum CaseOutcome {
    /// Of a case of kind `calls`.
    Calls(CallsOutcome),
    /// Of a case of kind `program`.
    Program(ProgramOutcome),
    /// Of a case of kind `operations`.
    Operations(OperationsOutcome),
    /// Of a case of kind `agent`.
    Agent(Box<AgentOutcome>),
}

impl CaseRun {
    /// The seed.
    pub fn seed(&self) -> u64 {
        self.world.seed
    }

    /// The events, in order.
    pub fn trace(&self) -> &[Event] {
        &self.world.trace
    }

    /// The digest of the events: equal for equal runs, in any process.
    pub fn digest(&self) -> String {
        self.world.digest()
    }

    /// The faults that came, in order.
    pub fn faults(&self) -> &[DeliveredFault] {
        &self.world.faults
    }

    /// The planned faults that did not come, in the order of the plan.
    pub fn undelivered(&self) -> &[UndeliveredFault] {
        &self.world.undelivered
    }

    /// The faults that came, as JSON, with the names that case files use.
    pub fn faults_to_json(&self) -> Value {
        self.variable("faults")
    }

    /// How long the case took on the world's clock.
    pub fn elapsed(&self) -> Duration {
        self.world.elapsed
    }

    /// Why the case came to no end, if it did not.
    pub fn problem(&self) -> Option<String> {
        match &self.world.outcome {
            Ok(Ok(())) => self.cut_off.clone(),
            Ok(Err(error)) => Some(error.to_string()),
            // It came to its end; what the file plans did not.
            Err(WorldError::NoFaultDelivered { .. }) => None,
            Err(error) => Some(error.to_string()),
        }
    }

    /// The variables of assertions that every kind of case has.
    pub(super) fn variable(&self, name: &str) -> Value {
        match name {
            "events" => self.trace().iter().map(|event| serde_json::to_value(event).unwrap_or_default()).collect(),
            "invocations" => self.invocations.iter().map(invocation_to_json).collect(),
            "faults" => self.faults().iter().map(fault_to_json).collect(),
            "elapsed_ms" => json!(self.elapsed().as_nanos() as f64 / 1e6),
            _ => Value::Null,
        }
    }
}

/// An invocation as JSON.
pub(super) fn invocation_to_json(invocation: &Invocation) -> Value {
    json!({"tool": &*invocation.tool, "arguments": &*invocation.arguments})
}

fn fault_to_json(delivered: &DeliveredFault) -> Value {
    let DeliveredFault { fault, at, host } = delivered;
    json!({
        "kind": fault.action.kind().name(),
        "host": host.as_deref(),
        "at_ms": at.as_nanos() as f64 / 1e6,
        "when": fault.when,
        "do": fault.action,
    })
}
