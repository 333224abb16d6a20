//! From a JSON value to typed fields, with the path of what does not fit.

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::error::LoadError;
use super::suggestion;
use super::text::{Document, Pointing};

/// Reads the document as a `T`.
pub(super) fn typed<T: DeserializeOwned>(document: &Document<'_>) -> Result<T, LoadError> {
    typed_value(&document.value, document)
}

/// Reads what was made of the document's value as a `T`.
pub(super) fn typed_value<T: DeserializeOwned>(value: &Value, document: &Document<'_>) -> Result<T, LoadError> {
    let mut track = serde_path_to_error::Track::new();
    let tracked = serde_path_to_error::Deserializer::new(value, &mut track);
    T::deserialize(tracked).map_err(|error: serde_json::Error| {
        let path = document.root.clone().join(&track.path());
        let (pointing, problem) = problem(&error.to_string());
        document.error(path, pointing, problem)
    })
}

/// The value of a text member at the top, whatever the rest looks like.
pub(super) fn text_member<'d>(document: &'d Document<'_>, name: &str) -> Option<&'d str> {
    document.value.get(name).and_then(Value::as_str)
}

/// What serde says, in the words of a case file.
pub(super) fn problem(message: &str) -> (Pointing, String) {
    if let Some((name, known)) = unknown("unknown field", message) {
        return (Pointing::AtName, format!("unknown field {name:?}; {}", suggestion::known(name, &known)));
    }
    if let Some((name, known)) = unknown("unknown variant", message) {
        return (Pointing::AtValue, format!("unknown value {name:?}; {}", suggestion::known(name, &known)));
    }
    (Pointing::AtValue, in_words(&message.replace('`', "")))
}

/// Replaces the names that Rust and serde have for types.
fn in_words(message: &str) -> String {
    let Some((found, expected)) = message.rsplit_once(", expected ") else { return message.to_owned() };
    let expected = match expected {
        "a sequence" => "a list",
        "a map" => "an object",
        "string or map" => "a string",
        "a boolean" => "true or false",
        "f64" => "a number",
        "u32" | "u64" => "a whole number, not negative",
        other => other,
    };
    format!("{found}, expected {expected}")
}

/// Takes apart serde's "unknown field `x`, expected one of `a`, `b`", where all known names are in its last part.
fn unknown<'m>(what: &str, message: &'m str) -> Option<(&'m str, Vec<&'m str>)> {
    let quoted = message.strip_prefix(what)?.strip_prefix(" `")?;
    let (name, expected) = quoted.rsplit_once("`, expected ").or_else(|| quoted.rsplit_once("`, there are no"))?;
    let name = name.char_indices().nth(80).map_or(name, |(end, _)| &name[..end]);
    Some((name, expected.split('`').skip(1).step_by(2).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serde_is_put_in_the_words_of_a_case_file() {
        for (message, expected) in [
            (
                "unknown field `retrise`, expected one of `name`, `retries`",
                r#"unknown field "retrise"; did you mean "retries"? known: name, retries"#,
            ),
            ("unknown field `mean`, expected `min` or `max`", r#"unknown field "mean"; known: min, max"#),
            ("unknown variant `x`, expected `calls`", r#"unknown value "x"; known: calls"#),
            ("missing field `calls`", "missing field calls"),
            ("invalid type: integer `3`, expected a sequence", "invalid type: integer 3, expected a list"),
            (
                "invalid value: integer `-3`, expected u64",
                "invalid value: integer -3, expected a whole number, not negative",
            ),
            (
                "unknown field `a`, expected b`, expected one of `name`, `retries`",
                r#"unknown field "a`, expected b"; known: name, retries"#,
            ),
        ] {
            assert_eq!(problem(message).1, expected);
        }
        let long = format!("unknown field `{}`, expected `a`", "é".repeat(100_000));
        assert!(problem(&long).1.len() < 500);
    }
}
