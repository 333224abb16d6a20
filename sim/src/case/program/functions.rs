//! The functions that a case's tools can be: small, exact, and the same everywhere.

use serde::Deserialize;
use serde_json::{Map, Number, Value, json};
use windtunnel_core::evaluator::ToolFailure;

/// The longest sequence.
const SEQUENCE_MAX: i64 = 100_000;

/// What a tool answers where its script says nothing else.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(in crate::case) enum Function {
    Add,
    Subtract,
    Multiply,
    LessThanOrEqual,
    GreaterThan,
    IsOdd,
    Negate,
    Echo,
    Sequence,
    Pair,
    Length,
    Fetch,
    Ping,
}

impl Function {
    /// The name in a case file.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Subtract => "subtract",
            Self::Multiply => "multiply",
            Self::LessThanOrEqual => "less_than_or_equal",
            Self::GreaterThan => "greater_than",
            Self::IsOdd => "is_odd",
            Self::Negate => "negate",
            Self::Echo => "echo",
            Self::Sequence => "sequence",
            Self::Pair => "pair",
            Self::Length => "length",
            Self::Fetch => "fetch",
            Self::Ping => "ping",
        }
    }

    /// The arguments in order, each of any type: a wrong one is the function's own failure.
    pub(super) fn properties(self) -> Map<String, Value> {
        let names: &[&str] = match self {
            Self::Add | Self::Subtract | Self::Multiply | Self::LessThanOrEqual | Self::GreaterThan => &["a", "b"],
            Self::IsOdd | Self::Negate => &["n"],
            Self::Echo => &["value"],
            Self::Sequence => &["count", "start"],
            Self::Pair => &["left", "right"],
            Self::Length => &["items"],
            Self::Fetch => &["key"],
            Self::Ping => &[],
        };
        names.iter().map(|name| ((*name).to_owned(), json!({}))).collect()
    }

    /// The answer, or an `unclassified` failure.
    pub(super) fn call(self, arguments: &Value) -> Result<Value, ToolFailure> {
        let number = |name| Operand::of(arguments, name);
        match self {
            Self::Add => number("a")?.combine(number("b")?, i128::checked_add, |a, b| a + b),
            Self::Subtract => number("a")?.combine(number("b")?, i128::checked_sub, |a, b| a - b),
            Self::Multiply => number("a")?.combine(number("b")?, i128::checked_mul, |a, b| a * b),
            Self::LessThanOrEqual => Ok(number("a")?.is_at_most(number("b")?).into()),
            Self::GreaterThan => Ok((!number("a")?.is_at_most(number("b")?)).into()),
            Self::IsOdd => Ok((integer(arguments, "n")? % 2 != 0).into()),
            Self::Negate => Operand::Integer(0).combine(number("n")?, i128::checked_sub, |_, n| -n),
            Self::Echo => Ok(arguments["value"].clone()),
            Self::Sequence => sequence(integer(arguments, "count")?, integer(arguments, "start")?),
            Self::Pair => Ok(json!([arguments["left"], arguments["right"]])),
            Self::Length => match &arguments["items"] {
                Value::Array(items) => Ok(items.len().into()),
                _ => Err(wrong("items", "a list")),
            },
            Self::Fetch => match &arguments["key"] {
                Value::String(key) => Ok(json!({"key": key, "found": true})),
                _ => Err(wrong("key", "a string")),
            },
            Self::Ping => Ok(json!("pong")),
        }
    }
}

/// A number of which it is known whether it is whole.
#[derive(Clone, Copy)]
enum Operand {
    Integer(i128),
    Float(f64),
}

impl Operand {
    fn of(arguments: &Value, name: &str) -> Result<Self, ToolFailure> {
        let number = arguments[name].as_number().ok_or_else(|| wrong(name, "a number"))?;
        match number.as_i128() {
            Some(integer) => Ok(Self::Integer(integer)),
            None => number.as_f64().map(Self::Float).ok_or_else(|| wrong(name, "a number")),
        }
    }

    fn as_f64(self) -> f64 {
        match self {
            Self::Integer(integer) => integer as f64,
            Self::Float(float) => float,
        }
    }

    /// Whole and exact if both are whole.
    fn combine(
        self,
        other: Self,
        whole: fn(i128, i128) -> Option<i128>,
        float: fn(f64, f64) -> f64,
    ) -> Result<Value, ToolFailure> {
        if let (Self::Integer(first), Self::Integer(second)) = (self, other) {
            let result = whole(first, second).and_then(|result| i64::try_from(result).ok());
            return result.map(Value::from).ok_or_else(|| ToolFailure::refused("the result does not fit in 64 bits"));
        }
        let result = Number::from_f64(float(self.as_f64(), other.as_f64()));
        result.map(Value::Number).ok_or_else(|| ToolFailure::refused("the result is not finite"))
    }

