//! A program as its users see it.

use std::fmt;
use std::sync::{Arc, OnceLock};

use serde_json::Value;

use super::document::Document;
use super::offence::{Offence, ProgramError};
use super::outline::Outline;
use super::reader::Reader;
use super::tree::{Mode, Node, NodeId, Title, Tree, Version};
use super::{place, schema, version, version1, version2, writing};
use crate::json::{Bounds, Path};

/// A valid program. Cheap to clone; one program may run any number of times at once (V3).
///
/// A program is JSON: a tree of tool calls, values, conditions and loops that a model or a person wrote. Reading one
/// checks all that can be known before it runs, and finds all offences at once (V1, V2).
///
/// ```
/// use windtunnel_core::evaluator::{Mode, Program, Version};
///
/// let program = Program::parse(
///     r#"{
///         "type": "program",
///         "mode": "single",
///         "body": [
///             {"type": "function", "name": "add", "params": [
///                 {"type": "value", "name": "a", "value": 2},
///                 {"type": "value", "name": "b", "value": 3}
///             ]}
///         ]
///     }"#,
///     Program::BOUNDS,
/// )?;
/// assert_eq!((program.version(), program.mode()), (Version::V1, Mode::Single));
/// assert_eq!(program.tools().collect::<Vec<_>>(), ["add"]);
/// # Ok::<_, windtunnel_core::evaluator::ProgramError>(())
/// ```
#[derive(Clone)]
pub struct Program {
    inner: Arc<Inner>,
}

struct Inner {
    tree: Tree,
    /// Made for the first message that names a place.
    parents: OnceLock<Vec<NodeId>>,
}

impl PartialEq for Program {
    fn eq(&self, other: &Self) -> bool {
        self.inner.tree == other.inner.tree
    }
}

impl Program {
    /// 64 MiB and any depth: no depth of a program overflows the stack (V9).
    ///
    /// ```
    /// use windtunnel_core::evaluator::Program;
    ///
    /// let (open, close) = (r#"{"type":"function","name":"f","params":["#, "]}");
    /// let body = format!("{}{}", open.repeat(10_000), close.repeat(10_000));
    /// let program = Program::parse(&format!(r#"{{"mode":"single","body":[{body}]}}"#), Program::BOUNDS)?;
    /// assert_eq!(program.node_count(), 10_001);
    /// # Ok::<_, windtunnel_core::evaluator::ProgramError>(())
    /// ```
    pub const BOUNDS: Bounds = Bounds { bytes_max: 64 * 1024 * 1024, depth_max: usize::MAX };

    /// Reads a program from JSON text.
    ///
    /// ```
    /// use windtunnel_core::evaluator::Program;
    ///
    /// let text = r#"{"mode": "single", "body": [{"type": "value", "name": "x"}]}"#;
    /// let refusal = Program::parse(text, Program::BOUNDS).unwrap_err();
    /// assert_eq!(refusal.to_string(), "line 1, column 29: $.body[0]: `value` is missing");
    /// ```
    ///
    /// # Errors
    /// [`ProgramError::Text`] if the text is not JSON within `bounds`, [`ProgramError::Invalid`] if it is no program.
    pub fn parse(text: &str, bounds: Bounds) -> Result<Self, ProgramError> {
        Self::read(&Document::parse(text, bounds)?)
    }

    /// Reads a program from a value in memory.
    ///
    /// ```
    /// use serde_json::json;
    /// use windtunnel_core::evaluator::Program;
    ///
    /// let program = Program::from_value(&json!({
    ///     "body": [{"type": "tool_call", "tool": "now"}],
    ///     "schema_version": "2.0",
    /// }))?;
    /// assert_eq!(program.node_count(), 2);
    /// # Ok::<_, windtunnel_core::evaluator::ProgramError>(())
    /// ```
    ///
    /// # Errors
    /// [`ProgramError::Invalid`] if it is no program.
    pub fn from_value(value: &Value) -> Result<Self, ProgramError> {
        let document = Document::from_value(value).ok_or_else(|| {
            let problem = "holds more values than can be counted; split the program".to_owned();
            ProgramError::Invalid(vec![Offence { path: Path::root(), position: None, problem }])
        })?;
        Self::read(&document)
    }

    fn read(document: &Document<'_>) -> Result<Self, ProgramError> {
        let mut reader = Reader::new(document);
        let version = version::stated(&mut reader);
        match version {
            Some(Version::V1) => version1::read(&mut reader),
            Some(Version::V2) => version2::read(&mut reader),
            None => {}
        }
        // Without a version there is an offence, and with one no tree.
        let tree = reader.finish(version.unwrap_or(Version::V1))?;
        Ok(Self { inner: Arc::new(Inner { tree, parents: OnceLock::new() }) })
    }

    /// The version of the schema that it is written in.
    ///
    /// ```
    /// # use windtunnel_core::evaluator::{Program, Version};
    /// let program = Program::parse(r#"{"body": [], "mode": "single"}"#, Program::BOUNDS)?;
    /// assert_eq!(program.version(), Version::V1);
    /// # Ok::<_, windtunnel_core::evaluator::ProgramError>(())
    /// ```
    #[must_use]
    pub fn version(&self) -> Version {
        self.inner.tree.version
    }

