//! The one encoding of a value that identity and digests use: members sorted by code point, nothing between tokens.

use std::fmt::Write;

use serde_json::Value;
use sha2::{Digest, Sha256};

/// What is still to be written, so that a deep value needs no deep call stack.
enum Step<'a> {
    Value(&'a Value),
    Member(&'a str, &'a Value),
    Text(&'static str),
}

/// The canonical encoding of `value`.
///
/// ```
/// use serde_json::json;
/// use windtunnel_core::json::canonical;
///
/// assert_eq!(canonical(&json!({"b": 1, "a": [1.0, null]})), r#"{"a":[1.0,null],"b":1}"#);
/// ```
pub fn canonical(value: &Value) -> String {
    // Most values are small: their text need not grow.
    let mut text = String::with_capacity(128);
    push_encoded(&mut text, value, true);
    text
}

/// Appends the encoding of `value` with its members in their own order.
pub(crate) fn push_compact(text: &mut String, value: &Value) {
    push_encoded(text, value, false);
}

fn push_encoded(text: &mut String, value: &Value, is_sorted: bool) {
    let mut steps = vec![Step::Value(value)];
    while let Some(step) = steps.pop() {
        match step {
            Step::Text(token) => text.push_str(token),
            Step::Member(name, member) => {
                push_string(text, name);
                text.push(':');
                steps.push(Step::Value(member));
            }
            Step::Value(Value::Null) => text.push_str("null"),
            Step::Value(Value::Bool(true)) => text.push_str("true"),
            Step::Value(Value::Bool(false)) => text.push_str("false"),
            Step::Value(Value::Number(number)) => {
                let _ = write!(text, "{number}");
            }
            Step::Value(Value::String(string)) => push_string(text, string),
            Step::Value(Value::Array(elements)) => {
                text.push('[');
                push_list(&mut steps, "]", elements.iter().map(Step::Value));
            }
            Step::Value(Value::Object(members)) => {
                text.push('{');
                let mut members: Vec<_> = members.iter().collect();
                if is_sorted {
                    members.sort_unstable_by(|left, right| left.0.cmp(right.0));
                }
                push_list(&mut steps, "}", members.into_iter().map(|(name, member)| Step::Member(name, member)));
            }
        }
    }
}

/// Stacks `items`, with commas between them and `close` after them, so that they come off in order.
fn push_list<'a>(
    steps: &mut Vec<Step<'a>>,
    close: &'static str,
    items: impl DoubleEndedIterator<Item = Step<'a>> + ExactSizeIterator,
) {
    steps.push(Step::Text(close));
    for (index, item) in items.enumerate().rev() {
        steps.push(item);
        if index > 0 {
            steps.push(Step::Text(","));
        }
    }
}

/// Appends `string` as JSON.
pub(crate) fn push_string(text: &mut String, string: &str) {
    // Most strings need no escapes.
    if string.bytes().all(|byte| byte >= b' ' && byte != b'"' && byte != b'\\') {
        text.push('"');
        text.push_str(string);
        text.push('"');
    } else {
        text.push_str(&Value::from(string).to_string());
    }
}

/// The SHA-256 of the canonical encoding, as 64 lowercase hexadecimal digits.
pub fn digest(value: &Value) -> String {
    hexadecimal(&Sha256::digest(canonical(value).as_bytes()))
}

pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Drops a value of any depth, which serde_json would do recursively.
pub(crate) fn dismantle(value: Value) {
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value {
            Value::Array(elements) => open.extend(elements),
            Value::Object(members) => open.extend(members.into_iter().map(|(_, member)| member)),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn members_are_sorted_and_numbers_keep_their_identity() {
        let value = json!({"z": {"b": [], "a": {}}, "é": 1, "a": [1, 1.0, -0.0, 1e300, "\u{1}\"", true, false, null]});
        assert_eq!(
            canonical(&value),
            r#"{"a":[1,1.0,-0.0,1e+300,"\u0001\"",true,false,null],"z":{"a":{},"b":[]},"é":1}"#
        );
    }

    #[test]
    fn digests_ignore_member_order_only() {
        assert_eq!(digest(&json!({"a": 1, "b": 2})), digest(&json!({"b": 2, "a": 1})));
        assert_ne!(digest(&json!({"a": 1})), digest(&json!({"a": 1.0})));
        assert_eq!(digest(&json!(null)), "74234e98afe7498fb5daf1f36ac2d78acc339464f950703b8c019892f982b90b");
    }

    #[test]
    fn a_deep_value_is_encoded_without_a_deep_stack() {
        let mut value = json!(0);
        for _ in 0..100_000 {
            value = Value::Array(vec![value]);
        }
        assert_eq!(canonical(&value).len(), 200_001);
        dismantle(value);
    }
}