    fn is_at_most(self, other: Self) -> bool {
        match (self, other) {
            (Self::Integer(first), Self::Integer(second)) => first <= second,
            _ => self.as_f64() <= other.as_f64(),
        }
    }
}

fn integer(arguments: &Value, name: &str) -> Result<i64, ToolFailure> {
    arguments[name].as_i64().ok_or_else(|| wrong(name, "a whole number"))
}

fn sequence(count: i64, start: i64) -> Result<Value, ToolFailure> {
    if count > SEQUENCE_MAX {
        return Err(ToolFailure::refused(format!("a sequence has at most {SEQUENCE_MAX} elements")));
    }
    let elements = (0..count).map(|index| start.checked_add(index).map(Value::from));
    elements.collect::<Option<_>>().ok_or_else(|| ToolFailure::refused("the sequence does not fit in 64 bits"))
}

fn wrong(argument: &str, expected: &str) -> ToolFailure {
    ToolFailure::refused(format!("the argument {argument:?} must be {expected}"))
}

#[cfg(test)]
mod tests {
    use windtunnel_core::evaluator::ErrorKind;

    use super::*;

    #[track_caller]
    fn check(function: Function, arguments: Value, expected: Value) {
        assert_eq!(function.call(&arguments).unwrap().to_string(), expected.to_string());
    }

    #[track_caller]
    fn check_fails(function: Function, arguments: Value, message: &str) {
        let failure = function.call(&arguments).unwrap_err();
        assert_eq!((failure.kind(), failure.message()), (ErrorKind::Unclassified, message));
    }

    #[test]
    fn whole_numbers_stay_exact() {
        check(Function::Add, json!({"a": i64::MAX - 1, "b": 1}), json!(i64::MAX));
        check(Function::Subtract, json!({"a": u64::MAX, "b": u64::MAX}), json!(0));
        check(
            Function::Multiply,
            json!({"a": 3_037_000_499_i64, "b": 3_037_000_499_i64}),
            json!(9_223_372_030_926_249_001_i64),
        );
        check(Function::Negate, json!({"n": i64::MAX}), json!(-i64::MAX));
        check(Function::LessThanOrEqual, json!({"a": i64::MAX, "b": i64::MAX - 1}), json!(false));
        check(Function::IsOdd, json!({"n": -3}), json!(true));
        let too_large = "the result does not fit in 64 bits";
        check_fails(Function::Add, json!({"a": i64::MAX, "b": 1}), too_large);
        check_fails(Function::Negate, json!({"n": i64::MIN}), too_large);
        check_fails(Function::Multiply, json!({"a": u64::MAX, "b": u64::MAX}), too_large);
        check_fails(Function::Sequence, json!({"count": 2, "start": i64::MAX}), "the sequence does not fit in 64 bits");
    }

    #[test]
    fn one_float_makes_a_float_and_never_one_that_is_not_finite() {
        check(Function::Add, json!({"a": 1, "b": 1.0}), json!(2.0));
        check(Function::Negate, json!({"n": 0.0}), json!(-0.0));
        check(Function::GreaterThan, json!({"a": 1.5, "b": 1}), json!(true));
        check_fails(Function::Multiply, json!({"a": 1e308, "b": 10}), "the result is not finite");
    }

    #[test]
    fn lists_and_objects_are_made_and_measured() {
        check(Function::Sequence, json!({"count": 3, "start": -1}), json!([-1, 0, 1]));
        check(Function::Sequence, json!({"count": -3, "start": 1}), json!([]));
        check(Function::Pair, json!({"left": [], "right": null}), json!([[], null]));
        check(Function::Length, json!({"items": [1, 2]}), json!(2));
        check(Function::Fetch, json!({"key": "k"}), json!({"key": "k", "found": true}));
        check(Function::Echo, json!({"value": {"a": 1.0}}), json!({"a": 1.0}));
        check(Function::Ping, json!({}), json!("pong"));
    }

    #[test]
    fn a_wrong_type_is_an_unclassified_failure() {
        check_fails(Function::Add, json!({"a": true, "b": 1}), "the argument \"a\" must be a number");
        check_fails(Function::IsOdd, json!({"n": 1.0}), "the argument \"n\" must be a whole number");
        check_fails(Function::Length, json!({"items": "abc"}), "the argument \"items\" must be a list");
        check_fails(Function::Fetch, json!({}), "the argument \"key\" must be a string");
        check_fails(
            Function::Sequence,
            json!({"count": 100_001, "start": 0}),
            "a sequence has at most 100000 elements",
        );
    }
}