    /// Whether the failures of the expressions of its body can be collected.
    ///
    /// ```
    /// # use windtunnel_core::evaluator::{Mode, Program};
    /// let program = Program::parse(r#"{"body": [], "mode": "parallel"}"#, Program::BOUNDS)?;
    /// assert_eq!(program.mode(), Mode::Parallel);
    /// # Ok::<_, windtunnel_core::evaluator::ProgramError>(())
    /// ```
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.root().0
    }

    /// Its name, if it has one.
    ///
    /// ```
    /// # use windtunnel_core::evaluator::Program;
    /// let program = Program::parse(r#"{"body": [], "mode": "single", "name": "nothing"}"#, Program::BOUNDS)?;
    /// assert_eq!(program.name(), Some("nothing"));
    /// # Ok::<_, windtunnel_core::evaluator::ProgramError>(())
    /// ```
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.root().1?.name.as_deref()
    }

    /// What it does, if it says so.
    ///
    /// ```
    /// # use windtunnel_core::evaluator::Program;
    /// let program = Program::parse(r#"{"body": [], "mode": "single", "description": null}"#, Program::BOUNDS)?;
    /// assert_eq!(program.description(), None);
    /// # Ok::<_, windtunnel_core::evaluator::ProgramError>(())
    /// ```
    #[must_use]
    pub fn description(&self) -> Option<&str> {
        self.root().1?.description.as_deref()
    }

    /// The names of the tools that it may call, each once, without `functions.` (V5).
    ///
    /// ```
    /// # use windtunnel_core::evaluator::Program;
    /// let text = r#"{"body": [{"type": "function", "name": "functions.now", "params": []}], "mode": "single"}"#;
    /// let program = Program::parse(text, Program::BOUNDS)?;
    /// assert_eq!(program.tools().collect::<Vec<_>>(), ["now"]);
    /// # Ok::<_, windtunnel_core::evaluator::ProgramError>(())
    /// ```
    pub fn tools(&self) -> impl ExactSizeIterator<Item = &str> {
        self.inner.tree.tools.iter().map(|tool| &**tool)
    }

    /// How many nodes it is written with. A run may evaluate fewer, or any number more.
    ///
    /// ```
    /// # use windtunnel_core::evaluator::Program;
    /// let program = Program::parse(r#"{"body": [], "mode": "single"}"#, Program::BOUNDS)?;
    /// assert_eq!(program.node_count(), 1);
    /// # Ok::<_, windtunnel_core::evaluator::ProgramError>(())
    /// ```
    #[must_use]
    pub fn node_count(&self) -> usize {
        self.inner.tree.nodes.len()
    }

    /// The program as JSON in one form: every field, in a fixed order, nothing between tokens. Programs that are equal
    /// have the same text, and reading it gives the program again.
    ///
    /// ```
    /// # use windtunnel_core::evaluator::Program;
    /// let program = Program::parse(r#"{"mode": "single", "body": []}"#, Program::BOUNDS)?;
    /// let text = program.to_json();
    /// assert_eq!(
    ///     text,
    ///     r#"{"type":"program","body":[],"mode":"single","name":null,"description":null,"schema_version":"1.0"}"#
    /// );
    /// assert_eq!(Program::parse(&text, Program::BOUNDS)?, program);
    /// # Ok::<_, windtunnel_core::evaluator::ProgramError>(())
    /// ```
    #[must_use]
    pub fn to_json(&self) -> String {
        writing::write(&self.inner.tree)
    }

    /// The program for people: an indented tree, one node a line, with long values shortened.
    ///
    /// ```
    /// # use windtunnel_core::evaluator::Program;
    /// let text = r#"{"body": [{"type": "tool_call", "tool": "negate", "arguments":
    ///     {"n": {"type": "literal", "value": 5}}}], "schema_version": "2.0"}"#;
    /// let program = Program::parse(text, Program::BOUNDS)?;
    /// assert_eq!(program.outline().to_string(), "program 2.0, single\n  tool negate\n    n: 5\n");
    /// # Ok::<_, windtunnel_core::evaluator::ProgramError>(())
    /// ```
    pub fn outline(&self) -> impl fmt::Display {
        Outline::new(&self.inner.tree)
    }

    /// The JSON Schema (2020-12) of programs of `version`, for models and editors. A program that keeps it may still be
    /// refused: a schema cannot say the rules about names.
    ///
    /// ```
    /// use windtunnel_core::evaluator::{Program, Version};
    ///
    /// let schema: serde_json::Value = serde_json::from_str(Program::schema(Version::V2))?;
    /// assert_eq!(schema["title"], "Program, version 2.0");
    /// # Ok::<_, serde_json::Error>(())
    /// ```
    #[must_use]
    pub const fn schema(version: Version) -> &'static str {
        schema::of(version)
    }

    pub(in crate::evaluator) fn tree(&self) -> &Tree {
        &self.inner.tree
    }

    /// The place of `node` in the program's JSON, for messages.
    pub(in crate::evaluator) fn path_of(&self, node: NodeId) -> Path {
        let Inner { tree, parents } = &*self.inner;
        place::path_of(tree, parents.get_or_init(|| place::parents(tree)), node)
    }

    fn root(&self) -> (Mode, Option<&Title>) {
        match self.inner.tree.node(Tree::ROOT) {
            Node::Program { mode, title, .. } => (*mode, Some(title)),
            _ => (Mode::Single, None),
        }
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Values may be secret, and a program may be large.
        let mut program = formatter.debug_struct("Program");
        program.field("version", &self.version()).field("name", &self.name()).field("nodes", &self.node_count());
        program.finish_non_exhaustive()
    }
}
