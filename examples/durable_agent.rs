//! An agent whose turns and calls are kept in a file: kill it anywhere, run it again, and it goes on from there, as soon as the
//! lease of the killed one is over.
//!
//! ```sh
//! cargo run --features sqlite --example durable_agent -- refund.db           # waits for an approval
//! cargo run --features sqlite --example durable_agent -- refund.db approve   # pays, and answers
//! ```
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use windtunnel::BoxError;
use windtunnel::durable::sqlite::SqliteStore;
use windtunnel::durable::{JournalStore, Started, ToolLoop, ToolLoopState, Worker};
use windtunnel::env::Env;
use windtunnel::executor::{Decision, Executor, ToolCall};
use windtunnel::model::{Message, ModelRequest};
use windtunnel::sim::script::ScriptedModel;
use windtunnel::tool::{FunctionTool, Registry};

const WORKFLOW: &str = "refund-of-order-7";

/// The tools. A real bank is given the idempotency key, by which it can tell a repeat.
fn executor() -> Result<Executor, BoxError> {
    let any = json!({"type": "object"});
    let mut registry = Registry::new();
    registry.register(FunctionTool::json("find_order", "Finds an order.", any.clone(), |_, _| async {
        println!("looking the order up");
        Ok::<_, BoxError>(json!({"paid": 5}))
    }))?;
    registry.register(
        FunctionTool::json("pay", "Pays a customer.", any, |arguments, context| async move {
            println!("paying {arguments} under the key {:?}", context.idempotency_key());
            Ok::<_, BoxError>(json!("paid"))
        })
        .confirm(),
    )?;
    Ok(Executor::new(registry))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), BoxError> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("say in which file to keep the journal")?;
    let look_up = ToolCall::new("find_order", json!({"order": 7})).with_id("look-up");
    let refund = ToolCall::new("pay", json!({"to": "Ada", "amount": 5})).with_id("refund");
    let turns = [
        ScriptedModel::calls([look_up]),
        ScriptedModel::calls([refund]),
        ScriptedModel::says("Ada has her 5 euros back."),
    ];
    let model = ScriptedModel::by_conversation(turns.map(|turn| [turn]));
    let store = SqliteStore::open(&file, Env::system()).await?;
    let agent = ToolLoop::new(executor()?, Arc::new(model)).into_workflow("refund");
    let worker = Worker::new(store.clone()).workflow(agent).lease(Duration::from_secs(5));
    let request = ModelRequest { messages: vec![Message::user("Refund order 7.")], ..ModelRequest::default() };
    // Started once, whoever starts it again in the same way.
    if worker.start(WORKFLOW, "refund", "turn", &ToolLoopState::new(request)).await? == Started::Conflict {
        return Err("another workflow has this identifier; choose another file".into());
    }
    let history = store.read(WORKFLOW).await?.ok_or("it was started")?;
    let pending = ToolLoopState::of(&history).map(|state| state.pending).unwrap_or_default();
    match arguments.next().as_deref() {
        Some("approve") => {
            for pending in pending {
                pending.decide(&store, WORKFLOW, &Decision::approve()).await?;
            }
        }
        Some(other) => return Err(format!("{other:?} is no decision; say `approve`").into()),
        None => {}
    }
    worker.run_until_idle().await?;
    let history = store.read(WORKFLOW).await?.ok_or("it was started")?;
    match history.outcome() {
        Some(_) => println!("it is done after {} activations", history.activations.len()),
        None => println!("it waits for an approval; run this again with `approve`"),
    }
    Ok(())
}
