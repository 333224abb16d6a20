//! Messages of Anthropic.

use serde_json::{Value, json};

use super::Turn;
use super::dialect::{ARGUMENTS, TOOL};

pub(super) fn whole(turn: Turn<'_>) -> Value {
    let block = match turn {
        Turn::Text(text) => json!({"type": "text", "text": text}),
        Turn::Call => {
            let input: Value = ARGUMENTS.parse().unwrap();
            json!({"type": "tool_use", "id": "toolu_01D7FL", "name": TOOL, "input": input})
        }
    };
    message(json!([block]), json!(reason(turn)), 9)
}

pub(super) fn events(turn: Turn<'_>) -> Vec<String> {
    let (block, deltas) = match turn {
        Turn::Text(text) => {
            let deltas = text.split_inclusive(' ').map(|word| json!({"type": "text_delta", "text": word}));
            (json!({"type": "text", "text": ""}), deltas.collect::<Vec<_>>())
        }
        Turn::Call => {
            let pieces = ARGUMENTS.split_inclusive(':');
            let deltas = pieces.map(|piece| json!({"type": "input_json_delta", "partial_json": piece}));
            (json!({"type": "tool_use", "id": "toolu_01D7FL", "name": TOOL, "input": {}}), deltas.collect())
        }
    };
    let mut events = vec![
        json!({"type": "message_start", "message": message(json!([]), Value::Null, 1)}),
        json!({"type": "content_block_start", "index": 0, "content_block": block}),
        json!({"type": "ping"}),
    ];
    events.extend(deltas.into_iter().map(|delta| json!({"type": "content_block_delta", "index": 0, "delta": delta})));
    let delta = json!({"stop_reason": reason(turn), "stop_sequence": null});
    events.push(json!({"type": "content_block_stop", "index": 0}));
    events.push(json!({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 9}}));
    events.push(json!({"type": "message_stop"}));
    events.iter().enumerate().map(|(number, event)| written(number, event)).collect()
}

/// An event; as the provider does, with a run of spaces before its end that varies.
fn written(number: usize, event: &Value) -> String {
    let text = event.to_string();
    let (body, end) = text.split_at(text.len() - 1);
    format!("event: {}\ndata: {body}{}{end}\n\n", event["type"].as_str().unwrap(), " ".repeat(number * 7 % 5))
}

fn message(content: Value, reason: Value, output_tokens: u64) -> Value {
    json!({
        "id": "msg_01XFDUDYJ", "type": "message", "role": "assistant", "model": "claude-opus-4-6", "content": content,
        "stop_reason": reason, "stop_sequence": null,
        "usage": {"input_tokens": 25, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
            "output_tokens": output_tokens}
    })
}

fn reason(turn: Turn<'_>) -> &'static str {
    match turn {
        Turn::Text(_) => "end_turn",
        Turn::Call => "tool_use",
    }
}
