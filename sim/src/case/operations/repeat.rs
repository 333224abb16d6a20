//! Long texts, written short: `{"$repeat": [text, count]}`.

use serde_json::{Map, Value};
use windtunnel_core::json::Path;

use crate::case::build::Refusal;

const NAME: &str = "$repeat";
/// How many bytes all repeated texts of a case may have.
const BYTES_MAX: usize = 16 * 1024 * 1024;

/// The value with every repeated text written out. It is no deeper than what a file may hold.
pub(super) fn expand(value: &Value, path: &Path) -> Result<Value, Refusal> {
    Expansion { bytes: 0, path: path.clone() }.expand(value)
}

struct Expansion {
    bytes: usize,
    path: Path,
}

impl Expansion {
    fn expand(&mut self, value: &Value) -> Result<Value, Refusal> {
        match value {
            Value::Object(members) => match members.get(NAME) {
                Some(repeated) => self.repeat(members, repeated),
                None => self.members(members),
            },
            Value::Array(elements) => {
                let mut expanded = Vec::with_capacity(elements.len());
                for (index, element) in elements.iter().enumerate() {
                    self.path.push_element(index);
                    expanded.push(self.expand(element)?);
                    self.path.pop();
                }
                Ok(expanded.into())
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(value.clone()),
        }
    }

    fn members(&mut self, members: &Map<String, Value>) -> Result<Value, Refusal> {
        let mut expanded = Map::new();
        for (name, member) in members {
            self.path.push_member(name);
            expanded.insert(name.clone(), self.expand(member)?);
            self.path.pop();
        }
        Ok(expanded.into())
    }

    fn repeat(&mut self, members: &Map<String, Value>, repeated: &Value) -> Result<Value, Refusal> {
        let refuse = |problem: String| Refusal::new(self.path.clone().member(NAME), problem);
        let parts = repeated.as_array().map(Vec::as_slice);
        let (text, count) = match parts {
            Some([Value::String(text), Value::Number(count)]) if members.len() == 1 => (text, count.as_u64()),
            _ => {
                return Err(refuse(
                    "a repeated text is written {\"$repeat\": [text, count]}, and nothing beside".to_owned(),
                ));
            }
        };
        let bytes = count.and_then(|count| usize::try_from(count).ok()).and_then(|count| count.checked_mul(text.len()));
        let total = bytes.and_then(|bytes| bytes.checked_add(self.bytes)).filter(|total| *total <= BYTES_MAX);
        let (Some(total), Some(count)) = (total, count.and_then(|count| usize::try_from(count).ok())) else {
            return Err(refuse(format!("the repeated texts of a case have at most {BYTES_MAX} bytes together")));
        };
        self.bytes = total;
        // An empty text has no bytes, however often it stands there.
        let count = if text.is_empty() { 0 } else { count };
        Ok(text.repeat(count).into())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn repeated_texts_are_written_out_wherever_they_stand() {
        let value = json!({"a": [1, {"$repeat": ["xy", 3]}], "b": {"$repeat": ["", 18446744073709551615_u64]}});
        assert_eq!(expand(&value, &Path::root()).ok(), Some(json!({"a": [1, "xyxyxy"], "b": ""})));
    }

    #[track_caller]
    fn check_refused(value: &Value, message: &str) {
        let refusal = expand(value, &Path::root()).err().unwrap();
        assert_eq!(format!("{}: {}", refusal.path, refusal.problem), message);
    }

    #[test]
    fn what_is_no_repeated_text_is_refused_with_its_place() {
        let form = "$.a[\"$repeat\"]: a repeated text is written {\"$repeat\": [text, count]}, and nothing beside";
        let form = form.replace("[\"$repeat\"]", ".$repeat");
        for repeated in [json!(1), json!(["x"]), json!([1, 2]), json!(["x", "2"])] {
            check_refused(&json!({"a": {"$repeat": repeated}}), &form);
        }
        check_refused(&json!({"a": {"$repeat": ["x", 1], "b": 1}}), &form);
        let bound = "$.$repeat: the repeated texts of a case have at most 16777216 bytes together";
        for count in [json!(-1), json!(1.5), json!(16_777_217), json!(u64::MAX)] {
            check_refused(&json!({"$repeat": ["x", count]}), bound);
        }
        let twice = json!([{"$repeat": ["x", 16_777_216]}, {"$repeat": ["x", 1]}]);
        check_refused(&twice, "$[1].$repeat: the repeated texts of a case have at most 16777216 bytes together");
    }
}
