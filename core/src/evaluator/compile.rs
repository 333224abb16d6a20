//! A program as a tool (V11).

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_core::future::BoxFuture;
use serde_json::{Map, Value, json};

use super::datum::{Datum, LEVELS_MAX, TooDeep};
use super::definition::ToolDefinition;
use super::error::{EvaluationError, ProviderError};
use super::evaluate::Evaluator;
use super::limits::ExecutionLimits;
use super::outcome::Evaluation;
use super::policy::ExecutionPolicy;
use super::provider::ToolProvider;
use super::syntax::{Children, Node, NodeId, Program, ToolId, Tree};
use crate::BoxError;
use crate::executor::ToolContext;
use crate::json::Path;
use crate::tool::{ArgumentsError, Tool, ToolError, ToolSpec};

/// A program compiled to a tool: its named values are optional arguments, with the values in it as their defaults.
///
/// Named are the values of version 1, unless they stand for a lambda's parameter, and those literals of version 2 that
/// are an argument of a tool or of a user function, and not inside a memo whose key stands in several places. Where a name is taken, `_2`, `_3` and so on follow it.
///
/// Registered in an [`Executor`](crate::executor::Executor), it calls the tools of the executor that it is called by, in
/// the same run. Where it ends by a limit or a rule, the call is a `tool-error`, and the
/// [`EvaluationError`] can be found among the sources of its error. Each call has a budget of its own. A call of it that is nested in 16 others is refused (`tool-error`).
///
/// ```
/// use serde_json::json;
/// use windtunnel_core::BoxError;
/// use windtunnel_core::evaluator::{CompiledProgram, Program};
/// use windtunnel_core::executor::Executor;
/// use windtunnel_core::tool::{FunctionTool, Registry};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), BoxError> {
/// let schema = json!({"type": "object", "properties": {"text": {"type": "string"}}});
/// let mut registry = Registry::new();
/// registry.register(FunctionTool::json("shout", "Shouts.", schema, |arguments, _| async move {
///     Ok::<_, BoxError>(json!(arguments["text"].as_str().unwrap_or_default().to_uppercase()))
/// }))?;
/// let program = Program::from_value(&json!({
///     "schema_version": "2.0", "name": "greet", "description": "Greets loudly.",
///     "body": [{"type": "tool_call", "tool": "shout", "arguments": {"text": {"type": "literal", "value": "hello"}}}],
/// }))?;
/// let greet = CompiledProgram::compile(&program, &Executor::new(registry.clone())).await?;
/// registry.register(greet)?;
/// let executor = Executor::new(registry);
/// assert_eq!(executor.run("greet", json!({})).await?, json!("HELLO"));
/// assert_eq!(executor.run("greet", json!({"text": "bye"})).await?, json!("BYE"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct CompiledProgram {
    program: Program,
    spec: ToolSpec,
    arguments: BTreeMap<String, NodeId>,
    limits: ExecutionLimits,
    policy: ExecutionPolicy,
}

/// How many calls that of a compiled program may be nested in. Each takes some of the stack (V9), and each has a fresh
/// budget, so that a program that calls itself would not end.
const ENCLOSING_CALLS_MAX: usize = 16;

/// A program was not compiled.
#[derive(Debug, thiserror::Error)]
pub enum CompileError {
    /// A tool needs a name.
    #[error("the program has no name; a tool needs one")]
    MissingName,
    /// A tool needs a description.
    #[error("the program {name:?} has no description; a tool needs one, for the model to read")]
    MissingDescription {
        /// The program's name.
        name: String,
    },
    /// A tool that the program calls is not to be had.
    #[error("the program calls tool {tool:?}: {source}")]
    Provider {
        /// The tool.
        tool: String,
        /// Why.
        source: ProviderError,
    },
}

