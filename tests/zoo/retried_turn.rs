//! A support agent whose retry is around the whole turn: if the model fails after a tool succeeded, the turn begins again,
//! and the model makes the call again, as a new one.

use serde_json::json;
use windtunnel::executor::ToolCall;
use windtunnel::model::{Message, ModelError, ModelRequest, ModelResponse, ModelTransport};
use windtunnel::sim::WorldHandle;
use windtunnel::sim::script::ScriptedModel;

use super::{Animal, Breaks, Twin};

const RULE: &str = "refunded at most once";
const ATTEMPTS_MAX: usize = 4;

pub(crate) const RETRIED_TURN: Animal = Animal {
    name: "retried turn",
    after: "agno#10366",
    breaks: Breaks::Rule(RULE),
    scenario: |world, twin| Box::pin(scenario(world, twin)),
};

async fn scenario(world: WorldHandle, twin: Twin) {
    let refund = |id| ScriptedModel::calls([ToolCall::new("refund", json!({"order": 7})).with_id(id)]);
    let script = [["call-1", "call-2", "call-3", "call-4"].map(refund).into(), vec![ScriptedModel::says("Refunded.")]];
    let model = world.faults().model(ScriptedModel::by_conversation(script));
    let (turns_max, asks_max) = match twin {
        Twin::Faulty => (ATTEMPTS_MAX, 1),
        Twin::Correct => (1, ATTEMPTS_MAX),
    };
    for _ in 0..turns_max {
        if turn(&world, &model, asks_max).await.is_ok() {
            break;
        }
    }
    world.assertions().always(RULE, world.effects().count("refund") <= 1);
}

/// Model and tools, until the model has nothing more to call.
async fn turn(world: &WorldHandle, model: &impl ModelTransport, asks_max: usize) -> Result<String, ModelError> {
    let mut messages = vec![Message::user("I want my money for order 7 back.")];
    loop {
        let request = ModelRequest { messages: messages.clone(), ..ModelRequest::default() };
        let said = ask(model, &request, asks_max).await?.message;
        let calls = said.tool_calls.clone();
        if calls.is_empty() {
            return Ok(said.content);
        }
        messages.push(said);
        for call in calls {
            let result = match call.name.as_str() {
                "refund" => refund(world, &call).await,
                _ => "there is no such tool",
            };
            messages.push(Message::tool(call.id, result));
        }
    }
}

async fn ask(
    model: &impl ModelTransport,
    request: &ModelRequest,
    asks_max: usize,
) -> Result<ModelResponse, ModelError> {
    let mut asks = 1;
    loop {
        match model.complete(request).await {
            Err(_) if asks < asks_max => asks += 1,
            answer => return answer,
        }
    }
}

/// The bank knows a call again by its id.
async fn refund(world: &WorldHandle, call: &ToolCall) -> &'static str {
    match world.effects().happen_once("refund", &call.id).await {
        true => "done",
        false => "done before",
    }
}
