//! A tool with its policy read and its schema compiled.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};

use serde_json::Value;

use super::schema::Schema;
use super::{ArgumentsError, RegisterError, Tool, ToolSpec};
use crate::evaluator::ToolDefinition;
use crate::json;

/// A tool ready to be called, in a [`Registry`](super::Registry) or through
/// [`Executor::run_spec`](crate::executor::Executor::run_spec). Clones share the tool.
#[derive(Clone)]
pub struct PreparedTool {
    inner: Arc<Inner>,
}

struct Inner {
    tool: Box<dyn Tool>,
    spec: ToolSpec,
    name: Arc<str>,
    kind: Arc<str>,
    schema: Arc<Schema>,
    definition: OnceLock<Arc<ToolDefinition>>,
    schema_digest: String,
}

impl PreparedTool {
    /// Reads the tool's specification and compiles its schema.
    ///
    /// # Errors
    /// [`RegisterError`] if the name is empty or the schema is not a JSON Schema.
    pub fn new(tool: impl Tool + 'static) -> Result<Self, RegisterError> {
        let spec = tool.spec();
        if spec.name.is_empty() {
            return Err(RegisterError::EmptyName);
        }
        let schema = Schema::compile(&spec.parameters)
            .map_err(|problem| RegisterError::InvalidSchema { tool: spec.name.clone(), problem })?;
        let (schema, definition) = (Arc::new(schema), OnceLock::new());
        let schema_digest = json::digest(&spec.parameters);
        let (name, kind) = (Arc::from(spec.name.as_str()), Arc::from(spec.kind.as_str()));
        let inner = Inner { tool: Box::new(tool), spec, name, kind, schema, definition, schema_digest };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// What the tool is and how it may be called.
    pub fn spec(&self) -> &ToolSpec {
        &self.inner.spec
    }

    /// The tool itself.
    pub fn tool(&self) -> &dyn Tool {
        &*self.inner.tool
    }

    pub(crate) fn name(&self) -> &Arc<str> {
        &self.inner.name
    }

    pub(crate) fn kind(&self) -> &Arc<str> {
        &self.inner.kind
    }

    /// What programs need to know of it; made when the first one asks.
    pub(crate) fn definition(&self) -> Arc<ToolDefinition> {
        let Inner { spec, schema, definition, .. } = &*self.inner;
        Arc::clone(definition.get_or_init(|| Arc::new(ToolDefinition::of(spec, Arc::clone(schema)))))
    }

    pub(crate) fn schema_digest(&self) -> &str {
        &self.inner.schema_digest
    }

    /// Checks arguments against the schema and then against [`Tool::check`].
    ///
    /// # Errors
    /// [`ArgumentsError`] for the first offence. A check that panics is one.
    pub fn check(&self, arguments: &Value) -> Result<(), ArgumentsError> {
        self.inner.schema.check(arguments)?;
        catch_unwind(AssertUnwindSafe(|| self.inner.tool.check(arguments))).unwrap_or_else(|_panic| {
            Err(ArgumentsError {
                path: json::Path::root(),
                problem: "the tool panicked while checking them".to_owned(),
            })
        })
    }
}

impl fmt::Debug for PreparedTool {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("PreparedTool").field("spec", &self.inner.spec).finish_non_exhaustive()
    }
}
