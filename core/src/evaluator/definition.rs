//! What a program's evaluation needs to know of a tool.

use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::error::{ProviderError, ToolFailure};
use crate::tool::{ArgumentsError, Schema, ToolSpec};

/// A tool's name, and what its arguments must be. Made once, shared, and checked when it is made.
///
/// ```
/// use serde_json::json;
/// use windtunnel_core::evaluator::ToolDefinition;
///
/// let schema = json!({"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}});
/// let add = ToolDefinition::with_input_schema("add", "Adds.", &schema)?;
/// assert!(add.properties().eq(["a", "b"]));
/// assert!(add.check(&json!({"a": "1"})).is_err());
/// # Ok::<(), windtunnel_core::evaluator::DefinitionError>(())
/// ```
#[derive(Clone)]
pub struct ToolDefinition {
    name: Arc<str>,
    description: String,
    properties: Vec<Arc<str>>,
    input_schema: Value,
    has_input_schema: bool,
    validator: Arc<Schema>,
}

/// What was given is not the definition of a tool (`provider-response`).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DefinitionError {
    /// A tool needs a name.
    #[error("a tool needs a name")]
    EmptyName,
    /// The schema is not a JSON Schema of an object.
    #[error("the input schema of tool {tool:?} does not serve: {problem}")]
    InvalidSchema {
        /// The tool.
        tool: String,
        /// Where and what.
        problem: String,
    },
}

impl From<DefinitionError> for ProviderError {
    fn from(error: DefinitionError) -> Self {
        ToolFailure::response(error.to_string()).into()
    }
}

impl ToolDefinition {
    /// A tool of which only the properties are known, each with its schema: all are required, and no other is allowed.
    /// A version 1 call gives exactly as many parameters (V5).
    ///
    /// # Errors
    /// [`DefinitionError`] if the name is empty or a property's schema is not one.
    pub fn with_properties(
        name: impl Into<Arc<str>>,
        description: impl Into<String>,
        properties: Map<String, Value>,
    ) -> Result<Self, DefinitionError> {
        let required: Vec<Value> = properties.keys().map(|name| Value::from(name.as_str())).collect();
        let schema = json!({
            "type": "object", "properties": properties, "required": required, "additionalProperties": false,
        });
        Ok(Self { has_input_schema: false, ..Self::with_input_schema(name, description, &schema)? })
    }

    /// A tool with a JSON Schema (2020-12) of its arguments, an object. A version 1 call may leave out the last
    /// properties, if the schema lets it (V5).
    ///
    /// # Errors
    /// [`DefinitionError`] if the name is empty, or the schema is not one or refers to another document.
    pub fn with_input_schema(
        name: impl Into<Arc<str>>,
        description: impl Into<String>,
        schema: &Value,
    ) -> Result<Self, DefinitionError> {
        let name = name.into();
        if name.is_empty() {
            return Err(DefinitionError::EmptyName);
        }
        let refuse = |problem| DefinitionError::InvalidSchema { tool: name.to_string(), problem };
        if !matches!(schema["type"].as_str(), Some("object")) && !schema["type"].is_null() {
            return Err(refuse("$.type: a tool takes an object".to_owned()));
        }
        let validator = Arc::new(Schema::compile(schema).map_err(refuse)?);
        Ok(Self::new(name, description.into(), schema.clone(), validator))
    }

    /// The definition of a tool that is prepared already.
    pub(crate) fn of(spec: &ToolSpec, validator: Arc<Schema>) -> Self {
        Self::new(spec.name.as_str().into(), spec.description.clone(), spec.parameters.clone(), validator)
    }

    fn new(name: Arc<str>, description: String, input_schema: Value, validator: Arc<Schema>) -> Self {
        let properties = input_schema["properties"].as_object();
        let properties = properties.into_iter().flat_map(Map::keys).map(|name| name.as_str().into()).collect();
        Self { name, description, properties, input_schema, has_input_schema: true, validator }
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What a model reads.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// The names of the arguments, in the order of positional parameters.
    pub fn properties(&self) -> impl ExactSizeIterator<Item = &str> {
        self.properties.iter().map(|name| &**name)
    }

    /// The JSON Schema of the arguments.
    pub fn input_schema(&self) -> &Value {
        &self.input_schema
    }

    /// Whether a version 1 call may leave out the last properties (V5).
    pub fn has_input_schema(&self) -> bool {
        self.has_input_schema
    }

    pub(super) fn property(&self, index: usize) -> &str {
        &self.properties[index]
    }

    /// Checks arguments against the schema.
    ///
    /// # Errors
    /// [`ArgumentsError`] for the first offence, without the value.
    pub fn check(&self, arguments: &Value) -> Result<(), ArgumentsError> {
        self.validator.check(arguments)
    }
}

impl fmt::Debug for ToolDefinition {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ToolDefinition")
            .field("name", &self.name)
            .field("input_schema", &self.input_schema)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_alone_are_all_required() {
        // V5
        let properties = json!({"a": {"type": "integer"}, "b": {}}).as_object().unwrap().clone();
        let definition = ToolDefinition::with_properties("add", "", properties).unwrap();
        assert!(!definition.has_input_schema());
        assert_eq!(definition.check(&json!({"a": 1, "b": null})), Ok(()));
        for wrong in [json!({"a": 1}), json!({"a": "x", "b": 1}), json!({"a": 1, "b": 1, "c": 1})] {
            assert!(definition.check(&wrong).is_err(), "{wrong} was accepted");
        }
    }

    #[test]
    fn what_defines_no_tool_is_refused() {
        let refused = |name: &str, schema: Value| ToolDefinition::with_input_schema(name, "", &schema).unwrap_err();
        assert_eq!(refused("", json!({})), DefinitionError::EmptyName);
        assert_eq!(
            refused("add", json!({"type": "array"})).to_string(),
            "the input schema of tool \"add\" does not serve: $.type: a tool takes an object"
        );
        assert!(refused("add", json!({"properties": 7})).to_string().contains("$.properties"));
        assert!(refused("add", json!({"$ref": "https://example.com/a.json"})).to_string().contains("add"));
    }
}
