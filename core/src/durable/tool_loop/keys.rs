//! The keys of a loop's operations and approvals: the same in every attempt.

use std::collections::BTreeSet;

use crate::durable::text::check_name;
use crate::model::Message;

/// The longest id of a call that is kept as it is, in bytes: with what stands around it, it makes a key.
const CALL_ID_BYTES_MAX: usize = 64;
/// The longest name of a loop, in bytes.
pub(super) const LOOP_NAME_BYTES_MAX: usize = 32;

/// Makes keys for one loop.
#[derive(Clone, Debug, Default)]
pub(super) struct Keys {
    /// With its colon; empty for a loop without a name.
    pub(super) prefix: String,
}

impl Keys {
    pub(super) fn model(&self, turn: u32) -> String {
        format!("{}model:turn:{turn}", self.prefix)
    }

    /// Of a call that a turn asked for, or that the conversation began with.
    pub(super) fn tool(&self, turn: Option<u32>, call_id: &str) -> String {
        format!("{}tool:{}:{call_id}", self.prefix, turn_name(turn))
    }

    pub(super) fn approval(&self, turn: Option<u32>, call_id: &str) -> String {
        format!("{}approval:{}:{call_id}", self.prefix, turn_name(turn))
    }
}

fn turn_name(turn: Option<u32>) -> String {
    turn.map_or_else(|| "given".to_owned(), |turn| format!("turn:{turn}"))
}

/// Gives the calls of a turn ids that can stand in keys: those that have none, a long one, or that of another call of the
/// turn, are called by their place.
pub(super) fn name_calls(message: &mut Message) {
    let given: Vec<_> = message.tool_calls.iter().map(|call| call.id.clone()).collect();
    let mut taken = BTreeSet::new();
    for (place, call) in message.tool_calls.iter_mut().enumerate() {
        let is_usable = call.id.len() <= CALL_ID_BYTES_MAX && check_name(&call.id).is_ok();
        if is_usable && taken.insert(call.id.clone()) {
            continue;
        }
        let names = (0..).map(|again: usize| match again {
            0 => format!("call-{}", place + 1),
            _ => format!("call-{}-{again}", place + 1),
        });
        // One of so many is free.
        let free = names.take(given.len() * 2 + 1).find(|name| !taken.contains(name) && !given.contains(name));
        call.id = free.unwrap_or_default();
        taken.insert(call.id.clone());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::durable::text::check_operation_key;
    use crate::executor::ToolCall;

    #[test]
    fn calls_that_have_no_usable_id_are_called_by_their_place() {
        let ids = ["a", "", "a", "call-3", "x\ny", &"l".repeat(65), &"é".repeat(32)];
        let calls = ids.map(|id| ToolCall::new("look_up", json!({})).with_id(id));
        let mut message = Message::tool_calls(calls.into());
        name_calls(&mut message);
        let named: Vec<_> = message.tool_calls.iter().map(|call| call.id.as_str()).collect();
        assert_eq!(named, ["a", "call-2", "call-3-1", "call-3", "call-5", "call-6", ids[6]]);
    }

    #[test]
    fn the_longest_names_make_keys_that_can_be_stored() {
        let keys = Keys { prefix: format!("{}:", "p".repeat(LOOP_NAME_BYTES_MAX)) };
        let id = "i".repeat(CALL_ID_BYTES_MAX);
        for key in [keys.model(u32::MAX), keys.tool(Some(u32::MAX), &id), keys.approval(Some(u32::MAX), &id)] {
            assert_eq!(check_operation_key(&key), Ok(()), "{key}");
        }
        assert_eq!(Keys::default().tool(Some(0), "call-123"), "tool:turn:0:call-123");
        assert_eq!(Keys::default().model(0), "model:turn:0");
    }
}
