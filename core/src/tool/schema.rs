//! Argument schemas, compiled once.

use jsonschema::Validator;
use jsonschema::error::ValidationErrorKind;
use serde_json::Value;

use super::ArgumentsError;
use crate::json::Path;

/// A compiled JSON Schema (2020-12). References to other documents are not resolved.
#[derive(Debug)]
pub(crate) struct Schema {
    validator: Validator,
}

impl Schema {
    /// Compiles, or says what is wrong with the schema.
    pub(crate) fn compile(schema: &Value) -> Result<Self, String> {
        let options = jsonschema::draft202012::options().should_validate_formats(true);
        let validator = options
            .build(schema)
            .map_err(|error| format!("{}: {error}", Path::from_pointer(error.instance_path().as_str())))?;
        Ok(Self { validator })
    }

    /// The first offence, without the offending value: that may be secret.
    pub(crate) fn check(&self, arguments: &Value) -> Result<(), ArgumentsError> {
        if self.validator.is_valid(arguments) {
            return Ok(());
        }
        self.validator.validate(arguments).map_err(|error| ArgumentsError {
            path: Path::from_pointer(error.instance_path().as_str()),
            problem: match error.kind() {
                // The offending value is a name, which its message would quote.
                ValidationErrorKind::PropertyNames { .. } => "the name of a member is not allowed".to_owned(),
                _ => error.masked().to_string(),
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_offence_names_its_path_and_hides_its_value() {
        let schema = Schema::compile(&json!({
            "type": "object",
            "properties": {"card": {"type": "object", "properties": {"number": {"type": "integer"}}}},
            "required": ["card"],
            "additionalProperties": false,
        }))
        .unwrap();
        assert_eq!(schema.check(&json!({"card": {"number": 1}})), Ok(()));
        let offence = schema.check(&json!({"card": {"number": "4111-1111"}})).unwrap_err();
        assert_eq!(offence.to_string(), r#"$.card.number: value is not of type "integer""#);
        let missing = schema.check(&json!({})).unwrap_err();
        assert_eq!(missing.to_string(), r#"$: "card" is a required property"#);
    }

    #[test]
    fn formats_hold_and_names_are_hidden_where_they_are_the_offence() {
        let schema = Schema::compile(&json!({
            "properties": {"address": {"type": "string", "format": "ipv4"}},
            "propertyNames": {"maxLength": 7},
        }))
        .unwrap();
        assert_eq!(schema.check(&json!({"address": "127.0.0.1"})), Ok(()));
        assert_eq!(
            schema.check(&json!({"address": "localhost"})).unwrap_err().to_string(),
            r#"$.address: value is not a "ipv4""#
        );
        let hidden = schema.check(&json!({"password-hunter2": 1})).unwrap_err().to_string();
        assert_eq!(hidden, "$: the name of a member is not allowed");
    }

    #[test]
    fn a_schema_that_is_none_is_refused() {
        assert!(Schema::compile(&json!({"type": "nonsense"})).is_err());
        assert!(Schema::compile(&json!({"$ref": "https://example.com/other.json"})).is_err());
    }
}
