//! One run of a tool loop, step by step.

use std::sync::Arc;

use super::approval::ApprovalPort;
use super::call::{CallContext, Ports, ToolCall};
use super::flow::{self, Target};
use super::guard::{CountedCalls, Identity};
use super::handle::Executor;
use super::result::ToolResult;
use super::run::RunGuard;
use super::tool_loop::{OnDelta, stream};
use crate::event::{EventKind, Subject};
use crate::model::{ModelError, ModelRequest, ModelResponse, ModelTransport, Usage};
use crate::tool::Interrupted;

/// A run that is entered until this is dropped.
pub(crate) struct LoopRun {
    executor: Executor,
    run: RunGuard,
    subject: Subject,
}

/// What an approval is called, and who is asked for it.
pub(crate) struct Asked {
    pub(crate) approval_id: Arc<str>,
    pub(crate) port: Arc<dyn ApprovalPort>,
}

impl LoopRun {
    /// Enters the context's run, or a fresh one.
    pub(crate) fn enter(executor: &Executor) -> Self {
        let run = executor.enter_run();
        let subject = executor.run_subject(&run);
        Self { executor: executor.in_run(&run.state.id), run, subject }
    }

    /// Enters this run anew: what it counted before is forgotten, and what is given is counted instead.
    pub(crate) fn enter_anew(executor: &Executor, run_id: &str, counted: &CountedCalls) -> Self {
        executor.end_run(run_id);
        let entered = Self::enter(&executor.in_run(run_id));
        entered.run.state.guards.lock().restore(counted);
        entered
    }

    /// The executor, in this run.
    pub(super) fn executor(&self) -> &Executor {
        &self.executor
    }

    /// Makes one call. It carries the idempotency key, and its approval, if it needs one, is asked for as `asked` says.
    pub(crate) async fn call(
        &self,
        call: ToolCall,
        idempotency_key: Arc<str>,
        asked: Asked,
    ) -> Result<ToolResult, Interrupted> {
        let context = &*self.executor.context;
        let ports = Ports { approval: Some(asked.port), ..context.ports.clone() };
        let context = CallContext { ports, ..context.clone() };
        let executor = self.executor.in_context(context).with_idempotency_key(Some(idempotency_key));
        let (run_id, identity) = (&self.run.state.id, identity(&call));
        let pending = &self.executor.engine.pending;
        pending.lock().insert(Arc::clone(run_id), identity.clone(), asked.approval_id);
        let result = flow::execute(&executor, &self.run, call, Target::Registered, None).await;
        pending.lock().remove(run_id, &identity);
        result
    }

    /// Who approves, if the executor itself knows.
    pub(crate) fn approval_port(&self) -> Option<&Arc<dyn ApprovalPort>> {
        self.executor.context.ports.approval.as_ref().or(self.executor.engine.ports.approval.as_ref())
    }

    /// Whether the run's guards have counted the call.
    pub(crate) fn has_counted(&self, call: &ToolCall) -> bool {
        self.run.state.guards.lock().has_counted(&identity(call))
    }

    /// Counts a call that was made before.
    pub(crate) fn count(&self, call: &ToolCall) {
        self.run.state.guards.lock().count(&identity(call), self.is_once_per_run(&call.name));
    }

    fn is_once_per_run(&self, tool: &str) -> bool {
        self.executor.registry().get(tool).is_some_and(|tool| tool.spec().once_per_run)
    }

    /// What the run has counted.
    pub(crate) fn counted(&self) -> CountedCalls {
        self.run.state.guards.lock().counted()
    }

    /// Asks the model, and says so.
    pub(crate) async fn ask_model(
        &self,
        transport: &dyn ModelTransport,
        request: &ModelRequest,
        on_delta: Option<&OnDelta>,
        turn: u32,
    ) -> Result<ModelResponse, ModelError> {
        let model: Arc<str> = request.model.as_str().into();
        let emitter = self.executor.emitter();
        emitter.emit(&self.subject, || EventKind::ModelStarted { model: Arc::clone(&model), turn }).await;
        let waits = self.executor.env().waits();
        let waiting =
            waits.map(|waits| waits.wait(format!("an answer of {model}, in turn {turn} of {}", self.run.state.id)));
        let response = match on_delta {
            None => transport.complete(request).await,
            Some(on_delta) => stream(transport, request, &**on_delta).await,
        };
        drop(waiting);
        let (usage, tool_calls) = match &response {
            Ok(response) => (response.usage, response.message.tool_calls.len()),
            Err(_) => (Usage::default(), 0),
        };
        emitter
            .emit(&self.subject, || EventKind::ModelFinished {
                model,
                turn,
                status: if response.is_ok() { "ok" } else { "error" },
                error: response.as_ref().err().map(|error| error.kind.as_str()),
                tool_calls,
                input_tokens: usage.input_tokens,
                output_tokens: usage.output_tokens,
            })
            .await;
        response
    }
}

fn identity(call: &ToolCall) -> Identity {
    Identity {
        call_id: call.id.as_str().into(),
        tool: call.name.as_str().into(),
        arguments: Arc::new(call.arguments.clone()),
    }
}
