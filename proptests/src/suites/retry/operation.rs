//! The operation that a suite hands to a subject, and what it notes.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use windtunnel_core::BoxFuture;
use windtunnel_core::env::Env;

/// An operation that may fail, and notes when it is called. Clones are the same operation.
#[derive(Clone)]
pub struct Operation {
    env: Env,
    body: Arc<Body>,
    notes: Arc<Mutex<Notes>>,
    calls_max: usize,
}

/// What a call does, by its number from 1.
pub(super) type Body = dyn Fn(u32) -> BoxFuture<'static, Result<(), OperationError>> + Send + Sync;

/// A call of an operation failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("call {call} failed ({class:?})")]
pub struct OperationError {
    /// Which call of the operation, from 1.
    pub call: u32,
    /// Whether another call may help.
    pub class: ErrorClass,
    /// How long it asks to wait before the next call.
    pub retry_after: Option<Duration>,
    /// The same, in the words of the header `Retry-After`, which may be anything.
    pub retry_after_header: Option<String>,
}

/// Whether another call may help.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ErrorClass {
    /// It may.
    Transient,
    /// It would fail again: never retried.
    Permanent,
    /// The call may have had its effect. It is retried under one idempotency key ([`Operation::call_with_key`]), or not at all.
    Ambiguous,
}

/// What was noted of an operation.
#[derive(Clone, Debug, Default)]
pub(super) struct Notes {
    pub(super) calls: Vec<CallNote>,
    pub(super) announcements: Vec<Announcement>,
}

/// One call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallNote {
    /// When it began, since its world did.
    pub began: Duration,
    /// When it ended.
    pub ended: Option<Duration>,
    /// What it gave; nothing, if it was dropped or has not ended.
    pub result: Option<Result<(), OperationError>>,
    /// The idempotency key that it was given.
    pub key: Option<String>,
}

/// A wait that was told before it began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Announcement {
    /// When.
    pub at: Duration,
    /// How long the wait was to be.
    pub wait: Duration,
}

impl Operation {
    /// `calls_max` is how many calls are answered; all later ones hang.
    pub(super) fn new(env: Env, calls_max: usize, body: Arc<Body>, notes: Arc<Mutex<Notes>>) -> Self {
        Self { env, body, notes, calls_max }
    }

    /// Calls it. Nothing happens before the future is polled.
    pub fn call(&self) -> impl Future<Output = Result<(), OperationError>> + Send + use<> {
        self.clone().noted(None)
    }

    /// Calls it under an idempotency key: calls under one key have their effect once.
    pub fn call_with_key(&self, key: &str) -> impl Future<Output = Result<(), OperationError>> + Send + use<> {
        self.clone().noted(Some(key.to_owned()))
    }

    /// For subjects that tell of each wait before it begins ([`RetryFeature::Announcements`](super::RetryFeature)): call this
    /// from the hook that they offer.
    pub fn announce(&self, wait: Duration) {
        let at = self.env.now();
        self.notes.lock().announcements.push(Announcement { at, wait });
    }

    async fn noted(self, key: Option<String>) -> Result<(), OperationError> {
        let index = {
            let mut notes = self.notes.lock();
            notes.calls.push(CallNote { began: self.env.now(), ended: None, result: None, key });
            notes.calls.len() - 1
        };
        let call = UnderWay { operation: &self, index };
        if index >= self.calls_max {
            std::future::pending::<()>().await;
        }
        let result = (self.body)(u32::try_from(index + 1).unwrap_or(u32::MAX)).await;
        self.notes.lock().calls[index].result = Some(result.clone());
        drop(call);
        result
    }
}

/// Notes when a call ends, also if it is dropped.
struct UnderWay<'o> {
    operation: &'o Operation,
    index: usize,
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        let now = self.operation.env.now();
        self.operation.notes.lock().calls[self.index].ended = Some(now);
    }
}

impl fmt::Debug for Operation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Operation").field("calls", &self.notes.lock().calls.len()).finish_non_exhaustive()
    }
}
