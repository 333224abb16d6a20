//! Tools by name.

use std::collections::BTreeMap;

use super::{PreparedTool, Tool};

/// The tools that an executor can call.
///
/// ```
/// use serde_json::json;
/// use windtunnel_core::BoxError;
/// use windtunnel_core::tool::{FunctionTool, Registry};
///
/// let mut registry = Registry::new();
/// registry.register(FunctionTool::json("ping", "Answers pong.", json!({"type": "object"}), |_, _| async {
///     Ok::<_, BoxError>("pong")
/// }))?;
/// assert!(registry.get("ping").is_some());
/// # Ok::<(), windtunnel_core::tool::RegisterError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Registry {
    tools: BTreeMap<String, PreparedTool>,
}

/// A tool was not registered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegisterError {
    /// A tool needs a name.
    #[error("a tool needs a name")]
    EmptyName,
    /// Another tool has the name.
    #[error("a tool named {tool:?} is registered already; give one of the two another name")]
    DuplicateName {
        /// The name.
        tool: String,
    },
    /// The parameters are not a JSON Schema.
    #[error("the parameters of tool {tool:?} are not a JSON Schema: {problem}")]
    InvalidSchema {
        /// The tool.
        tool: String,
        /// Where and what.
        problem: String,
    },
}

impl Registry {
    /// No tools.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tool.
    ///
    /// # Errors
    /// [`RegisterError`] if its name is empty or taken, or its schema is not one. The registry is then unchanged.
    pub fn register(&mut self, tool: impl Tool + 'static) -> Result<&mut Self, RegisterError> {
        let prepared = PreparedTool::new(tool)?;
        let name = prepared.spec().name.clone();
        if self.tools.contains_key(&name) {
            return Err(RegisterError::DuplicateName { tool: name });
        }
        self.tools.insert(name, prepared);
        Ok(self)
    }

    /// The tool with this name.
    pub fn get(&self, name: &str) -> Option<&PreparedTool> {
        self.tools.get(name)
    }

    /// All tools, by name.
    pub fn iter(&self) -> impl Iterator<Item = &PreparedTool> {
        self.tools.values()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::BoxError;
    use crate::tool::FunctionTool;

    fn named(name: &str, schema: serde_json::Value) -> FunctionTool {
        FunctionTool::json(name, "", schema, |_, _| async { Ok::<_, BoxError>(()) })
    }

    #[test]
    fn what_cannot_be_called_is_refused() {
        let mut registry = Registry::new();
        registry.register(named("search", json!({}))).unwrap();
        let taken = registry.register(named("search", json!({}))).unwrap_err();
        assert_eq!(
            taken.to_string(),
            r#"a tool named "search" is registered already; give one of the two another name"#
        );
        assert_eq!(registry.register(named("", json!({}))).unwrap_err(), RegisterError::EmptyName);
        let schema = registry.register(named("bad", json!({"type": 3}))).unwrap_err();
        assert!(
            schema.to_string().starts_with(r#"the parameters of tool "bad" are not a JSON Schema: $.type: "#),
            "{schema}"
        );
        assert_eq!(registry.iter().count(), 1);
    }
}