impl CompiledProgram {
    /// Compiles a program whose tools are those of `provider`: a value that is an argument of a tool takes over its schema
    /// there. One that is an argument of a user function has none.
    ///
    /// # Errors
    /// [`CompileError`] if the program has no name or description, or the provider does not have one of its tools.
    pub async fn compile(program: &Program, provider: &dyn ToolProvider) -> Result<Self, CompileError> {
        let name = program.name().filter(|name| !name.is_empty()).ok_or(CompileError::MissingName)?;
        let description = program.description().filter(|description| !description.is_empty());
        let description = description.ok_or_else(|| CompileError::MissingDescription { name: name.to_owned() })?;
        let mut definitions = Vec::new();
        for tool in program.tools() {
            let definition = provider.definition(tool).await;
            definitions.push(definition.map_err(|source| CompileError::Provider { tool: tool.to_owned(), source })?);
        }
        let collected = Collection { tree: program.tree(), definitions: &definitions }.collect();
        let properties: Map<_, _> =
            collected.iter().map(|(name, argument)| (name.clone(), argument.1.clone())).collect();
        let parameters = json!({"type": "object", "properties": properties, "additionalProperties": false});
        Ok(Self {
            program: program.clone(),
            spec: ToolSpec::new(name, description, parameters),
            arguments: collected.into_iter().map(|(name, argument)| (name, argument.0)).collect(),
            limits: ExecutionLimits::default(),
            policy: ExecutionPolicy::default(),
        })
    }

    /// What one call may use. Default: no limit.
    #[must_use]
    pub fn limits(self, limits: ExecutionLimits) -> Self {
        Self { limits, ..self }
    }

    /// What happens when tools fail. Default: no retries, and the first failure is the call's.
    #[must_use]
    pub fn policy(self, policy: ExecutionPolicy) -> Self {
        Self { policy, ..self }
    }

    /// The program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The tool's name, description and parameters.
    pub fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    /// Evaluates with these arguments, an object, under the evaluator's own limits and policy.
    ///
    /// # Errors
    /// [`ArgumentsError`] for an argument that the program does not have, or of more than 128 levels.
    pub async fn evaluate(&self, evaluator: &Evaluator, arguments: &Value) -> Result<Evaluation, ArgumentsError> {
        let overrides = self.overrides(arguments)?;
        Ok(evaluator.evaluate_with(&self.program, &overrides).await)
    }

    fn overrides(&self, arguments: &Value) -> Result<BTreeMap<NodeId, Datum>, ArgumentsError> {
        let mut overrides = BTreeMap::new();
        for (name, value) in arguments.as_object().into_iter().flatten() {
            let Some(node) = self.arguments.get(name) else {
                let problem = "the program has no such argument".to_owned();
                return Err(ArgumentsError { path: Path::root().member(name), problem });
            };
            let datum = Datum::new(value.clone()).map_err(|TooDeep| {
                let problem = format!("it has more than {LEVELS_MAX} levels");
                ArgumentsError { path: Path::root().member(name), problem }
            })?;
            overrides.insert(*node, datum);
        }
        Ok(overrides)
    }
}

impl Tool for CompiledProgram {
    fn spec(&self) -> ToolSpec {
        self.spec.clone()
    }

    fn call(&self, arguments: Arc<Value>, context: ToolContext) -> BoxFuture<'_, Result<Value, BoxError>> {
        Box::pin(async move {
            if context.enclosing_calls() >= ENCLOSING_CALLS_MAX {
                let problem = format!("it is nested in {ENCLOSING_CALLS_MAX} calls: programs seem to call each other");
                return Err(ToolError::new(problem).into());
            }
            let evaluator = context.executor().evaluator().limits(self.limits).policy(self.policy.clone());
            let evaluation = self.evaluate(&evaluator.nested_in(context.call_id()), &arguments).await?;
            evaluation.into_value().map_err(|error| match error {
                // A nested call has had its own attempts, and control flow passes: the executor knows both.
                EvaluationError::Tool { .. } | EvaluationError::Interrupted(_) => error.into(),
                // The same arguments would meet the same end.
                error => ToolError::new(error.to_string()).with_source(error).into(),
            })
        })
    }
}

/// Collects what can be an argument.
struct Collection<'p> {
    tree: &'p Tree,
    /// By tool.
    definitions: &'p [Arc<ToolDefinition>],
}

