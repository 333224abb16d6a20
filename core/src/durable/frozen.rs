//! Values that may be stored (D4).

use serde_json::Value;

use super::error::DurableError;
use super::limits::DEPTH_MAX;
use crate::json::{Path, canonical, dismantle};

/// What is wrong with the form of a value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JsonFlaw {
    /// Arguments are members of an object.
    #[error("is not an object; give every argument a name")]
    NotAnObject,
    /// An integer past 64 bits signed.
    #[error("holds an integer at {path} that does not fit in 64 bits signed; write it as a string")]
    Integer {
        /// Its place.
        path: Path,
    },
    /// A float that JSON has no text for.
    #[error("holds a float that is not finite; JSON has no text for it")]
    NotFinite,
    /// Too many levels.
    #[error("is nested deeper than the {DEPTH_MAX} levels allowed, at {path}; store a flatter value")]
    TooDeep {
        /// The first place that is too deep.
        path: Path,
    },
    /// It does not serialise.
    #[error("does not serialise as JSON; see the cause")]
    NotSerializable,
    /// It does not read as the type that is asked for.
    #[error("does not read as the type that is asked for; see the cause, and change the version with the type")]
    OtherType,
}

/// The canonical encoding of `value`, if it may be stored in so many bytes.
pub(super) fn freeze(what: &'static str, value: &Value, bytes_max: usize) -> Result<String, DurableError> {
    check_form(what, value)?;
    check_size(what, canonical(value), bytes_max)
}

/// Takes the value in, as [`freeze`] does; one that is refused may be too deep to be dropped as usual.
pub(super) fn freeze_owned(
    what: &'static str,
    value: Value,
    bytes_max: usize,
) -> Result<(Value, String), DurableError> {
    match freeze(what, &value, bytes_max) {
        Ok(encoded) => Ok((value, encoded)),
        Err(error) => {
            dismantle(value);
            Err(error)
        }
    }
}

pub(super) fn check_size(what: &'static str, encoded: String, bytes_max: usize) -> Result<String, DurableError> {
    if encoded.len() > bytes_max {
        return Err(DurableError::TooLarge { what, bytes: encoded.len(), bytes_max });
    }
    Ok(encoded)
}

pub(super) fn check_form(what: &'static str, value: &Value) -> Result<(), DurableError> {
    check_levels(what, value, DEPTH_MAX)
}

/// Checks a value that stands inside others: it may have only so many levels of its own.
pub(super) fn check_levels(what: &'static str, value: &Value, levels: usize) -> Result<(), DurableError> {
    if is_storable(value, levels) {
        return Ok(());
    }
    let flaw = flaw(value, levels, &mut Path::root());
    flaw.map_or(Ok(()), |flaw| Err(DurableError::InvalidJson { what, flaw, source: None }))
}

fn is_storable(value: &Value, levels_left: usize) -> bool {
    match value {
        Value::Null | Value::Bool(_) | Value::String(_) => true,
        Value::Number(number) => number.is_i64() || number.is_f64(),
        Value::Array(_) | Value::Object(_) if levels_left == 0 => false,
        Value::Array(elements) => elements.iter().all(|element| is_storable(element, levels_left - 1)),
        Value::Object(members) => members.values().all(|member| is_storable(member, levels_left - 1)),
    }
}

/// The first flaw, with its place. No recursion goes past the levels allowed.
fn flaw(value: &Value, levels_left: usize, path: &mut Path) -> Option<JsonFlaw> {
    match value {
        Value::Null | Value::Bool(_) | Value::String(_) => None,
        Value::Number(number) if number.is_i64() || number.is_f64() => None,
        Value::Number(_) => Some(JsonFlaw::Integer { path: path.clone() }),
        Value::Array(_) | Value::Object(_) if levels_left == 0 => Some(JsonFlaw::TooDeep { path: path.clone() }),
        Value::Array(elements) => elements.iter().enumerate().find_map(|(index, element)| {
            path.push_element(index);
            let found = flaw(element, levels_left - 1, path);
            path.pop();
            found
        }),
        Value::Object(members) => members.iter().find_map(|(name, member)| {
            path.push_member(name);
            let found = flaw(member, levels_left - 1, path);
            path.pop();
            found
        }),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn nested(levels: usize) -> Value {
        (0..levels).fold(json!(0), |value, _| Value::Array(vec![value]))
    }

    #[test]
    fn bounds_are_inclusive() {
        assert!(freeze("it", &nested(64), 1000).is_ok());
        let refusal = freeze("it", &nested(65), 1000).unwrap_err();
        assert!(refusal.to_string().starts_with("it is nested deeper than the 64 levels allowed, at $[0][0]"));
        assert_eq!(freeze("it", &json!("four"), 6).unwrap(), "\"four\"");
        assert_eq!(
            freeze("it", &json!("fours"), 6).unwrap_err().to_string(),
            "it has 7 bytes, more than the 6 allowed; nothing is trimmed: store a reference to it, or checkpoint sooner"
        );
    }

    #[test]
    fn integers_past_64_bits_signed_are_refused_with_their_place() {
        assert!(freeze("it", &json!([i64::MIN, i64::MAX, 1e300, -0.0]), 1000).is_ok());
        let refusal = freeze("it", &json!({"a": [1, u64::MAX]}), 1000).unwrap_err();
        assert_eq!(
            refusal.to_string(),
            "it holds an integer at $.a[1] that does not fit in 64 bits signed; write it as a string"
        );
    }

    #[test]
    fn a_hostile_depth_does_no_harm() {
        let deep = nested(200_000);
        assert!(freeze_owned("it", deep, 1 << 30).is_err());
    }
}
