//! The agent, in two variants.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use windtunnel::durable::remote::RemoteStore;
use windtunnel::durable::{ToolLoop, ToolLoopBudget, ToolLoopState, Worker};
use windtunnel::env::Env;
use windtunnel::executor::{ApprovalPort, ApprovalRequest, Decision, Executor, ExecutorBuilder, LoopEnd, LoopOptions};
use windtunnel::model::{Message, ModelRequest};
use windtunnel::sim::service::{RemoteModel, RemoteTool};
use windtunnel::tool::{Confirm, RegisterError, Registry, ToolSpec};
use windtunnel::{BoxError, BoxFuture};

use super::insistent::{InsistentModel, InsistentTool};
use super::pace::Pace;
use super::place::{Address, Place};
use super::services::{BANK, JOURNAL, MODEL, ORDERS, any_arguments};

/// The workflow's identifier.
pub(crate) const WORKFLOW: &str = "refund-of-order-7";

/// The tools: their names, what a good answer has, and where they are.
const TOOLS: [(&str, &str, Address); 3] =
    [("find_order", "paid", ORDERS), ("find_customer", "account", ORDERS), ("pay", "receipt", BANK)];

/// How long the agent waits for a service.
const TIMEOUT: Duration = Duration::from_secs(5);

fn request() -> ModelRequest {
    let model = "clerk".to_owned();
    ModelRequest { model, messages: vec![Message::user("Refund order 7.")], ..ModelRequest::default() }
}

fn spec(name: &str, retries: u32) -> ToolSpec {
    let confirm = if name == "pay" { Confirm::Always } else { Confirm::Never };
    let timeout = Some(TIMEOUT);
    ToolSpec { retries, timeout, confirm, ..ToolSpec::new(name, "A tool of the shop.", any_arguments()) }
}

fn remote_tool<P: Place>(place: &P, spec: ToolSpec, address: Address) -> RemoteTool {
    let place = place.clone();
    RemoteTool::new(spec, move || place.connect(address))
}

fn remote_model<P: Place>(place: &P) -> RemoteModel {
    let connecting = place.clone();
    RemoteModel::new(place.env(), move || connecting.connect(MODEL)).timeout(2 * TIMEOUT)
}

fn executor<P: Place>(place: &P, tools: Registry) -> ExecutorBuilder {
    Executor::builder(tools).env(place.env()).sink(place.sink())
}

/// Keeps what it has done in a journal, and pays under the key that this gives it. After a crash it goes on from there.
pub(crate) async fn durable<P: Place>(place: P, pace: Pace) {
    let mut tools = Registry::new();
    for (name, member, address) in TOOLS {
        // A call is tried until it is known what became of it.
        let tool = remote_tool(&place, spec(name, 100_000), address);
        if tools.register(InsistentTool { tool, member }).is_err() {
            return;
        }
    }
    let model = InsistentModel { model: remote_model(&place) };
    let agent = ToolLoop::new(executor(&place, tools).build(), Arc::new(model))
        .budget(ToolLoopBudget { turns_max: 64, calls_max: 256 })
        .turns_per_activation(pace.turns_per_activation);
    let connecting = place.clone();
    let store = RemoteStore::new(place.env(), move || connecting.connect(JOURNAL)).timeout(TIMEOUT);
    let worker = Worker::new(store).env(place.env()).sink(place.sink()).lease(2 * TIMEOUT).poll_every(pace.look);
    let worker = worker.workflow(agent.into_workflow("refund"));
    // Started once, however often it is asked for.
    while worker.start(WORKFLOW, "refund", "turn", &ToolLoopState::new(request())).await.is_err() {
        place.env().sleep(pace.look).await;
    }
    worker.run().await;
}

/// Keeps nothing, knows no keys, and begins anew whenever something is wrong.
pub(crate) async fn naive<P: Place>(place: P, pace: Pace, inbox: Arc<OnceLock<String>>) {
    loop {
        match try_naively(&place, pace).await {
            Ok(answer) => {
                let _first_answer_counts = inbox.set(answer);
                return;
            }
            Err(_) => place.env().sleep(Duration::from_secs(1)).await,
        }
    }
}

async fn try_naively<P: Place>(place: &P, pace: Pace) -> Result<String, BoxError> {
    let executor = executor(place, naive_tools(place)?).approval(Reviewer { env: place.env(), pace }).build();
    let outcome = executor.run_tool_loop(&remote_model(place), request(), &LoopOptions::default()).await?;
    match outcome.messages.last() {
        Some(answer) if outcome.end == LoopEnd::Answer => Ok(answer.content.clone()),
        _ => Err("there is no answer".into()),
    }
}

fn naive_tools<P: Place>(place: &P) -> Result<Registry, RegisterError> {
    let mut tools = Registry::new();
    for (name, _, address) in TOOLS {
        tools.register(remote_tool(place, spec(name, 2), address))?;
    }
    Ok(tools)
}

/// The reviewer, for an agent that waits for the decision on the spot.
struct Reviewer {
    env: Env,
    pace: Pace,
}

impl ApprovalPort for Reviewer {
    fn decide<'a>(&'a self, _request: &'a ApprovalRequest) -> BoxFuture<'a, Result<Decision, BoxError>> {
        Box::pin(async move {
            self.env.sleep(self.pace.review).await;
            Ok(Decision::approve())
        })
    }
}
