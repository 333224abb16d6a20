//! From text to a value, refusing what would lose its identity.
//!
//! serde_json rounds an integer that does not fit and keeps the last of two members of the same name, both in silence;
//! json-event-parser hands out every token, so that this parser can refuse them with their place.

use json_event_parser::JsonEvent;
use serde_json::{Map, Value};

use super::events::{self, Build, at, build};
use super::{Bounds, BoundsError, Path};

/// Text was not accepted as JSON.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {kind}")]
pub struct ParseError {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// What is wrong.
    pub kind: ParseErrorKind,
}

/// What is wrong with a JSON text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseErrorKind {
    /// Not JSON.
    #[error("{path}: {message}")]
    Syntax {
        /// The place reached.
        path: Path,
        /// What the parser expected.
        message: String,
    },
    /// An integer that fits neither 64 bits signed nor unsigned, or a number that is not finite.
    #[error(
        "{path}: the number {number} does not fit; write it as a string, or a large integer as a float such as 1e30"
    )]
    Number {
        /// The place of the number.
        path: Path,
        /// Its text.
        number: String,
    },
    /// The same member twice in one object.
    #[error("{path}: this member is given twice")]
    DuplicateMember {
        /// The place of the second one.
        path: Path,
    },
    /// The text is over a bound.
    #[error(transparent)]
    Bounds(#[from] BoundsError),
}

/// Parses one JSON value.
///
/// ```
/// use windtunnel_core::json::{Bounds, parse};
///
/// assert!(parse("[1, 1.0]", Bounds::DEFAULT).is_ok());
/// let refusal = parse("{\"id\": 123456789012345678901}", Bounds::DEFAULT).unwrap_err();
/// assert!(refusal.to_string().starts_with("line 1, column 8: $.id: the number 123456789012345678901 does not fit"));
/// ```
///
/// # Errors
/// [`ParseError`] for anything that is not one JSON value within `bounds`, for a number that does not fit and for a
/// member given twice.
pub fn parse(text: &str, bounds: Bounds) -> Result<Value, ParseError> {
    let mut builder = Builder { path: Path::root(), open: Vec::new(), done: None };
    build(text, bounds, &mut builder)?;
    let Builder { path, done, .. } = builder;
    done.ok_or_else(|| at(text, text.len(), ParseErrorKind::Syntax { path, message: "there is no value".to_owned() }))
}

/// Builds the value, with the containers that are still open on a stack of its own.
struct Builder {
    path: Path,
    open: Vec<Open>,
    done: Option<Value>,
}

enum Open {
    Array(Vec<Value>),
    Object { members: Map<String, Value>, name: String },
}

impl Build<'_> for Builder {
    fn take(&mut self, event: JsonEvent<'_>, _: usize) -> Result<(), ParseErrorKind> {
        match event {
            JsonEvent::Null => self.put(Value::Null),
            JsonEvent::Boolean(truth) => self.put(Value::Bool(truth)),
            JsonEvent::String(string) => self.put(Value::String(string.into_owned())),
            JsonEvent::Number(number) => {
                let kind = || ParseErrorKind::Number { path: self.path.clone(), number: number.to_string() };
                let number = events::number(&number).ok_or_else(kind)?;
                self.put(Value::Number(number));
            }
            JsonEvent::StartArray => {
                self.path.push_element(0);
                self.open.push(Open::Array(Vec::new()));
            }
            JsonEvent::StartObject => {
                self.path.push_member("");
                self.open.push(Open::Object { members: Map::new(), name: String::new() });
            }
            JsonEvent::ObjectKey(key) => return self.begin_member(key.into_owned()),
            JsonEvent::EndArray | JsonEvent::EndObject => {
                self.path.pop();
                match self.open.pop() {
                    Some(Open::Array(elements)) => self.put(Value::Array(elements)),
                    Some(Open::Object { members, .. }) => self.put(Value::Object(members)),
                    None => {}
                }
            }
            JsonEvent::Eof => {}
        }
        Ok(())
    }

    /// An offence before the first member is the object's own.
    fn place(&self) -> Path {
        let mut path = self.path.clone();
        if matches!(self.open.last(), Some(Open::Object { members, name }) if members.is_empty() && name.is_empty()) {
            path.pop();
        }
        path
    }
}

impl Builder {
    fn begin_member(&mut self, key: String) -> Result<(), ParseErrorKind> {
        self.path.pop();
        self.path.push_member(key.as_str());
        if let Some(Open::Object { members, name }) = self.open.last_mut() {
            if members.contains_key(&key) {
                return Err(ParseErrorKind::DuplicateMember { path: self.path.clone() });
            }
            *name = key;
        }
        Ok(())
    }

    fn put(&mut self, value: Value) {
        match self.open.last_mut() {
            Some(Open::Array(elements)) => {
                elements.push(value);
                self.path.pop();
                self.path.push_element(elements.len());
            }
            Some(Open::Object { members, name }) => {
                members.insert(std::mem::take(name), value);
            }
            None => self.done = Some(value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_refused(text: &str, message: &str) {
        assert_eq!(parse(text, Bounds { bytes_max: 64, depth_max: 2 }).unwrap_err().to_string(), message);
    }

    #[test]
    fn values_come_through_with_their_order_and_identity() {
        let text = r#"{"b":[1,1.0,-1,18446744073709551615,1e2,"é\n"],"a":{"x":null,"y":true},"c":[],"d":{}}"#;
        assert_eq!(
            parse(text, Bounds::DEFAULT).unwrap().to_string(),
            r#"{"b":[1,1.0,-1,18446744073709551615,100.0,"é\n"],"a":{"x":null,"y":true},"c":[],"d":{}}"#
        );
    }

    #[test]
    fn refusals_name_the_place_and_the_way_out() {
        let fit = "does not fit; write it as a string, or a large integer as a float such as 1e30";
        check_refused(
            "[1,\n  18446744073709551616]",
            &format!("line 2, column 3: $[1]: the number 18446744073709551616 {fit}"),
        );
        check_refused(r#"{"a": 1e999}"#, &format!("line 1, column 7: $.a: the number 1e999 {fit}"));
        check_refused(r#"{"a": 1, "a": 2}"#, "line 1, column 10: $.a: this member is given twice");
        check_refused(r#"{"a": [[1]]}"#, "line 1, column 8: $.a[0]: nested deeper than the 2 levels allowed");
        check_refused("[1,,2]", "line 1, column 4: $[1]: Unexpected comma, no values to separate");
        check_refused("[\n\"é\",,]", "line 2, column 5: $[1]: Unexpected comma, no values to separate");
        check_refused(&" ".repeat(65), "line 1, column 1: $: 65 bytes are more than the 64 allowed");
    }

    #[test]
    fn text_that_is_not_one_value_is_refused() {
        for text in ["", " ", "[1", "{\"a\"}", "1 2", "nul", "[1,]", "\"\\x\"", "NaN", "01", "'a'"] {
            assert!(parse(text, Bounds::DEFAULT).is_err(), "{text:?} was accepted");
        }
    }
}
