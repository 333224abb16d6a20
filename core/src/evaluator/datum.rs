//! A JSON value that is cheap to copy.

use std::sync::Arc;

use serde_json::{Number, Value};

/// A JSON value while a program runs: scalars in place, everything else shared and never changed (V3).
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Datum {
    Null,
    Bool(bool),
    Signed(i64),
    Unsigned(u64),
    Float(f64),
    /// A string, an array or an object.
    Shared(Arc<Value>),
}

impl Datum {
    /// Whether a conditional or a filter takes it for true (V4).
    pub(super) fn is_true(&self) -> bool {
        match self {
            Self::Null => false,
            Self::Bool(truth) => *truth,
            Self::Signed(number) => *number != 0,
            Self::Unsigned(number) => *number != 0,
            Self::Float(number) => *number != 0.0,
            Self::Shared(value) => match &**value {
                Value::String(text) => !text.is_empty(),
                Value::Array(elements) => !elements.is_empty(),
                Value::Object(members) => !members.is_empty(),
                _ => true,
            },
        }
    }

    /// The elements, if it is a list.
    pub(super) fn as_array(&self) -> Option<&[Value]> {
        match self {
            Self::Shared(value) => value.as_array().map(Vec::as_slice),
            _ => None,
        }
    }

    /// The type's name in JSON, with an article.
    pub(super) fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Signed(_) | Self::Unsigned(_) | Self::Float(_) => "a number",
            Self::Shared(value) => match &**value {
                Value::String(_) => "a string",
                Value::Array(_) => "a list",
                _ => "an object",
            },
        }
    }

    /// The value itself, copied only if it is shared.
    pub(super) fn into_value(self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Bool(truth) => Value::Bool(truth),
            Self::Signed(number) => Value::Number(number.into()),
            Self::Unsigned(number) => Value::Number(number.into()),
            // Every float here came from a JSON number, which is finite.
            Self::Float(number) => Number::from_f64(number).map_or(Value::Null, Value::Number),
            Self::Shared(value) => Arc::unwrap_or_clone(value),
        }
    }
}

impl From<Value> for Datum {
    fn from(value: Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(truth) => Self::Bool(truth),
            Value::Number(number) => number_datum(&number),
            shared => Self::Shared(Arc::new(shared)),
        }
    }
}

fn number_datum(number: &Number) -> Datum {
    if let Some(signed) = number.as_i64() {
        Datum::Signed(signed)
    } else if let Some(unsigned) = number.as_u64() {
        Datum::Unsigned(unsigned)
    } else {
        number.as_f64().map_or(Datum::Null, Datum::Float)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn truth_is_as_the_rules_say() {
        // V4
        for value in [json!(false), json!(null), json!(0), json!(0.0), json!(-0.0), json!(""), json!([]), json!({})] {
            assert!(!Datum::from(value.clone()).is_true(), "{value}");
        }
        for value in
            [json!(true), json!(-1), json!(u64::MAX), json!(1e-300), json!("0"), json!([0]), json!({"a": null})]
        {
            assert!(Datum::from(value.clone()).is_true(), "{value}");
        }
    }

    #[test]
    fn values_come_back_with_their_identity() {
        for value in
            [json!(1), json!(1.0), json!(-0.0), json!(u64::MAX), json!(i64::MIN), json!(1e300), json!([1, "a"])]
        {
            assert_eq!(Datum::from(value.clone()).into_value().to_string(), value.to_string());
        }
    }
}
