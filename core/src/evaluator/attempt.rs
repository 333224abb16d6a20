//! What the machine asks for, as futures.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_core::future::BoxFuture;
use futures_util::FutureExt;
use serde_json::Value;

use super::datum::{Datum, LEVELS_MAX, TooDeep};
use super::error::{ErrorKind, ProviderError, ToolFailure};
use super::machine::{FrameId, Input, Request};
use super::provider::{ProviderCall, ToolProvider};
use super::report::Report;
use super::syntax::{NodeId, Program};
use crate::causes;
use crate::env::{Env, WaitGuard};
use crate::event::EventKind;

/// Makes the requests of one evaluation.
#[derive(Clone, Copy)]
pub(super) struct Attempts<'p> {
    pub(super) program: &'p Program,
    pub(super) provider: &'p dyn ToolProvider,
    pub(super) env: &'p Env,
    pub(super) report: &'p Report<'p>,
}

impl<'p> Attempts<'p> {
    /// The future does nothing before it is polled, except that the provider is asked for its own.
    pub(super) fn begin(self, request: Request<'p>) -> (FrameId, Work<'p>) {
        match request {
            Request::Definition { frame, tool } => {
                // The call itself is inside, since a provider may panic before it gives a future.
                let defined = async move { self.provider.definition(tool).await };
                let caught = AssertUnwindSafe(defined).catch_unwind();
                let input = async move {
                    let result = caught.await.unwrap_or_else(|payload| Err(panicked(&*payload)));
                    Input::Defined(result.map_err(Box::new))
                };
                (frame, Work::Awaited(Box::pin(input)))
            }
            Request::Attempt { frame, node, tool, number, place, attempt, arguments } => {
                let (run_id, evaluation_id) = (&*self.report.run_id, &*self.report.evaluation_id);
                let call = ProviderCall {
                    tool,
                    arguments,
                    attempt,
                    run_id,
                    place,
                    idempotency_key: None,
                    evaluation_id,
                    number,
                };
                match self.report.is_heard {
                    true => (frame, Work::Awaited(Box::pin(self.reported(tool, node, call)))),
                    false => (frame, Work::Called(Calling::begin(self.env, self.provider, call))),
                }
            }
            Request::Rest { frame, tool, number, attempt, cause, delay } => {
                (frame, Work::Awaited(Box::pin(self.rest(tool, number, attempt, cause, delay))))
            }
        }
    }

    async fn reported(self, tool: &'p Arc<str>, node: NodeId, call: ProviderCall<'p>) -> Input {
        let (call_id, attempt) = (Arc::<str>::from(call.call_id()), call.attempt);
        let path = self.program.path_of(node).to_string().into();
        let event = EventKind::ProgramCall { tool: Arc::clone(tool), path, attempt };
        self.report.emit(Arc::clone(&call_id), event).await;
        let began = self.env.now();
        let input = Calling::begin(self.env, self.provider, call).await;
        let (status, error) = match &input {
            Input::Answered(Err(error)) => match &**error {
                ProviderError::Failed(failure) => ("error", Some(failure.kind().as_str())),
                ProviderError::Interrupted(_) => ("interrupted", None),
            },
            _ => ("ok", None),
        };
        let duration_s = self.env.now().saturating_sub(began).as_secs_f64();
        let event = EventKind::ProgramAnswer { tool: Arc::clone(tool), attempt, status, error, duration_s };
        self.report.emit(call_id, event).await;
        input
    }

    async fn rest(self, tool: &'p Arc<str>, number: u64, attempt: u32, cause: ErrorKind, delay: Duration) -> Input {
        if self.report.is_heard {
            let call_id = format!("{}-{number}", self.report.evaluation_id).into();
            let (tool, cause, delay_s) = (Arc::clone(tool), cause.as_str(), delay.as_secs_f64());
            self.report.emit(call_id, EventKind::ProgramRetry { tool, attempt, cause, delay_s }).await;
        }
        if !delay.is_zero() {
            self.env.sleep(delay).await;
        }
        Input::Rested
    }
}

/// What is under way for a frame.
pub(super) enum Work<'p> {
    /// A call that nobody wants to hear of: it needs no future but the provider's.
    Called(Calling<'p>),
    Awaited(BoxFuture<'p, Input>),
}

impl Future for Work<'_> {
    type Output = Input;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Input> {
        match self.get_mut() {
            Self::Called(calling) => Pin::new(calling).poll(context),
            Self::Awaited(future) => future.as_mut().poll(context),
        }
    }
}

/// A provider's call, in which a panic is an error of the tool (E14).
pub(super) struct Calling<'p> {
    tool: &'p str,
    future: Result<BoxFuture<'p, Result<Value, ProviderError>>, Option<ProviderError>>,
    _waiting: Option<WaitGuard>,
}

impl<'p> Calling<'p> {
    fn begin(env: &Env, provider: &'p dyn ToolProvider, call: ProviderCall<'p>) -> Self {
        let tool = call.tool;
        let awaited = || format!("the tool {tool}, in attempt {} of {}", call.attempt, call.call_id());
        let waiting = env.waits().map(|waits| waits.wait(awaited()));
        let future = catch_unwind(AssertUnwindSafe(|| provider.call(call)));
        Self { tool, future: future.map_err(|payload| Some(panicked(&*payload))), _waiting: waiting }
    }
}

impl Future for Calling<'_> {
    type Output = Input;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Input> {
        let this = &mut *self;
        let answered = match &mut this.future {
            Err(panicked) => Err(panicked.take().unwrap_or_else(|| ToolFailure::refused("it is over").into())),
            Ok(future) => match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context))) {
                Ok(Poll::Pending) => return Poll::Pending,
                Ok(Poll::Ready(result)) => result,
                Err(payload) => Err(panicked(&*payload)),
            },
        };
        let result = answered.and_then(|value| Datum::new(value).map_err(|TooDeep| too_deep()));
        if let Err(error) = &result {
            // The cause's text may hold secrets: it goes to DEBUG and nowhere above.
            tracing::debug!(tool = this.tool, cause = causes::text(error), "an attempt failed");
        }
        Poll::Ready(Input::Answered(result.map_err(Box::new)))
    }
}

fn too_deep() -> ProviderError {
    ToolFailure::response(format!("its answer has more than {LEVELS_MAX} levels")).into()
}

fn panicked(payload: &(dyn std::any::Any + Send)) -> ProviderError {
    ToolFailure::unclassified(causes::Panicked::of(payload)).into()
}
