//! A transfer that needs approval. The approval is found again by the step's number: after a restart the model proposes
//! other arguments, and they pass as approved.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::{Value, json};
use windtunnel::executor::ToolCall;
use windtunnel::model::{Message, ModelRequest, ModelTransport};
use windtunnel::sim::script::ScriptedModel;
use windtunnel::sim::{Process, WorldHandle};

use super::{Animal, Breaks, Twin};

const RULE: &str = "what is executed was approved";
const THINKING: Duration = Duration::from_secs(600);

pub(crate) const UNSEEN_ARGUMENTS: Animal = Animal {
    name: "unseen arguments",
    after: "extra#139",
    breaks: Breaks::Rule(RULE),
    scenario: |world, twin| Box::pin(scenario(world, twin)),
};

/// Where somebody approves what lies there, after a while. It is outside of the agent, and survives it.
#[derive(Default)]
struct Desk {
    /// What was shown under each key, and when.
    shown: Mutex<BTreeMap<String, (Value, Duration)>>,
}

impl Desk {
    /// Whether what lies under the key is approved. What is new is put there.
    fn is_approved(&self, key: &str, arguments: &Value, now: Duration) -> bool {
        let mut shown = self.shown.lock();
        let (_, since) = shown.entry(key.to_owned()).or_insert_with(|| (arguments.clone(), now));
        now >= *since + THINKING
    }

    fn has_shown(&self, arguments: &Value) -> bool {
        self.shown.lock().values().any(|(shown, _)| shown == arguments)
    }
}

async fn scenario(world: WorldHandle, twin: Twin) {
    let propose = |euros| vec![ScriptedModel::calls([ToolCall::new("transfer", json!({"euros": euros}))])];
    // Each time it is asked, the model thinks of another amount.
    let turns = [100, 900, 250].into_iter().flat_map(propose).collect::<Vec<_>>();
    let model = Arc::new(ScriptedModel::by_conversation([turns]));
    let desk = Arc::new(Desk::default());
    let agent = world.host("agent").unwrap();
    agent.start(move |process| {
        let (model, desk) = (Arc::clone(&model), Arc::clone(&desk));
        async move {
            transfer(&process, &process.faults().model(model), &desk, twin).await;
        }
    });
    agent.finished().await;
}

async fn transfer(process: &Process, model: &impl ModelTransport, desk: &Desk, twin: Twin) {
    let env = process.env();
    let request = ModelRequest { messages: vec![Message::user("Pay the invoice.")], ..ModelRequest::default() };
    let call = loop {
        let proposed =
            model.complete(&request).await.ok().and_then(|answer| answer.message.tool_calls.into_iter().next());
        match proposed {
            Some(call) if call.name == "transfer" => break call,
            _ => env.sleep(Duration::from_secs(1)).await,
        }
    };
    let key = match twin {
        Twin::Faulty => "step 1".to_owned(),
        Twin::Correct => format!("step 1: {}", call.arguments),
    };
    while !desk.is_approved(&key, &call.arguments, env.now()) {
        process.mark("waits for approval").await;
        env.sleep(THINKING / 4).await;
    }
    process.assertions().always(RULE, desk.has_shown(&call.arguments));
    process.effects().happen("transfer", None).await;
}
