//! Chat Completions of OpenAI.

use serde_json::{Value, json};

use super::Turn;
use super::dialect::{ARGUMENTS, TOOL};

pub(super) fn whole(turn: Turn<'_>) -> Value {
    let (message, reason) = match turn {
        Turn::Text(text) => (json!({"role": "assistant", "content": text, "refusal": null}), "stop"),
        Turn::Call => {
            let function = json!({"name": TOOL, "arguments": ARGUMENTS});
            let call = json!({"id": "call_Rz7XkT1", "type": "function", "function": function});
            (json!({"role": "assistant", "content": null, "tool_calls": [call]}), "tool_calls")
        }
    };
    json!({
        "id": "chatcmpl-B9MBs8", "object": "chat.completion", "created": 1_741_570_000, "model": "gpt-5.2",
        "choices": [{"index": 0, "message": message, "finish_reason": reason, "logprobs": null}],
        "usage": usage(), "system_fingerprint": "fp_06737a9306"
    })
}

pub(super) fn events(turn: Turn<'_>) -> Vec<String> {
    let mut deltas = vec![json!({"role": "assistant", "content": ""})];
    let reason = match turn {
        Turn::Text(text) => {
            deltas.extend(text.split_inclusive(' ').map(|word| json!({"content": word})));
            "stop"
        }
        Turn::Call => {
            let call = json!({"index": 0, "id": "call_Rz7XkT1", "type": "function",
                "function": {"name": TOOL, "arguments": ""}});
            deltas.push(json!({"tool_calls": [call]}));
            let pieces = ARGUMENTS.split_inclusive(':');
            deltas.extend(pieces.map(|piece| json!({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]})));
            "tool_calls"
        }
    };
    let chunk = |choices: Value, usage: Value| {
        let chunk = json!({
            "id": "chatcmpl-B9MBs8", "object": "chat.completion.chunk", "created": 1_741_570_000, "model": "gpt-5.2",
            "choices": choices, "usage": usage, "obfuscation": "xk3"
        });
        format!("data: {chunk}\n\n")
    };
    let choice = |delta: Value, reason: Value| json!([{"index": 0, "delta": delta, "finish_reason": reason}]);
    let deltas = deltas.into_iter().map(|delta| chunk(choice(delta, Value::Null), Value::Null));
    let end = [chunk(choice(json!({}), json!(reason)), Value::Null), chunk(json!([]), usage())];
    deltas.chain(end).chain(["data: [DONE]\n\n".to_owned()]).collect()
}

fn usage() -> Value {
    json!({"prompt_tokens": 19, "completion_tokens": 10, "total_tokens": 29})
}