/// A node that is yet to be looked at, and the argument that it is of whatever is around it.
struct Place {
    node: NodeId,
    slot: Option<(String, Value)>,
}

impl Collection<'_> {
    /// The nodes that are arguments, each with its name and schema: those of the body first.
    fn collect(&self) -> Vec<(String, (NodeId, Value))> {
        let mut found = Vec::new();
        let mut taken = BTreeMap::new();
        let mut memos = BTreeMap::<_, u32>::new();
        for node in &self.tree.nodes {
            if let Node::Memo { key, .. } = node {
                *memos.entry(*key).or_default() += 1;
            }
        }
        let definitions = self.tree.definitions.iter().rev().map(|definition| definition.body);
        let plain = |node| Place { node, slot: None };
        let mut places: Vec<_> = definitions.chain([Tree::ROOT]).map(plain).collect();
        while let Some(Place { node, slot }) = places.pop() {
            let slots: Vec<Place> = match self.tree.node(node) {
                Node::Value { name, value, binding: None } => {
                    let schema = slot.map_or_else(|| json!({}), |(_, schema)| schema);
                    let name = unique(self.tree.name(*name), &mut taken);
                    found.push((name, (node, with_default(schema, value))));
                    Vec::new()
                }
                Node::Literal { value } => {
                    if let Some((name, schema)) = slot {
                        found.push((unique(&name, &mut taken), (node, with_default(schema, value))));
                    }
                    Vec::new()
                }
                Node::Value { .. } | Node::Variable { .. } => Vec::new(),
                Node::Program { body, .. } => body.iter().map(plain).collect(),
                Node::Conditional { parts } | Node::HigherOrder { parts, .. } => parts.iter().map(plain).collect(),
                Node::Lambda { body, .. } => vec![plain(*body)],
                // One value serves all the places of its key: it can have no arguments for one of them.
                Node::Memo { key, .. } if memos[key] > 1 => Vec::new(),
                Node::Memo { expression, .. } => vec![plain(*expression)],
                Node::Function { tool, params, .. } => {
                    let name = |index: usize| self.definitions[tool.0 as usize].properties().nth(index);
                    self.places(*params, |index| name(index).map(|name| (name.to_owned(), self.schema(*tool, name))))
                }
                Node::ToolCall { tool, names, arguments } => self.places(*arguments, |index| {
                    let name = self.tree.name(names[index]);
                    Some((name.to_string(), self.schema(*tool, name)))
                }),
                Node::Call { definition, arguments } => {
                    let params = &self.tree.definitions[*definition as usize].params;
                    self.places(*arguments, |index| Some((self.tree.name(params[index]).to_string(), json!({}))))
                }
            };
            places.extend(slots.into_iter().rev());
        }
        found
    }

    fn places(&self, arguments: Children, slot: impl Fn(usize) -> Option<(String, Value)>) -> Vec<Place> {
        arguments.iter().enumerate().map(|(index, node)| Place { node, slot: slot(index) }).collect()
    }

    fn schema(&self, tool: ToolId, property: &str) -> Value {
        let schema = &self.definitions[tool.0 as usize].input_schema()["properties"][property];
        // A reference leads nowhere outside its own schema; the tool itself still checks.
        let refers = schema.to_string().contains("\"$ref\"");
        if schema.is_object() && !refers { schema.clone() } else { json!({}) }
    }
}

fn with_default(mut schema: Value, value: &Datum) -> Value {
    schema["default"] = value.clone().into_value();
    schema
}

/// The name, or the name with the first number that nothing else has.
fn unique(name: &str, taken: &mut BTreeMap<String, u64>) -> String {
    let mut number = taken.get(name).copied().unwrap_or(0);
    loop {
        number += 1;
        let numbered = if number == 1 { name.to_owned() } else { format!("{name}_{number}") };
        if number == 1 || !taken.contains_key(&numbered) {
            taken.insert(name.to_owned(), number);
            taken.entry(numbered.clone()).or_insert(1);
            return numbered;
        }
    }
}
