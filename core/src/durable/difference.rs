//! What differs between the request that was recorded and the one that is made now.

use std::fmt;

use serde_json::Value;

use super::binding::{Binding, OperationKind};
use crate::json::Path;

/// The first thing that differs. Arguments are named by their place, and their values are not shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BindingDifference {
    /// The kind.
    Kind {
        /// The kind that was recorded.
        recorded: OperationKind,
        /// The kind that is requested.
        requested: OperationKind,
    },
    /// The callable.
    Callable {
        /// The name that was recorded.
        recorded: String,
        /// The name that is requested.
        requested: String,
    },
    /// The version.
    Version {
        /// The version that was recorded.
        recorded: String,
        /// The version that is requested.
        requested: String,
    },
    /// An argument.
    Argument {
        /// Its place.
        path: Path,
        /// What was recorded there: the type, or nothing.
        recorded: Option<&'static str>,
        /// What is requested there.
        requested: Option<&'static str>,
    },
}

impl BindingDifference {
    /// The first difference, if there is one.
    pub fn between(recorded: &Binding, requested: &Binding) -> Option<Self> {
        let texts = |left: &str, right: &str| (left.to_owned(), right.to_owned());
        if recorded.kind() != requested.kind() {
            return Some(Self::Kind { recorded: recorded.kind(), requested: requested.kind() });
        }
        if recorded.callable() != requested.callable() {
            let (recorded, requested) = texts(recorded.callable(), requested.callable());
            return Some(Self::Callable { recorded, requested });
        }
        if recorded.version() != requested.version() {
            let (recorded, requested) = texts(recorded.version(), requested.version());
            return Some(Self::Version { recorded, requested });
        }
        let mut path = Path::root();
        first_difference(Some(recorded.arguments()), Some(requested.arguments()), &mut path)
    }
}

/// Goes at most as deep as what may be stored.
fn first_difference(recorded: Option<&Value>, requested: Option<&Value>, path: &mut Path) -> Option<BindingDifference> {
    match (recorded, requested) {
        (Some(Value::Object(left)), Some(Value::Object(right))) => {
            let mut names: Vec<&String> = left.keys().chain(right.keys()).collect();
            names.sort_unstable();
            names.dedup();
            names.into_iter().find_map(|name| {
                path.push_member(name);
                let found = first_difference(left.get(name), right.get(name), path);
                path.pop();
                found
            })
        }
        (Some(Value::Array(left)), Some(Value::Array(right))) => (0..left.len().max(right.len())).find_map(|index| {
            path.push_element(index);
            let found = first_difference(left.get(index), right.get(index), path);
            path.pop();
            found
        }),
        // Numbers keep their identity: 1 is not 1.0 (D2), and -0.0 is not 0.0.
        (Some(Value::Number(left)), Some(Value::Number(right))) if left.to_string() == right.to_string() => None,
        (Some(left), Some(right)) if left == right && !left.is_number() => None,
        (recorded, requested) => Some(BindingDifference::Argument {
            path: path.clone(),
            recorded: recorded.map(type_name),
            requested: requested.map(type_name),
        }),
    }
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(number) if number.is_f64() => "a float",
        Value::Number(_) => "an integer",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

impl fmt::Display for BindingDifference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kind { recorded, requested } => {
                write!(formatter, "its kind was {recorded} and is now {requested}")
            }
            Self::Callable { recorded, requested } => {
                write!(formatter, "its callable was {recorded:?} and is now {requested:?}")
            }
            Self::Version { recorded, requested } => {
                write!(formatter, "its version was {recorded:?} and is now {requested:?}")
            }
            Self::Argument { path, recorded, requested } if recorded == requested => {
                let kind = recorded.unwrap_or("nothing");
                write!(formatter, "its arguments differ at {path}, where another value is ({kind} both times)")
            }
            Self::Argument { path, recorded, requested } => {
                let (recorded, requested) = (recorded.unwrap_or("nothing"), requested.unwrap_or("nothing"));
                write!(formatter, "its arguments differ at {path}, where {recorded} was and {requested} is now")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn binding(kind: OperationKind, callable: &str, version: &str, arguments: Value) -> Binding {
        Binding::new("key", kind, callable, version, arguments).unwrap()
    }

    #[track_caller]
    fn check(recorded: &Binding, requested: &Binding, expected: Option<&str>) {
        let found = BindingDifference::between(recorded, requested).map(|difference| difference.to_string());
        assert_eq!(found.as_deref(), expected);
        assert_eq!(found.is_none(), recorded == requested, "equality and difference must agree");
    }

    #[test]
    fn what_differs_first_is_named() {
        use OperationKind::{Model, Tool};
        let recorded = binding(Tool, "agent:call", "1", json!({"a": 1}));
        check(&recorded, &binding(Model, "b", "2", json!({})), Some("its kind was tool and is now model"));
        let renamed = binding(Tool, "agent:other", "2", json!({}));
        check(&recorded, &renamed, Some(r#"its callable was "agent:call" and is now "agent:other""#));
        let newer = binding(Tool, "agent:call", "2", json!({}));
        check(&recorded, &newer, Some(r#"its version was "1" and is now "2""#));
    }

    #[test]
    fn arguments_are_named_by_place_and_never_shown() {
        let with = |arguments| binding(OperationKind::Tool, "c", "1", arguments);
        let recorded = with(json!({"list": [1, {"card": "4242"}], "n": 1, "z": 0.0}));
        let same = with(json!({"z": 0.0, "n": 1, "list": [1, {"card": "4242"}]}));
        check(&recorded, &same, None);
        let another = with(json!({"list": [1, {"card": "1111"}], "n": 1, "z": 0.0}));
        let both = "its arguments differ at $.list[1].card, where another value is (a string both times)";
        check(&recorded, &another, Some(both));
        let float = with(json!({"list": [1, {"card": "4242"}], "n": 1.0, "z": 0.0}));
        check(&recorded, &float, Some("its arguments differ at $.n, where an integer was and a float is now"));
        let shorter = with(json!({"list": [1], "n": 1, "z": 0.0}));
        check(&recorded, &shorter, Some("its arguments differ at $.list[1], where an object was and nothing is now"));
        let negative = with(json!({"list": [1, {"card": "4242"}], "n": 1, "z": -0.0}));
        check(&recorded, &negative, Some("its arguments differ at $.z, where another value is (a float both times)"));
        let more = with(json!({"list": [1, {"card": "4242"}], "m": null, "n": 1, "z": 0.0}));
        check(&recorded, &more, Some("its arguments differ at $.m, where nothing was and null is now"));
    }
}
