//! An agent whose model knows its turns by heart, for tests of the durable tool loop.

use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::{Value, json};
use windtunnel_core::durable::{
    Checkpoint, JournalStore, MemoryStore, ToolLoop, ToolLoopOutput, ToolLoopState, Worker, Workflow,
};
use windtunnel_core::env::Env;
use windtunnel_core::executor::Executor;
use windtunnel_core::model::{Delta, Message, ModelError, ModelRequest, ModelResponse, ModelTransport, Role};
use windtunnel_core::tool::FunctionTool;
use windtunnel_core::{BoxFuture, BoxStream};

use super::stage::{Effects, history, output};
use crate::ports::answers;
use crate::rig::{registry, tool, yield_once};

/// Answers by how often it has spoken in the conversation, so a turn that is asked for again is the same.
#[derive(Clone)]
pub(crate) struct ByHeart {
    turns: Arc<[ModelResponse]>,
    requests: Arc<Mutex<Vec<ModelRequest>>>,
}

impl ByHeart {
    pub(crate) fn new(turns: impl IntoIterator<Item = ModelResponse>) -> Self {
        Self { turns: turns.into_iter().collect(), requests: Arc::default() }
    }

    pub(crate) fn requests(&self) -> Vec<ModelRequest> {
        self.requests.lock().clone()
    }
}

impl ModelTransport for ByHeart {
    fn complete<'a>(&'a self, request: &'a ModelRequest) -> BoxFuture<'a, Result<ModelResponse, ModelError>> {
        Box::pin(async {
            yield_once().await;
            self.requests.lock().push(request.clone());
            let spoken = request.messages.iter().filter(|message| message.role == Role::Assistant).count();
            Ok(self.turns.get(spoken).cloned().unwrap_or_else(|| answers("done")))
        })
    }

    fn stream<'a>(
        &'a self,
        _request: &'a ModelRequest,
    ) -> BoxFuture<'a, Result<BoxStream<'a, Result<Delta, ModelError>>, ModelError>> {
        panic!("a durable loop asks for whole responses")
    }
}

/// A tool with an effect, which answers with its number.
pub(crate) fn effect_tool(name: &str, effects: &Effects) -> FunctionTool {
    let (effects, name) = (effects.clone(), name.to_owned());
    tool(&name.clone(), move |arguments, context| {
        let (effects, name) = (effects.clone(), name.clone());
        async move {
            yield_once().await;
            let key = context.idempotency_key().unwrap();
            let happened = effects.happen(&format!("{name}{arguments}"), key);
            yield_once().await;
            Ok(json!(happened))
        }
    })
}

pub(crate) fn executor(env: &Env, tools: impl IntoIterator<Item = FunctionTool>) -> Executor {
    Executor::builder(registry(tools)).env(env.clone()).build()
}

pub(crate) fn request() -> ModelRequest {
    ModelRequest { model: "opus".to_owned(), messages: vec![Message::user("go")], ..ModelRequest::default() }
}

/// A worker on the store for this agent, which is started as `w`.
pub(crate) async fn started_agent(store: impl JournalStore + Clone + 'static, env: Env, agent: ToolLoop) -> Worker {
    started(store, env, agent.into_workflow("agent")).await
}

pub(crate) async fn started(store: impl JournalStore + Clone + 'static, env: Env, agent: Workflow) -> Worker {
    let state = serde_json::to_value(ToolLoopState::new(request())).unwrap();
    store.start("w", "agent", Checkpoint::new("turn", state).unwrap()).await.unwrap();
    Worker::new(store).env(env).workflow(agent)
}

/// Runs the agent to its end on a store of its own.
pub(crate) async fn end_of(agent: ToolLoop) -> (ToolLoopOutput, MemoryStore) {
    let env = super::stage::env();
    let store = MemoryStore::new(env.clone());
    started_agent(store.clone(), env, agent).await.run_until_idle().await.unwrap();
    (serde_json::from_value(output(&store).await).unwrap(), store)
}

/// The state that the last activation began with.
pub(crate) async fn last_state(store: &impl JournalStore) -> ToolLoopState {
    let history = history(store).await;
    let state: &Value = history.activations.last().unwrap().checkpoint.state();
    serde_json::from_value(state.clone()).unwrap()
}

/// What the model read of its calls, in order.
pub(crate) fn read_by_model(model: &ByHeart) -> Vec<String> {
    let last = model.requests().pop().unwrap();
    last.messages.into_iter().filter(|message| message.role == Role::Tool).map(|message| message.content).collect()
}
