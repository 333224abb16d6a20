//! The code of `docs/src/rust-agent.md`: tools behind Windtunnel's executor, and a model.

// ANCHOR: executor
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use windtunnel::BoxError;
use windtunnel::executor::{Executor, ToolContext};
use windtunnel::sim::WorldHandle;
use windtunnel::tool::{FunctionTool, Registry};

fn executor(world: &WorldHandle) -> Executor {
    let effects = world.effects();
    let body = move |arguments: Arc<Value>, context: ToolContext| {
        let effects = effects.clone();
        async move {
            effects.happen_once("refund", context.call_id()).await; // the same for all attempts of a call
            context.env().sleep(Duration::from_millis(300)).await;
            Ok::<_, BoxError>(json!({"refunded": arguments["order"]}))
        }
    };
    let refund = FunctionTool::json("refund", "Pays an order back.", json!({"type": "object"}), body);
    let mut registry = Registry::new();
    registry.register(world.faults().tool(refund.retries(2).timeout(Duration::from_secs(2)))).unwrap();
    Executor::builder(registry).env(world.env()).sink(world.trace()).build()
}
// ANCHOR_END: executor

// ANCHOR: model
use windtunnel::executor::{LoopOptions, ToolCall};
use windtunnel::model::{Message, ModelRequest};
use windtunnel::sim::script::ScriptedModel;
use windtunnel::sim::{Campaign, swept};

swept! {
    fn the_agent_refunds_at_most_once(world in Campaign::new()) {
        let wants = ToolCall::new("refund", json!({"order": 7})).with_id("refund-7");
        let model = world.faults().model(ScriptedModel::by_conversation([
            vec![ScriptedModel::calls([wants])],
            vec![ScriptedModel::says("Order 7 is refunded.")],
        ]));
        let request = ModelRequest { messages: vec![Message::user("Refund order 7.")], ..ModelRequest::default() };
        let ended = executor(&world).run_tool_loop(&model, request, &LoopOptions::default()).await;
        let (assertions, refunds) = (world.assertions(), world.effects().count("refund"));
        assertions.always("refunded at most once", refunds <= 1);
        assertions.sometimes("the agent comes to its end", ended.is_ok());
    }
}
// ANCHOR_END: model
