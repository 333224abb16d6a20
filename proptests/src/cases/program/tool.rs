//! The tools that generated programs call.

use serde_json::{Map, Value, json};

/// A tool whose value depends on nothing but its arguments.
///
/// ```
/// use serde_json::json;
/// use windtunnel_proptests::cases::ProgramTool;
///
/// let subtract = ProgramTool::named("subtract").unwrap();
/// assert_eq!(subtract.value(&json!({"a": 7, "b": 5})), json!(2));
/// assert!(!subtract.accepts(&json!({"a": 7})));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProgramTool {
    /// The sum of two whole numbers.
    Add,
    /// Their difference.
    Subtract,
    /// Their product.
    Multiply,
    /// Whether the first is at most the second.
    LessThanOrEqual,
    /// Whether the first is above the second.
    GreaterThan,
    /// Whether a whole number is odd.
    IsOdd,
    /// The number with the other sign.
    Negate,
    /// The argument itself.
    Echo,
    /// A list of consecutive numbers, at most four. `start` may be left out.
    Sequence,
    /// A list of two.
    Pair,
    /// How many elements a list has.
    Length,
    /// A number that depends on the key.
    Fetch,
    /// A word. It takes nothing.
    Ping,
}

/// What a tool's argument must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A whole number.
    Integer,
    /// A string.
    Text,
    /// A list.
    List,
    /// Anything.
    Any,
}

/// One argument of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolParam {
    /// Its name.
    pub name: &'static str,
    /// What it must be.
    pub shape: Shape,
    /// Whether it may not be left out.
    pub is_required: bool,
}

const fn param(name: &'static str, shape: Shape) -> ToolParam {
    ToolParam { name, shape, is_required: true }
}

const NUMBERS: &[ToolParam] = &[param("a", Shape::Integer), param("b", Shape::Integer)];
const NUMBER: &[ToolParam] = &[param("n", Shape::Integer)];
const VALUE: &[ToolParam] = &[param("value", Shape::Any)];
const COUNT: &[ToolParam] =
    &[param("count", Shape::Integer), ToolParam { name: "start", shape: Shape::Integer, is_required: false }];
const SIDES: &[ToolParam] = &[param("left", Shape::Any), param("right", Shape::Any)];
const ITEMS: &[ToolParam] = &[param("items", Shape::List)];
const KEY: &[ToolParam] = &[param("key", Shape::Text)];

/// Results stay within this, so that no product grows out of its type.
const MODULUS: i128 = 1_000_007;

impl ProgramTool {
    /// Every tool.
    pub const ALL: [Self; 13] = [
        Self::Add,
        Self::Subtract,
        Self::Multiply,
        Self::LessThanOrEqual,
        Self::GreaterThan,
        Self::IsOdd,
        Self::Negate,
        Self::Echo,
        Self::Sequence,
        Self::Pair,
        Self::Length,
        Self::Fetch,
        Self::Ping,
    ];

    /// The name that programs call it by.
    pub fn name(self) -> &'static str {
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

    /// The tool of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }

    /// The arguments, in the order of positional parameters.
    pub fn params(self) -> &'static [ToolParam] {
        match self {
            Self::Add | Self::Subtract | Self::Multiply | Self::LessThanOrEqual | Self::GreaterThan => NUMBERS,
            Self::IsOdd | Self::Negate => NUMBER,
            Self::Echo => VALUE,
            Self::Sequence => COUNT,
            Self::Pair => SIDES,
            Self::Length => ITEMS,
            Self::Fetch => KEY,
            Self::Ping => &[],
        }
    }

    /// Whether its definition has an input schema: then version 1 may give it fewer parameters, and version 2 arguments
    /// that it does not know (V5).
    pub fn has_input_schema(self) -> bool {
        matches!(self, Self::Sequence | Self::Fetch | Self::LessThanOrEqual | Self::Ping)
    }

    /// The JSON Schema of each argument, by name.
    pub fn properties(self) -> Map<String, Value> {
        let schema = |shape| match shape {
            Shape::Integer => json!({"type": "integer"}),
            Shape::Text => json!({"type": "string"}),
            Shape::List => json!({"type": "array"}),
            Shape::Any => json!({}),
        };
        self.params().iter().map(|param| (param.name.to_owned(), schema(param.shape))).collect()
    }

    /// The names of the arguments that may not be left out.
    pub fn required(self) -> Vec<&'static str> {
        self.params().iter().filter(|param| param.is_required).map(|param| param.name).collect()
    }

    /// Whether these arguments are what the tool takes.
    pub fn accepts(self, arguments: &Value) -> bool {
        let Some(members) = arguments.as_object() else { return false };
        let are_known = members.keys().all(|name| self.params().iter().any(|param| param.name == name));
        let do_fit = self.params().iter().all(|param| match members.get(param.name) {
            None => !param.is_required,
            Some(value) => match param.shape {
                Shape::Integer => integer(value).is_some(),
                Shape::Text => value.is_string(),
                Shape::List => value.is_array(),
                Shape::Any => true,
            },
        });
        do_fit && (are_known || self.has_input_schema())
    }

    /// What it gives for arguments that it takes.
    pub fn value(self, arguments: &Value) -> Value {
        let number = |name: &str| integer(&arguments[name]).unwrap_or(0);
        match self {
            Self::Add => within(number("a") + number("b")),
            Self::Subtract => within(number("a") - number("b")),
            Self::Multiply => within(number("a") * number("b")),
            Self::LessThanOrEqual => json!(number("a") <= number("b")),
            Self::GreaterThan => json!(number("a") > number("b")),
            Self::IsOdd => json!(number("n") % 2 != 0),
            Self::Negate => within(-number("n")),
            Self::Echo => arguments["value"].clone(),
            Self::Sequence => {
                let start = number("start");
                (0..number("count").clamp(0, 4)).map(|index| within(start + index)).collect()
            }
            Self::Pair => json!([arguments["left"], arguments["right"]]),
            Self::Length => json!(arguments["items"].as_array().map_or(0, Vec::len)),
            Self::Fetch => {
                let key = arguments["key"].as_str().unwrap_or_default();
                within(key.bytes().map(i128::from).sum())
            }
            Self::Ping => json!("pong"),
        }
    }
}

fn within(number: i128) -> Value {
    // The remainder is far below the bounds of the type.
    json!(i64::try_from(number % MODULUS).unwrap_or(0))
}

/// A whole number, as JSON Schema sees it: `1.0` is one too.
fn integer(value: &Value) -> Option<i128> {
    let whole = value.as_i64().map(i128::from).or_else(|| value.as_u64().map(i128::from));
    whole.or_else(|| value.as_f64().filter(|number| number.fract() == 0.0).map(|number| number as i128))
}
