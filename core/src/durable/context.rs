//! What a workflow's entry is given.

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::attempt::{Answered, Attempt, Callable};
use super::binding::{Binding, OperationKind};
use super::claim::Wake;
use super::decision::Decision;
use super::encoding::{decode, encode};
use super::error::{Cause, DurableError};
use super::text::check_operation_key;
use crate::BoxError;
use crate::causes::Panicked;
use crate::env::Env;

/// A running activation: makes operations, and prepares the decision that its entry returns. Cheap to clone. When the
/// entry returns, or its attempt is dropped, nothing of it runs on, and a clone that is left refuses everything.
///
/// Only what the journal and the checkpoint hold is the same in the next attempt: an entry draws no number, reads no clock
/// and waits for nothing but its operations, or the decisions that follow may differ from attempt to attempt.
#[derive(Clone)]
pub struct WorkflowContext {
    attempt: Arc<Attempt>,
}

/// What a callable knows of the operation that it is.
#[derive(Clone)]
#[non_exhaustive]
pub struct OperationCall {
    /// What an external service may recognise a repeat by: the same in every attempt, since an effect can happen and its
    /// commit not (D6, D8).
    pub idempotency_key: Arc<str>,
    /// Time, chance and identity.
    pub env: Env,
}

impl WorkflowContext {
    pub(super) fn new(attempt: Arc<Attempt>) -> Self {
        Self { attempt }
    }

    /// The workflow's identifier.
    pub fn workflow_id(&self) -> &Arc<str> {
        &self.attempt.fence.workflow_id
    }

    /// The activation's identifier, the same in every attempt.
    pub fn activation_id(&self) -> &Arc<str> {
        &self.attempt.fence.activation_id
    }

    /// The attempt, from 1. For logs: whatever depends on it differs from attempt to attempt.
    pub fn attempt(&self) -> u64 {
        self.attempt.fence.attempt
    }

    /// The entry where the activation began.
    pub fn entry(&self) -> &Arc<str> {
        &self.attempt.entry
    }

    /// Why the activation began.
    pub fn wake(&self) -> &Wake {
        &self.attempt.wake
    }

    /// The payload of the event that began the activation, if one did.
    ///
    /// # Errors
    /// [`DurableError::InvalidJson`] if it does not read as a `T`.
    pub fn event<T: DeserializeOwned>(&self) -> Result<Option<T>, DurableError> {
        match self.wake() {
            Wake::Event { payload, .. } => decode("the payload of the event", payload).map(Some),
            _ => Ok(None),
        }
    }

    /// A model or tool call whose result is committed before it is used (D2, D3).
    ///
    /// If the journal has the result, the callable does not run. Else `body` runs, its result is committed, and then it is
    /// returned, as it reads from the record. Requests with the same key and binding at the same time share one execution.
    /// Dropping the future of the last one who waits ends the execution, wherever it stands.
    ///
    /// `callable` and `version` name the code in `body`, and stay the same while that does: change the version with it.
    /// `arguments` is all that `body` depends on, defaults included.
    ///
    /// # Errors
    /// Every kind of [`DurableError`]; an error of `body`, or its panic, is the source of a
    /// [`DurableError::CallFailed`], leaves no record, and the operation may be asked for again.
    pub async fn operation<A, T, F, Fut, E>(
        &self,
        key: &str,
        kind: OperationKind,
        callable: &str,
        version: &str,
        arguments: A,
        body: F,
    ) -> Result<T, DurableError>
    where
        A: Serialize + Send + 'static,
        T: Serialize + DeserializeOwned,
        F: FnOnce(A, OperationCall) -> Fut + Send + 'static,
        Fut: Future<Output = Result<T, E>> + Send + 'static,
        E: Into<BoxError>,
    {
        let attempt = &self.attempt;
        let bound = attempt.check_open(key).and_then(|()| {
            let frozen = encode("the arguments of the operation", &arguments)?;
            Binding::new(key, kind, callable, version, frozen)
        });
        let answered = match bound {
            Ok(binding) => self.answer(&binding, self.callable(&binding, arguments, body)).await,
            Err(error) => Err(self.refused(key, error).await),
        };
        let output = answered?;
        decode("the recorded result of the operation", &output)
    }

