//! Record what an agent does with its model and its tools once, and hold it against that from then on, offline.
//!
//! Run it with `cargo run --example golden`. It prints:
//!
//! ```text
//! recorded: refunded 19.99
//! replayed: refunded 19.99 (the bank was called 1 times in all)
//! changed: entry 0 was recorded with another content
//!   $.request.messages[0].content: expected "refund order 7", found "refund order 8"
//! ```
//!
//! A test of one's own opens its session by `Golden::open("tests/golden/refund.json")`, and the environment says what it
//! does: `WINDTUNNEL_RECORD=1` records, `WINDTUNNEL_UPDATE=1` accepts what changed.
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};
use windtunnel::executor::{Executor, LoopOptions, ToolCall};
use windtunnel::fixtures::golden::{Golden, GoldenError, GoldenOptions};
use windtunnel::fixtures::mode::Settings;
use windtunnel::model::{
    Delta, FinishReason, Message, ModelError, ModelErrorKind, ModelRequest, ModelResponse, ModelTransport, Usage,
};
use windtunnel::tool::{FunctionTool, Registry};
use windtunnel::{BoxError, BoxFuture, BoxStream};

/// Stands for a provider of models: it asks for a refund, and then says what came of it.
struct LiveModel;

impl ModelTransport for LiveModel {
    fn complete<'a>(&'a self, request: &'a ModelRequest) -> BoxFuture<'a, Result<ModelResponse, ModelError>> {
        let (message, finish_reason) = match request.messages.last() {
            Some(last) if last.tool_call_id.is_some() => {
                (Message::assistant(format!("refunded {}", last.content)), FinishReason::Stop)
            }
            _ => {
                let refund = ToolCall::new("refund", json!({"order": 7})).with_id("refund-7");
                (Message::tool_calls(vec![refund]), FinishReason::ToolCalls)
            }
        };
        Box::pin(async { Ok(ModelResponse { message, finish_reason, usage: Usage::default() }) })
    }

    fn stream<'a>(
        &'a self,
        _request: &'a ModelRequest,
    ) -> BoxFuture<'a, Result<BoxStream<'a, Result<Delta, ModelError>>, ModelError>> {
        Box::pin(async { Err(ModelError::new(ModelErrorKind::InvalidRequest, "this model does not stream")) })
    }
}

/// The agent under test: what it says at the end.
async fn agent(path: &Path, settings: Settings, task: &str, paid: &Arc<AtomicU32>) -> Result<String, GoldenError> {
    let golden = Golden::with(path, GoldenOptions { settings, ..GoldenOptions::default() })?;
    let bank = Arc::clone(paid);
    let refund =
        FunctionTool::json("refund", "Pays an order back.", json!({"type": "object"}), move |_: Arc<Value>, _| {
            bank.fetch_add(1, Ordering::Relaxed);
            async { Ok::<_, BoxError>(19.99) }
        });
    let mut registry = Registry::new();
    // The name is the only one in this registry.
    let _registered = registry.register(golden.tool(refund));
    let model = golden.model(|| LiveModel);
    let request = ModelRequest { messages: vec![Message::user(task)], ..ModelRequest::default() };
    let ended = Executor::new(registry).run_tool_loop(&*model, request, &LoopOptions::default()).await;
    golden.finish()?;
    Ok(ended.ok().and_then(|outcome| outcome.messages.last().map(|last| last.content.clone())).unwrap_or_default())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), BoxError> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("refund.json");
    let paid = Arc::new(AtomicU32::new(0));
    let record = Settings { is_recording: true, ..Settings::default() };
    let replay = Settings::default();

    println!("recorded: {}", agent(&path, record, "refund order 7", &paid).await?);
    let replayed = agent(&path, replay, "refund order 7", &paid).await?;
    println!("replayed: {replayed} (the bank was called {} times in all)", paid.load(Ordering::Relaxed));
    if let Err(GoldenError::Unfinished { unfinished, .. }) = agent(&path, replay, "refund order 8", &paid).await {
        println!("{}", unfinished.misses[0].reason);
    }
    Ok(())
}
