//! Responses of OpenAI.

use serde_json::{Value, json};

use super::Turn;
use super::dialect::{ARGUMENTS, TOOL};

pub(super) fn whole(turn: Turn<'_>) -> Value {
    response("completed", json!([item(turn, "completed")]), usage())
}

pub(super) fn events(turn: Turn<'_>) -> Vec<String> {
    let begun = response("in_progress", json!([]), Value::Null);
    let mut events = vec![
        json!({"type": "response.created", "response": begun}),
        json!({"type": "response.in_progress", "response": begun}),
    ];
    match turn {
        Turn::Text(text) => {
            let place = json!({"item_id": "msg_67ccd2bf", "output_index": 0, "content_index": 0});
            let empty = json!({"type": "message", "id": "msg_67ccd2bf", "status": "in_progress", "role": "assistant",
                "content": []});
            events.push(json!({"type": "response.output_item.added", "output_index": 0, "item": empty}));
            events.push(with(&place, json!({"type": "response.content_part.added", "part": part("")})));
            events.extend(text.split_inclusive(' ').map(|word| {
                with(&place, json!({"type": "response.output_text.delta", "delta": word, "logprobs": []}))
            }));
            events.push(with(&place, json!({"type": "response.output_text.done", "text": text, "logprobs": []})));
            events.push(with(&place, json!({"type": "response.content_part.done", "part": part(text)})));
        }
        Turn::Call => {
            let place = json!({"item_id": "fc_67ccd3a1", "output_index": 0});
            let empty = json!({"type": "function_call", "id": "fc_67ccd3a1", "status": "in_progress",
                "call_id": "call_Rz7XkT1", "name": TOOL, "arguments": ""});
            events.push(json!({"type": "response.output_item.added", "output_index": 0, "item": empty}));
            events.extend(
                ARGUMENTS.split_inclusive(':').map(|piece| {
                    with(&place, json!({"type": "response.function_call_arguments.delta", "delta": piece}))
                }),
            );
            let done = json!({"type": "response.function_call_arguments.done", "name": TOOL, "arguments": ARGUMENTS});
            events.push(with(&place, done));
        }
    }
    events.push(json!({"type": "response.output_item.done", "output_index": 0, "item": item(turn, "completed")}));
    events.push(json!({"type": "response.completed", "response": whole(turn)}));
    events.into_iter().enumerate().map(|(number, event)| written(number, event)).collect()
}

/// The event of a response that fails after its first events.
pub(super) fn error_event(message: &str) -> String {
    let mut failed = response("failed", json!([]), Value::Null);
    failed["error"] = json!({"code": "server_error", "message": message});
    written(6, json!({"type": "response.failed", "response": failed}))
}

fn written(number: usize, mut event: Value) -> String {
    event["sequence_number"] = json!(number);
    format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap())
}

fn with(place: &Value, mut event: Value) -> Value {
    for (name, value) in place.as_object().unwrap() {
        event[name] = value.clone();
    }
    event
}

fn item(turn: Turn<'_>, status: &str) -> Value {
    match turn {
        Turn::Text(text) => json!({"type": "message", "id": "msg_67ccd2bf", "status": status, "role": "assistant",
            "content": [part(text)]}),
        Turn::Call => json!({"type": "function_call", "id": "fc_67ccd3a1", "status": status,
            "call_id": "call_Rz7XkT1", "name": TOOL, "arguments": ARGUMENTS}),
    }
}

fn part(text: &str) -> Value {
    json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []})
}

fn response(status: &str, output: Value, usage: Value) -> Value {
    json!({
        "id": "resp_67ccd2be", "object": "response", "created_at": 1_741_476_542, "status": status, "error": null,
        "incomplete_details": null, "instructions": null, "max_output_tokens": null, "model": "gpt-5.2",
        "output": output, "parallel_tool_calls": true, "previous_response_id": null,
        "reasoning": {"effort": null, "summary": null}, "store": true, "temperature": 1.0,
        "text": {"format": {"type": "text"}}, "tool_choice": "auto", "tools": [], "top_p": 1.0,
        "truncation": "disabled", "usage": usage, "metadata": {}
    })
}

fn usage() -> Value {
    json!({
        "input_tokens": 36, "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0}, "output_tokens": 87,
        "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 123
    })
}
