//! From a part of a document to a value of its own.

use serde_json::{Map, Value};

use super::super::datum::LEVELS_MAX;
use super::document::{Content, Document, EntryId};

/// The value at `root`, or the first place in it that is nested too deep.
pub(super) fn payload(document: &Document<'_>, root: EntryId) -> Result<Value, EntryId> {
    let mut open: Vec<Open> = Vec::new();
    let mut done = Value::Null;
    for entry in document.subtree(root) {
        close(document, &mut open, Some(entry));
        let value = match document.content(entry) {
            Content::Null => Value::Null,
            Content::Bool(truth) => Value::Bool(truth),
            Content::Number(number) => Value::Number(number.clone()),
            Content::String(string) => Value::from(string),
            Content::Array | Content::Object => {
                if open.len() == LEVELS_MAX as usize {
                    return Err(entry);
                }
                let is_array = matches!(document.content(entry), Content::Array);
                let value = if is_array { Value::Array(Vec::new()) } else { Value::Object(Map::new()) };
                open.push(Open { entry, value });
                continue;
            }
        };
        match open.last_mut() {
            Some(parent) => put(document, &mut parent.value, entry, value),
            None => done = value,
        }
    }
    Ok(close(document, &mut open, None).unwrap_or(done))
}

struct Open {
    entry: EntryId,
    value: Value,
}

/// Closes what ends before `next`, or everything; what nothing is around is the whole.
fn close(document: &Document<'_>, open: &mut Vec<Open>, next: Option<EntryId>) -> Option<Value> {
    while let Some(Open { entry, value }) =
        open.pop_if(|innermost| next.is_none_or(|next| document.end(innermost.entry) == next))
    {
        match open.last_mut() {
            Some(parent) => put(document, &mut parent.value, entry, value),
            None => return Some(value),
        }
    }
    None
}

fn put(document: &Document<'_>, parent: &mut Value, entry: EntryId, value: Value) {
    match parent {
        Value::Array(elements) => elements.push(value),
        Value::Object(members) => {
            members.insert(document.name(entry).to_owned(), value);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Bounds;

    #[test]
    fn values_come_through_with_their_order_and_identity() {
        for text in [
            "1",
            "\"a\"",
            "[]",
            r#"{"b":[1,1.0,{"x":[]},[[2],3]],"a":{"y":{"z":null},"w":true},"c":18446744073709551615}"#,
        ] {
            let document = Document::parse(text, Bounds::DEFAULT).unwrap();
            let value = payload(&document, Document::ROOT).unwrap();
            assert_eq!(value.to_string(), text);
            let again = Document::from_value(&value).unwrap();
            assert_eq!(payload(&again, Document::ROOT).unwrap().to_string(), text);
        }
    }

    #[test]
    fn depth_has_an_inclusive_bound() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let (exact, deep) = (nested(LEVELS_MAX as usize), nested(LEVELS_MAX as usize + 1));
        let bounds = Bounds { depth_max: usize::MAX, ..Bounds::DEFAULT };
        assert!(payload(&Document::parse(&exact, bounds).unwrap(), Document::ROOT).is_ok());
        let document = Document::parse(&deep, bounds).unwrap();
        let refused = payload(&document, Document::ROOT).unwrap_err();
        assert_eq!(document.text_offset(refused), Some((deep.as_str(), LEVELS_MAX as usize)));
    }
}
