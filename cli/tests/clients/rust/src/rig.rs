//! `rig`: Chat Completions, Responses and Messages behind one interface.

use futures::StreamExt as _;
use rig_core::Model;
use rig_core::completion::{CompletionRequest, CompletionResponse, ToolDefinition};
use rig_core::driver::Transport;
use rig_core::error::ProviderError;
use rig_core::message::{Message, ToolResultContent};
use rig_core::operation::Completion;
use rig_core::providers::anthropic::Anthropic;
use rig_core::providers::openai::OpenAI;
use rig_core::streaming::{Item, StreamEvent};
use rig_core::wire::Wire;
use serde_json::json;

use crate::observation::{self, DESCRIPTION, RESULT, Seen, TOOL, at_once, parameters};

// ANCHOR: model
pub async fn play(wanted: &[String]) {
    let openai = OpenAI::from_env().expect("the environment says where");
    let anthropic = Anthropic::from_env().expect("the environment says where");
    play_with("chat", wanted, openai.chat("gpt-5.2")).await;
    play_with("responses", wanted, openai.responses("gpt-5.2")).await;
    play_with("messages", wanted, anthropic.completion("claude-opus-4-6")).await;
}
// ANCHOR_END: model

async fn play_with<W, T>(api: &str, wanted: &[String], model: Model<W, T>)
where
    W: Wire<Op = Completion> + Clone + 'static,
    T: Transport<W>,
{
    observation::play(api, wanted, async |scene: &str, prompt: &str, seen: &mut Seen| {
        ask(&model, scene, prompt, seen).await
    })
    .await;
}

// ANCHOR: tool
async fn ask<W, T>(model: &Model<W, T>, scene: &str, prompt: &str, seen: &mut Seen) -> Result<(), ProviderError>
where
    W: Wire<Op = Completion> + Clone + 'static,
    T: Transport<W>,
{
    let request = |prompt: &str| CompletionRequest::new(prompt).max_tokens(100);
    match scene {
        "parallel" => {
            let ask = async |prompt: String| Ok(model.call(request(&prompt)).await?.text());
            return at_once(prompt, seen, ask).await;
        }
        "tool" => {
            let response = model.call(request(prompt).tool(weather())).await?;
            note(&response, seen);
            let results = response.tool_calls().map(|call| call.result(vec![ToolResultContent::text(RESULT)]));
            let results = Message::tool_results(results.collect());
            let history = [Message::user(prompt)].into_iter().chain(response.message()).chain([results]);
            let again = CompletionRequest::from(history.collect::<Vec<_>>()).max_tokens(100).tool(weather());
            note(&model.call(again).await?, seen);
        }
        _ if scene.ends_with("stream") => {
            let request = request(prompt);
            let request = if scene == "tool stream" { request.tool(weather()) } else { request };
            let mut stream = model.stream(request)?;
            while let Some(item) = stream.next().await {
                if let Item::Event(StreamEvent::Text { text, .. }) = item? {
                    seen.texts.push(text);
                }
            }
            let response = stream.finish().await?;
            let texts = std::mem::take(&mut seen.texts);
            note(&response, seen);
            seen.texts = texts;
        }
        _ => note(&model.call(request(prompt)).await?, seen),
    }
    Ok(())
}
// ANCHOR_END: tool

fn note(response: &CompletionResponse, seen: &mut Seen) {
    seen.texts.extend(Some(response.text()).filter(|text| !text.is_empty()));
    let calls = response.tool_calls();
    seen.calls.extend(calls.map(|call| (call.function.name.to_string(), call.function.arguments_value().to_string())));
    seen.usage = Some(json!(response.usage));
}

fn weather() -> ToolDefinition {
    ToolDefinition::new(TOOL.try_into().expect("this is a name"), DESCRIPTION, parameters())
}
