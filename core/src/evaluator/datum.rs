//! A JSON value that is cheap to copy.

use std::sync::Arc;

use serde_json::{Number, Value};

use crate::json;

/// A JSON value while a program runs: scalars in place, everything else shared and never changed (V3).
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Datum {
    Null,
    Bool(bool),
    Signed(i64),
    Unsigned(u64),
    Float(f64),
    /// A string, an array or an object.
    Shared {
        value: Arc<Value>,
        levels: u8,
        bytes: u32,
    },
}

/// How large a value is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Extent {
    /// The levels of arrays and objects.
    levels: u8,
    /// About what a copy of it takes.
    bytes: u32,
}

/// What a copy of a value takes beside its texts.
const VALUE_BYTES: u32 = size_of::<Value>() as u32;

/// How many levels a value may have: serde_json copies and drops values recursively (V9).
pub(super) const LEVELS_MAX: u8 = 128;

/// A value has more levels than [`LEVELS_MAX`].
#[derive(Debug)]
pub(super) struct TooDeep;

impl Datum {
    /// Whether a conditional or a filter takes it for true (V4).
    pub(super) fn is_true(&self) -> bool {
        match self {
            Self::Null => false,
            Self::Bool(truth) => *truth,
            Self::Signed(number) => *number != 0,
            Self::Unsigned(number) => *number != 0,
            Self::Float(number) => *number != 0.0,
            Self::Shared { value, .. } => match &**value {
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
            Self::Shared { value, .. } => value.as_array().map(Vec::as_slice),
            _ => None,
        }
    }

    /// The type's name in JSON, with an article.
    pub(super) fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Signed(_) | Self::Unsigned(_) | Self::Float(_) => "a number",
            Self::Shared { value, .. } => match &**value {
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
            Self::Shared { value, .. } => Arc::unwrap_or_clone(value),
        }
    }
}

impl Datum {
    /// Takes over a value, whatever its size and shape.
    pub(super) fn new(value: Value) -> Result<Self, TooDeep> {
        Ok(match value {
            Value::Null => Self::Null,
            Value::Bool(truth) => Self::Bool(truth),
            Value::Number(number) => number_datum(&number),
            shared => match extent(&shared) {
                Some(Extent { levels, bytes }) => Self::Shared { value: Arc::new(shared), levels, bytes },
                None => {
                    json::dismantle(shared);
                    return Err(TooDeep);
                }
            },
        })
    }

    /// An element of a list that is within the bound, and so is the element.
    pub(super) fn element(value: &Value) -> Self {
        Self::new(value.clone()).unwrap_or(Self::Null)
    }

    /// A list of values.
    pub(super) fn list(elements: impl IntoIterator<Item = Self>) -> Result<Self, TooDeep> {
        let mut around = Extent { levels: 0, bytes: VALUE_BYTES };
        let elements = elements.into_iter().map(|element| {
            let Extent { levels, bytes } = element.extent();
            around.levels = around.levels.max(levels);
            around.bytes = around.bytes.saturating_add(bytes);
            element.into_value()
        });
        let list = Value::Array(elements.collect());
        // Each element is within the bound, so dropping the list is safe.
        if around.levels == LEVELS_MAX {
            return Err(TooDeep);
        }
        Ok(Self::Shared { value: Arc::new(list), levels: around.levels + 1, bytes: around.bytes })
    }

    /// About what a copy of it takes.
    pub(super) fn bytes(&self) -> u64 {
        self.extent().bytes.into()
    }

    /// About what [`Datum::into_value`] copies.
    pub(super) fn copied_bytes(&self) -> u64 {
        match self {
            Self::Shared { value, bytes, .. } if Arc::strong_count(value) > 1 => (*bytes).into(),
            _ => VALUE_BYTES.into(),
        }
    }

    fn extent(&self) -> Extent {
        match self {
            Self::Shared { levels, bytes, .. } => Extent { levels: *levels, bytes: *bytes },
            _ => Extent { levels: 0, bytes: VALUE_BYTES },
        }
    }
}

/// How large a value is, if its levels are within the bound.
fn extent(value: &Value) -> Option<Extent> {
    let mut extent = Extent::default();
    let mut open = vec![(value, 0_u8)];
    let mut add = |bytes: usize| {
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        extent.bytes = extent.bytes.saturating_add(bytes);
    };
    let mut deepest = 0;
    while let Some((value, above)) = open.pop() {
        let levels = above + u8::from(value.is_array() || value.is_object());
        if levels > LEVELS_MAX {
            return None;
        }
        deepest = deepest.max(levels);
        add(VALUE_BYTES as usize);
        match value {
            Value::String(text) => add(text.len()),
            Value::Array(elements) => open.extend(elements.iter().map(|element| (element, levels))),
            Value::Object(members) => {
                members.keys().for_each(|name| add(size_of::<String>() + name.len()));
                open.extend(members.values().map(|member| (member, levels)));
            }
            _ => {}
        }
    }
    extent.levels = deepest;
    Some(extent)
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
            assert!(!Datum::new(value.clone()).unwrap().is_true(), "{value}");
        }
        for value in
            [json!(true), json!(-1), json!(u64::MAX), json!(1e-300), json!("0"), json!([0]), json!({"a": null})]
        {
            assert!(Datum::new(value.clone()).unwrap().is_true(), "{value}");
        }
    }

    #[test]
    fn values_come_back_with_their_identity() {
        for value in
            [json!(1), json!(1.0), json!(-0.0), json!(u64::MAX), json!(i64::MIN), json!(1e300), json!([1, "a"])]
        {
            assert_eq!(Datum::new(value.clone()).unwrap().into_value().to_string(), value.to_string());
        }
    }

    #[test]
    fn a_datum_is_small() {
        assert_eq!(size_of::<Datum>(), 16, "a recursion keeps millions");
    }

    #[test]
    fn values_that_are_too_deep_are_refused_and_dropped_without_recursion() {
        // V9
        let nested = |levels: u32| (0..levels).fold(json!(1), |inner, _| Value::Array(vec![inner]));
        let deepest = Datum::new(nested(LEVELS_MAX.into())).unwrap();
        assert!(Datum::new(nested(u32::from(LEVELS_MAX) + 1)).is_err());
        assert!(Datum::new(nested(1_000_000)).is_err());
        assert!(Datum::list([Datum::Null, deepest]).is_err());
        assert_eq!(
            Datum::list([Datum::new(nested(u32::from(LEVELS_MAX) - 1)).unwrap()]).unwrap().extent().levels,
            LEVELS_MAX
        );
    }
}
