//! The hosts that the agent calls: orders, bank, model, journal.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use windtunnel::durable::MemoryStore;
use windtunnel::durable::remote::serve;
use windtunnel::env::Env;
use windtunnel::executor::{Executor, ToolCall};
use windtunnel::model::{
    Delta, FinishReason, Message, ModelError, ModelErrorKind, ModelRequest, ModelResponse, ModelTransport, Role, Usage,
};
use windtunnel::sim::service::{answer_model, answer_tools};
use windtunnel::tool::{FunctionTool, ToolError};
use windtunnel::{BoxError, BoxFuture, BoxStream};

use super::place::{Address, Place};

pub(crate) const MODEL: Address = ("model", 80);
pub(crate) const ORDERS: Address = ("orders", 7001);
pub(crate) const BANK: Address = ("bank", 7002);
pub(crate) const JOURNAL: Address = ("journal", 5432);

/// How long a tool works.
const WORK: Duration = Duration::from_millis(5);

pub(crate) fn any_arguments() -> Value {
    json!({"type": "object"})
}

/// The two tools that only read.
pub(crate) async fn orders<P: Place>(place: P) {
    let look_up = |name: &str, member: &'static str, found: fn() -> Value| {
        FunctionTool::json(name, "Looks it up.", any_arguments(), move |arguments, context| async move {
            context.env().sleep(WORK).await;
            let is_known = arguments[member] == json!(7) || arguments[member] == json!("Ada");
            if is_known { Ok(found()) } else { Err(ToolError::new(format!("there is no such {member}"))) }
        })
    };
    let find_order = look_up("find_order", "order", || json!({"order": 7, "customer": "Ada", "paid": 5}));
    let find_customer = look_up("find_customer", "customer", || json!({"customer": "Ada", "account": "DE-1"}));
    serve_tools(place, ORDERS.1, vec![find_order, find_customer]).await;
}

/// The bank: it pays only once under one idempotency key, and again and again without. `requests` counts what it was asked for.
pub(crate) async fn bank<P: Place>(place: P, requests: Arc<AtomicU32>) {
    let paying = place.clone();
    let pay = FunctionTool::json("pay", "Pays a customer.", any_arguments(), move |_arguments, context| {
        let (place, requests) = (paying.clone(), Arc::clone(&requests));
        async move {
            let earlier = requests.fetch_add(1, Ordering::Relaxed);
            place.sometimes("the payment was tried again", earlier > 0);
            context.env().sleep(WORK).await;
            place.pay(context.idempotency_key().map(|key| &**key)).await;
            Ok::<_, BoxError>(json!({"receipt": "R-1"}))
        }
    });
    serve_tools(place, BANK.1, vec![pay]).await;
}

async fn serve_tools<P: Place>(place: P, port: u16, tools: Vec<FunctionTool>) {
    let (Ok(tools), Ok(listener)) = (place.tools(tools), place.listen(port).await) else { return };
    let executor = Executor::builder(tools).env(place.env()).build();
    while let Ok(stream) = place.accept(&listener).await {
        let executor = executor.clone();
        place.spawn(async move { drop(answer_tools(&executor, stream).await) });
    }
}

/// The model's provider.
pub(crate) async fn model<P: Place>(place: P, thinking: Duration) {
    let Ok(listener) = place.listen(MODEL.1).await else { return };
    let model = place.model(Clerk { env: place.env(), thinking });
    while let Ok(stream) = place.accept(&listener).await {
        let model = Arc::clone(&model);
        place.spawn(async move { drop(answer_model(&*model, stream).await) });
    }
}

/// The journal's server. What it holds is on its disk, and so survives it.
pub(crate) async fn journal<P: Place>(place: P, disk: MemoryStore) {
    let Ok(listener) = place.listen(JOURNAL.1).await else { return };
    let store = place.journal(disk);
    while let Ok(stream) = place.accept(&listener).await {
        let store = Arc::clone(&store);
        place.spawn(async move { drop(serve(store, stream).await) });
    }
}

/// A model for refunds. What it does next follows from what it has found out, so it copes with tools that fail.
struct Clerk {
    env: Env,
    thinking: Duration,
}

impl Clerk {
    fn turn(messages: &[Message]) -> ModelResponse {
        let results: Vec<Value> = messages
            .iter()
            .filter(|message| message.role == Role::Tool)
            .filter_map(|message| serde_json::from_str(&message.content).ok())
            .collect();
        let known = |member: &str| results.iter().find_map(|result: &Value| result.get(member));
        let nth = messages.iter().filter(|message| message.role == Role::Assistant).count();
        let call = |name: &str, arguments| ToolCall::new(name, arguments).with_id(format!("{name}-{nth}"));
        let mut calls = Vec::new();
        if known("paid").is_none() {
            calls.push(call("find_order", json!({"order": 7})));
        }
        if known("account").is_none() {
            calls.push(call("find_customer", json!({"customer": "Ada"})));
        }
        if let (Some(paid), Some(account), None) = (known("paid"), known("account"), known("receipt")) {
            calls.push(call("pay", json!({"to": account, "amount": paid})));
        }
        let (message, finish_reason) = if calls.is_empty() {
            (Message::assistant("Ada has her 5 euros back."), FinishReason::Stop)
        } else {
            (Message::tool_calls(calls), FinishReason::ToolCalls)
        };
        ModelResponse { message, finish_reason, usage: Usage::default() }
    }
}

impl ModelTransport for Clerk {
    fn complete<'a>(&'a self, request: &'a ModelRequest) -> BoxFuture<'a, Result<ModelResponse, ModelError>> {
        Box::pin(async move {
            self.env.sleep(self.thinking).await;
            Ok(Self::turn(&request.messages))
        })
    }

    fn stream<'a>(
        &'a self,
        _request: &'a ModelRequest,
    ) -> BoxFuture<'a, Result<BoxStream<'a, Result<Delta, ModelError>>, ModelError>> {
        let refusal = ModelError::new(ModelErrorKind::InvalidRequest, "this model does not stream");
        Box::pin(async move { Err(refusal) })
    }
}
