//! A report that a model streams. Where the stream ends, the answer is taken to end.

use std::time::Duration;

use futures_util::StreamExt;
use windtunnel::model::{Delta, FinishReason, ModelError, ModelErrorKind, ModelRequest, ModelTransport};
use windtunnel::sim::WorldHandle;
use windtunnel::sim::script::ScriptedModel;

use super::{Animal, Breaks, Twin};

const RULE: &str = "what is published is whole";
const REPORT: &str = "Sales are up by a tenth. This leaves out the returns.";

pub(crate) const CUT_STREAM: Animal = Animal {
    name: "cut stream",
    after: "zeroclaw#8663",
    breaks: Breaks::Rule(RULE),
    scenario: |world, twin| Box::pin(scenario(world, twin)),
};

async fn scenario(world: WorldHandle, twin: Twin) {
    let script = ScriptedModel::by_conversation([[ScriptedModel::says(REPORT)]]);
    let model = world.faults().model(script.latency(world.env(), Duration::from_millis(100)));
    for _ in 0..4 {
        if let Ok(report) = listen(&model, twin).await {
            world.assertions().always(RULE, report == REPORT);
            break;
        }
    }
}

async fn listen(model: &impl ModelTransport, twin: Twin) -> Result<String, ModelError> {
    let request = ModelRequest::default();
    let mut deltas = model.stream(&request).await?;
    let mut text = String::new();
    let unusable = |message: &str| ModelError::new(ModelErrorKind::InvalidResponse, message);
    while let Some(delta) = deltas.next().await {
        match delta? {
            Delta::Text(more) => text.push_str(&more),
            Delta::Finished { finish_reason: FinishReason::Stop, .. } => return Ok(text),
            _ => return Err(unusable("the answer is no report")),
        }
    }
    match twin {
        Twin::Faulty => Ok(text),
        Twin::Correct => Err(unusable("the answer ended before its end")),
    }
}
