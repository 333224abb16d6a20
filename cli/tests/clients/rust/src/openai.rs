//! `async-openai`: Chat Completions and Responses.

use async_openai::Client;
use async_openai::config::OpenAIConfig;
use async_openai::error::OpenAIError;
use async_openai::types::chat::{
    ChatCompletionMessageToolCalls, ChatCompletionResponseMessage, CreateChatCompletionRequest,
};
use async_openai::types::responses::{CreateResponse, OutputItem, Response, ResponseStreamEvent};
use futures::StreamExt as _;
use serde_json::{Value, json};

use crate::observation::{self, DESCRIPTION, RESULT, Seen, TOOL, at_once, parameters};

const MODEL: &str = "gpt-5.2";

type Clients = Client<OpenAIConfig>;

pub async fn play(wanted: &[String]) {
    let client = Client::new();
    observation::play("chat", wanted, async |scene: &str, prompt: &str, seen: &mut Seen| {
        chat(&client, scene, prompt, seen).await
    })
    .await;
    observation::play("responses", wanted, async |scene: &str, prompt: &str, seen: &mut Seen| {
        responses(&client, scene, prompt, seen).await
    })
    .await;
}

async fn chat(client: &Clients, scene: &str, prompt: &str, seen: &mut Seen) -> Result<(), OpenAIError> {
    let user = json!({"role": "user", "content": prompt});
    match scene {
        "parallel" => {
            let ask = async |prompt: String| {
                let message = chat_once(client, json!([{"role": "user", "content": prompt}]), false).await?;
                Ok(message.content.unwrap_or_default())
            };
            return at_once(prompt, seen, ask).await;
        }
        "tool" => {
            let message = chat_once(client, json!([user]), true).await?;
            for call in message.tool_calls.iter().flatten() {
                let ChatCompletionMessageToolCalls::Function(call) = call else { continue };
                seen.calls.push((call.function.name.clone(), call.function.arguments.clone()));
            }
            let calls = serde_json::to_value(&message.tool_calls).expect("calls are JSON");
            let id = calls[0]["id"].clone();
            let assistant = json!({"role": "assistant", "tool_calls": calls});
            let result = json!({"role": "tool", "tool_call_id": id, "content": RESULT});
            let message = chat_once(client, json!([user, assistant, result]), true).await?;
            seen.texts.extend(message.content);
        }
        _ if scene.ends_with("stream") => {
            let mut request = chat_request(json!([user]), scene == "tool stream");
            request.stream_options = serde_json::from_value(json!({"include_usage": true})).expect("options");
            let mut stream = client.chat().create_stream(request).await?;
            while let Some(chunk) = stream.next().await {
                let chunk = chunk?;
                seen.usage = seen.usage.take().or(chunk.usage.map(|usage| json!(usage)));
                for choice in chunk.choices {
                    seen.texts.extend(choice.delta.content.filter(|text| !text.is_empty()));
                    for call in choice.delta.tool_calls.into_iter().flatten() {
                        let function = call.function.expect("a function is called");
                        seen.calls.extend(function.name.map(|name| (name, String::new())));
                        let (_, arguments) = seen.calls.last_mut().expect("a call begins with its name");
                        arguments.push_str(&function.arguments.unwrap_or_default());
                    }
                }
            }
        }
        _ => {
            let response = client.chat().create(chat_request(json!([user]), false)).await?;
            seen.usage = response.usage.map(|usage| json!(usage));
            seen.texts.extend(response.choices.into_iter().filter_map(|choice| choice.message.content));
        }
    }
    Ok(())
}

async fn chat_once(
    client: &Clients,
    messages: Value,
    has_tool: bool,
) -> Result<ChatCompletionResponseMessage, OpenAIError> {
    let response = client.chat().create(chat_request(messages, has_tool)).await?;
    Ok(response.choices.into_iter().next().expect("there is a choice").message)
}

fn chat_request(messages: Value, has_tool: bool) -> CreateChatCompletionRequest {
    let mut request = json!({"model": MODEL, "messages": messages});
    if has_tool {
        let function = json!({"name": TOOL, "description": DESCRIPTION, "parameters": parameters()});
        request["tools"] = json!([{"type": "function", "function": function}]);
    }
    serde_json::from_value(request).expect("this is a request")
}

async fn responses(client: &Clients, scene: &str, prompt: &str, seen: &mut Seen) -> Result<(), OpenAIError> {
    match scene {
        "parallel" => {
            let ask = async |prompt: String| {
                let response = client.responses().create(responses_request(json!(prompt), false)).await?;
                Ok(response.output_text().unwrap_or_default())
            };
            return at_once(prompt, seen, ask).await;
        }
        "tool" => {
            let response = client.responses().create(responses_request(json!(prompt), true)).await?;
            let mut history = vec![json!({"role": "user", "content": prompt})];
            for item in response.output {
                let OutputItem::FunctionCall(call) = item else { continue };
                history.push(json!({"type": "function_call", "call_id": call.call_id, "name": call.name,
                    "arguments": call.arguments}));
                history.push(json!({"type": "function_call_output", "call_id": call.call_id, "output": RESULT}));
                seen.calls.push((call.name, call.arguments));
            }
            note(client.responses().create(responses_request(json!(history), true)).await?, seen);
        }
        _ if scene.ends_with("stream") => {
            let request = responses_request(json!(prompt), scene == "tool stream");
            let mut stream = client.responses().create_stream(request).await?;
            while let Some(event) = stream.next().await {
                match event? {
                    ResponseStreamEvent::ResponseOutputTextDelta(event) => seen.texts.push(event.delta),
                    ResponseStreamEvent::ResponseFunctionCallArgumentsDone(event) => {
                        seen.calls.push((event.name.unwrap_or_default(), event.arguments));
                    }
                    ResponseStreamEvent::ResponseCompleted(event) => {
                        seen.usage = event.response.usage.map(|usage| json!(usage));
                    }
                    ResponseStreamEvent::ResponseFailed(event) => {
                        let error = event.response.error.map(|error| error.message);
                        return Err(OpenAIError::InvalidArgument(error.unwrap_or_default()));
                    }
                    _ => {}
                }
            }
        }
        _ => note(client.responses().create(responses_request(json!(prompt), false)).await?, seen),
    }
    Ok(())
}

fn note(response: Response, seen: &mut Seen) {
    seen.texts.extend(response.output_text());
    seen.usage = response.usage.map(|usage| json!(usage));
}

fn responses_request(input: Value, has_tool: bool) -> CreateResponse {
    let mut request = json!({"model": MODEL, "input": input});
    if has_tool {
        request["tools"] = json!([{"type": "function", "name": TOOL, "description": DESCRIPTION,
            "parameters": parameters(), "strict": true}]);
    }
    serde_json::from_value(request).expect("this is a request")
}