    fn callable<A, T, F, Fut, E>(&self, binding: &Binding, arguments: A, body: F) -> Callable
    where
        A: Send + 'static,
        T: Serialize + DeserializeOwned,
        F: FnOnce(A, OperationCall) -> Fut + Send + 'static,
        Fut: Future<Output = Result<T, E>> + Send + 'static,
        E: Into<BoxError>,
    {
        let key = Arc::clone(binding.key());
        let idempotency_key = self.attempt.fence.idempotency_key(&key);
        let call = OperationCall { idempotency_key, env: self.attempt.env.clone() };
        Box::pin(async move {
            let running = AssertUnwindSafe(async move { body(arguments, call).await }).catch_unwind().await;
            let failed = |cause: BoxError| {
                tracing::debug!(operation = &*key, cause = crate::causes::text(&*cause), "a callable failed");
                DurableError::CallFailed { key: Arc::clone(&key), source: Cause::from(cause) }
            };
            let result = match running {
                Ok(Ok(result)) => result,
                Ok(Err(error)) => return Err(failed(error.into())),
                Err(payload) => return Err(failed(Panicked::of(&*payload).into())),
            };
            let what = "the result of the operation";
            let output = encode(what, &result)?;
            // What does not read back now would not in the next attempt either.
            decode::<T>(what, &output)?;
            Ok(output)
        })
    }

    async fn answer(&self, binding: &Binding, mut callable: Callable) -> super::leg::Outcome {
        loop {
            let answered = self.attempt.request(binding, callable);
            match answered {
                Err(error) => return Err(self.refused(binding.key(), error).await),
                Ok(Answered::Replayed(output)) => {
                    self.attempt.report.operation_replayed(binding).await;
                    return Ok(output);
                }
                Ok(Answered::Waiting(leg)) => return leg.await,
                Ok(Answered::Again(unused)) => callable = unused,
            }
            self.attempt.env.pause().await;
        }
    }

    /// Says that the callable does not run. A key that cannot be stored is not said.
    async fn refused(&self, key: &str, error: DurableError) -> DurableError {
        let key = if check_operation_key(key).is_ok() { key } else { "" };
        self.attempt.report.operation_refused(&key.into(), error.kind()).await;
        error
    }

    /// What the journal has under a key, without asking for it.
    pub(super) fn recorded(&self, key: &str) -> Option<Arc<Value>> {
        self.attempt.recorded(key)
    }

    /// Another activation at `entry` with `state`, and nothing else (D5).
    ///
    /// # Errors
    /// As for [`Decision::continue_`], and [`DurableError::UnknownEntry`].
    pub fn continue_<S: Serialize>(&self, entry: &str, state: &S) -> Result<Decision, DurableError> {
        self.check_entry(entry)?;
        Decision::continue_(entry, encode(STATE, state)?)
    }

    /// Another activation at `entry` after a time, during which no worker is held.
    ///
    /// # Errors
    /// As for [`Decision::sleep`], and [`DurableError::UnknownEntry`].
    pub fn sleep<S: Serialize>(
        &self,
        key: &str,
        duration: Duration,
        entry: &str,
        state: &S,
    ) -> Result<Decision, DurableError> {
        self.check_entry(entry)?;
        Decision::sleep(key, duration, entry, encode(STATE, state)?)
    }

    /// Another activation at `entry` when an event comes or the time is over: [`WorkflowContext::wake`] says which.
    ///
    /// # Errors
    /// As for [`Decision::wait_event`], and [`DurableError::UnknownEntry`].
    pub fn wait_event<S: Serialize>(
        &self,
        key: &str,
        timeout: Option<Duration>,
        entry: &str,
        state: &S,
    ) -> Result<Decision, DurableError> {
        self.check_entry(entry)?;
        Decision::wait_event(key, timeout, entry, encode(STATE, state)?)
    }

    /// The end of the workflow, with a result.
    ///
    /// # Errors
    /// As for [`Decision::complete`].
    pub fn complete<T: Serialize>(&self, output: &T) -> Result<Decision, DurableError> {
        Decision::complete(encode("the output of the workflow", output)?)
    }

    /// The end of the workflow, without a result.
    ///
    /// # Errors
    /// As for [`Decision::fail`].
    pub fn fail(&self, kind: &str, message: &str) -> Result<Decision, DurableError> {
        Decision::fail(kind, message)
    }

    fn check_entry(&self, entry: &str) -> Result<(), DurableError> {
        if self.attempt.entries.iter().any(|known| &**known == entry) {
            return Ok(());
        }
        Err(unknown_entry(&self.attempt.workflow, entry, &self.attempt.entries))
    }
}

const STATE: &str = "the state of the checkpoint";

pub(super) fn unknown_entry(workflow: &Arc<str>, entry: &str, known: &[Arc<str>]) -> DurableError {
    DurableError::UnknownEntry {
        workflow: Arc::clone(workflow),
        entry: entry.to_owned(),
        known: known.iter().map(ToString::to_string).collect(),
    }
}

impl fmt::Debug for WorkflowContext {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("WorkflowContext")
            .field("fence", &self.attempt.fence)
            .field("entry", self.entry())
            .field("wake", self.wake())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for OperationCall {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("OperationCall").field("idempotency_key", &self.idempotency_key).finish_non_exhaustive()
    }
}
