//! Recorded traffic in a world: a cassette stands in for the model and the tools of other hosts.

use std::time::Duration;

use serde_json::json;
use windtunnel_core::executor::{Executor, LoopOptions};
use windtunnel_core::model::{Message, ModelErrorKind, ModelRequest, ModelTransport};
use windtunnel_core::tool::Registry;
use windtunnel_fixtures::cassette::Cassette;
use windtunnel_fixtures::replay::{Replay, ReplayOptions, Timing};
use windtunnel_sim::service::{RemoteModel, RemoteTool, serve_model, serve_tools};
use windtunnel_sim::{Process, World, WorldHandle};

/// An agent that asks for a refund, and tells what came of it: ten minutes and a second of traffic.
fn cassette() -> Cassette {
    let turn = |request: serde_json::Value, after_us: u64, response: serde_json::Value| {
        let answer = json!({"response": {"after_us": after_us, "response": response}});
        json!({"exchange": {"model": {"operation": "complete", "request": request, "answer": answer}}})
    };
    let user = json!({"role": "user", "content": "refund order 7"});
    let tools = json!([{"name": "refund", "description": "", "parameters": {"type": "object"}}]);
    let calls = [json!({"id": "c", "name": "refund", "arguments": {"order": 7}})];
    let asks = json!({"role": "assistant", "content": "", "tool_calls": calls});
    let told = json!({"role": "tool", "content": "\"paid\"", "tool_call_id": "c"});
    let says = json!({"role": "assistant", "content": "it is paid"});
    let document = json!({"windtunnel_cassette": 1, "tools": tools, "entries": [
        turn(
            json!({"model": "opus", "messages": [user], "tools": tools}),
            600_000_000,
            json!({"message": asks, "finish_reason": "tool_calls"}),
        ),
        {"exchange": {"tool": {"name": "refund", "arguments": {"order": 7}, "after_us": 1_000_000,
            "outcome": {"output": "paid"}}}},
        turn(
            json!({"model": "opus", "messages": [user, asks, told], "tools": tools}),
            0,
            json!({"message": says, "finish_reason": "stop"}),
        ),
    ]});
    Cassette::from_json(&document.to_string()).unwrap()
}

async fn serve(process: Process, replay: &Replay) {
    let mut tools = Registry::new();
    tools.register(replay.tool("refund")).unwrap();
    let answering = futures_util::future::join(
        serve_model(process.clone(), 7000, replay.model()),
        serve_tools(process, 7001, tools),
    );
    let (model, tools) = answering.await;
    model.and(tools).unwrap();
}

/// What the agent says to the end, and why a request that was never recorded fails.
async fn scene(world: WorldHandle) -> (String, ModelErrorKind, Duration, usize) {
    let options = ReplayOptions { timing: Timing::Recorded(world.env()), ..ReplayOptions::default() };
    let replay = std::sync::Arc::new(Replay::with(cassette(), options).unwrap());
    let served = std::sync::Arc::clone(&replay);
    world.host("services").unwrap().start(move |process| {
        let served = std::sync::Arc::clone(&served);
        async move { serve(process, &served).await }
    });
    let agent = world.host("agent").unwrap().process();
    let connect = |port: u16| {
        let process = agent.clone();
        move || {
            let process = process.clone();
            async move { process.connect("services", port).await }
        }
    };
    let minutes = Duration::from_secs(3_600);
    let model = RemoteModel::new(agent.env(), connect(7000)).timeout(minutes);
    let mut tools = Registry::new();
    tools.register(RemoteTool::new(windtunnel_core::tool::Tool::spec(&replay.tool("refund")), connect(7001))).unwrap();
    let executor = Executor::builder(tools).env(agent.env()).build();
    let request = |text: &str| ModelRequest {
        model: "opus".to_owned(),
        messages: vec![Message::user(text)],
        ..ModelRequest::default()
    };
    let outcome = executor.run_tool_loop(&model, request("refund order 7"), &LoopOptions::default()).await.unwrap();
    replay.assert_consumed();
    let took = world.env().now();
    let missed = model.complete(&request("refund order 8")).await.unwrap_err();
    let misses = replay.finish().unwrap_err().misses.len();
    (outcome.messages.last().unwrap().content.clone(), missed.kind, took, misses)
}

#[test]
fn a_cassette_stands_in_for_the_services_of_other_hosts_on_virtual_time() {
    let run = World::new(7).check_determinism(scene).unwrap();
    let (said, kind, took, misses) = run.outcome.unwrap();
    assert_eq!((said.as_str(), kind, misses), ("it is paid", ModelErrorKind::ReplayMismatch, 1));
    assert!((601..602).contains(&took.as_secs()), "{took:?}");
}
