//! The agent's tools and its model, which write down what they do.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::{Value, json};
use windtunnel_core::durable::Fence;
use windtunnel_core::env::Env;
use windtunnel_core::executor::{Executor, RunLimits, ToolContext};
use windtunnel_core::model::{
    Delta, FinishReason, Message, ModelError, ModelErrorKind, ModelRequest, ModelResponse, ModelTransport, Role, Usage,
};
use windtunnel_core::tool::{Confirm, Registry, Tool, ToolError, ToolSpec};
use windtunnel_core::{BoxError, BoxFuture, BoxStream};
use windtunnel_proptests::{Effect, EffectLog};
use windtunnel_sim::WorldHandle;

use super::case::{AgentCase, AgentTool};

/// What happened outside: it survives every worker.
#[derive(Clone)]
pub(super) struct Outside {
    env: Env,
    pub(super) effects: EffectLog,
    /// By the number of the run.
    runs: Arc<Mutex<Vec<Made>>>,
    requests: Arc<Mutex<Vec<ModelRequest>>>,
    /// How often the model still fails, by turn.
    failures: Arc<Mutex<Vec<usize>>>,
    case: Arc<AgentCase>,
}

/// What a run was.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Made {
    Turn(usize),
    Call { tool: &'static str, arguments: Value },
}

impl Outside {
    pub(super) fn new(env: Env, case: &AgentCase) -> Self {
        let failures = case.turns.iter().map(|turn| turn.failures).collect();
        Self {
            env,
            effects: EffectLog::new(),
            runs: Arc::default(),
            requests: Arc::default(),
            failures: Arc::new(Mutex::new(failures)),
            case: Arc::new(case.clone()),
        }
    }

    pub(super) fn runs(&self) -> Vec<Made> {
        self.runs.lock().clone()
    }

    pub(super) fn requests(&self) -> Vec<ModelRequest> {
        self.requests.lock().clone()
    }

    /// An executor as another process would make it.
    pub(super) fn executor(&self, world: &WorldHandle) -> Executor {
        let mut registry = Registry::new();
        for tool in AgentTool::KNOWN {
            registry.register(Played { tool, outside: self.clone() }).unwrap();
        }
        let limits = RunLimits { calls_max: self.case.run_calls_max, ..RunLimits::default() };
        Executor::builder(registry).env(world.env()).sink(world.trace()).run_limits(limits).build()
    }

    /// Something begins. In which attempt is found out later, by the idempotency key.
    fn begin(&self, made: Made, idempotency_key: &str) -> Running<'_> {
        let key: Arc<str> = idempotency_key.into();
        let (run, _) = self.effects.begin_run(self.env.now(), &nowhere(), &key, &key);
        self.runs.lock().push(made);
        Running { outside: self, run, is_over: false }
    }
}

/// Stands for the attempt that is not known yet.
fn nowhere() -> Fence {
    Fence { workflow_id: "".into(), activation_id: "".into(), attempt: 0 }
}

struct Running<'a> {
    outside: &'a Outside,
    run: u64,
    is_over: bool,
}

impl Running<'_> {
    fn end(mut self, is_ok: bool) {
        self.is_over = true;
        self.write(Effect::CallableEnded { run: self.run, is_ok });
    }

    fn write(&self, effect: Effect) {
        self.outside.effects.write(self.outside.env.now(), &nowhere(), effect);
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            self.write(Effect::CallableDropped { run: self.run });
        }
    }
}

/// A tool that does what its arguments say.
struct Played {
    tool: AgentTool,
    outside: Outside,
}

impl Tool for Played {
    fn spec(&self) -> ToolSpec {
        let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
        ToolSpec {
            retries: 1,
            once_per_run: self.tool.is_once_per_run(),
            confirm: if self.tool.needs_approval() { Confirm::Always } else { Confirm::Never },
            ..ToolSpec::new(self.tool.name(), "Made for a property test.", schema)
        }
    }

    fn call(&self, arguments: Arc<Value>, context: ToolContext) -> BoxFuture<'_, Result<Value, BoxError>> {
        Box::pin(async move {
            // What the executor tries again belongs to the same run of the operation.
            let running = (context.attempt() == 1).then(|| {
                let made = Made::Call { tool: self.tool.name(), arguments: Value::clone(&arguments) };
                self.outside.begin(made, context.idempotency_key().map_or("", |key| key))
            });
            let env = context.env();
            env.pause().await;
            let takes = Duration::from_millis(arguments["takes_ms"].as_u64().unwrap_or_default());
            if !takes.is_zero() {
                env.until(env.now() + takes).await;
            }
            let result = match arguments["ends"].as_str() {
                Some("refused") => Err(ToolError::new("not so").into()),
                Some("broken") => Err("it is broken".into()),
                Some("late") if context.attempt() == 1 => Err("it comes late".into()),
                _ => Ok(json!({"tool": self.tool.name(), "n": arguments["n"]})),
            };
            // A failure is a result too: it is recorded.
            running.into_iter().for_each(|running| running.end(true));
            result
        })
    }
}

impl ModelTransport for Outside {
    fn complete<'a>(&'a self, request: &'a ModelRequest) -> BoxFuture<'a, Result<ModelResponse, ModelError>> {
        Box::pin(async move {
            let turn = request.messages.iter().filter(|message| message.role == Role::Assistant).count();
            self.requests.lock().push(request.clone());
            let running = self.begin(Made::Turn(turn), request.idempotency_key.as_deref().unwrap_or_default());
            self.env.pause().await;
            self.env.until(self.env.now() + Duration::from_millis(1)).await;
            if let Some(failures) = self.failures.lock().get_mut(turn)
                && let Some(left) = failures.checked_sub(1)
            {
                *failures = left;
                running.end(false);
                return Err(ModelError::new(ModelErrorKind::Overloaded, "busy"));
            }
            running.end(true);
            let calls = self.case.turns.get(turn).map(|turn| turn.calls()).unwrap_or_default();
            let usage = Usage { input_tokens: request.messages.len() as u64, output_tokens: 1 };
            let (message, finish_reason) = match calls.is_empty() {
                true => (Message::assistant("done"), FinishReason::Stop),
                false => (Message::tool_calls(calls), FinishReason::ToolCalls),
            };
            Ok(ModelResponse { message, finish_reason, usage })
        })
    }

    fn stream<'a>(
        &'a self,
        _request: &'a ModelRequest,
    ) -> BoxFuture<'a, Result<BoxStream<'a, Result<Delta, ModelError>>, ModelError>> {
        panic!("a durable loop asks for whole responses")
    }
}
