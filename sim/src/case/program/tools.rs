//! The tools of programs, in a file of their own.

use std::io::Read;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;
use windtunnel_core::env::Env;
use windtunnel_core::evaluator::{ToolDefinition, ToolFailure, ToolProvider};
use windtunnel_core::json::Bounds;

use super::answers::Answers;
use super::bounds::BoundedProvider;
use super::build;
use super::provider::CaseProvider;
use super::wire::{WireCase, WireTool};
use crate::case::build::Refusal;
use crate::case::cassettes::{Library, Shelf, ShelfBuilder, WireReplay};
use crate::case::script::ToolScript;
use crate::case::text::{Format, whole};
use crate::case::typed::typed;
use crate::case::{LoadError, load};
use crate::script::{Invocations, ScriptedFunction};

/// Tools for programs, each with a function or a script, as in a case of kind `program`.
///
/// The file holds them as `tools`, in JSON or TOML, or as a list in JSON; or it is one case of kind `program`, whose tools
/// they are.
///
/// ```
/// use serde_json::json;
/// use windtunnel_core::evaluator::{Evaluator, Program};
/// use windtunnel_sim::World;
/// use windtunnel_sim::case::{Format, Tools};
///
/// let tools = Tools::parse("tools.json", Format::Json, r#"[{"name": "ping", "fn": "ping", "delay_ms": 250}]"#)?;
/// let program = Program::from_value(&json!({
///     "schema_version": "2.0",
///     "body": [{"type": "tool_call", "tool": "ping"}],
/// }))?;
/// let run = World::new(0).run(|world| async move {
///     Evaluator::new(tools.provider(world.env())).env(world.env()).evaluate(&program).await
/// });
/// assert_eq!(run.elapsed.as_millis(), 250);
/// assert_eq!(run.outcome?.into_value()?, "pong");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Tools {
    tools: Arc<[CaseTool]>,
    shelf: Arc<Shelf>,
}

/// One tool as a file says it is.
#[derive(Debug)]
pub(super) struct CaseTool {
    pub(super) definition: Arc<ToolDefinition>,
    pub(super) answers: Answers,
    pub(super) script: ToolScript<ToolFailure>,
    /// The cassette that answers in place of all that.
    pub(super) cassette: Option<usize>,
}

/// A file of tools that is an object.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object with tools, or a list of them")]
struct WireTools {
    tools: Vec<WireTool>,
    replay: Option<WireReplay>,
}

impl Tools {
    /// Reads the tools of a file; its name says its format.
    ///
    /// # Errors
    /// [`LoadError`] if it cannot be read, or something in it is wrong: then the first such thing.
    pub fn load(file: &str) -> Result<Self, LoadError> {
        let (format, opened) = load::open(file)?;
        Self::parse_with(file, format, &load::text(file, opened)?, &Library::beside(file))
    }

    /// Reads tools from anywhere; `file` stands for it in messages.
    ///
    /// # Errors
    /// As for [`Tools::load`].
    pub fn read(file: &str, format: Format, from: impl Read) -> Result<Self, LoadError> {
        Self::parse(file, format, &load::text(file, from)?)
    }

    /// Reads tools from a text; `file` stands for it in messages.
    ///
    /// # Errors
    /// As for [`Tools::load`].
    pub fn parse(file: &str, format: Format, text: &str) -> Result<Self, LoadError> {
        Self::parse_with(file, format, text, &Library::nowhere())
    }

    fn parse_with(file: &str, format: Format, text: &str, library: &Library) -> Result<Self, LoadError> {
        let document = whole(file, format, text, Bounds::DEFAULT)?;
        let in_tools = document.root.clone().member("tools");
        let (WireTools { tools, replay }, path) = match &document.value {
            Value::Array(_) => (WireTools { tools: typed(&document)?, replay: None }, document.root.clone()),
            case if case.get("program").is_some() => {
                let WireCase { tools, replay, .. } = typed(&document)?;
                (WireTools { tools, replay }, in_tools)
            }
            _ => (typed(&document)?, in_tools),
        };
        let build = || {
            let mut shelf = ShelfBuilder::new(library, replay, document.root.clone().member("replay"))?;
            let tools = build::tools(tools, &path, &mut shelf)?;
            Ok(Self { tools: tools.into(), shelf: Arc::new(shelf.finish()?) })
        };
        build().map_err(|refusal: Refusal| refusal.in_document(&document))
    }

    /// What each of them is called with, in order.
    pub fn definitions(&self) -> impl ExactSizeIterator<Item = &ToolDefinition> {
        self.tools.iter().map(|tool| &*tool.definition)
    }

    /// Their names, in order.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.tools.iter().map(|tool| tool.definition.name())
    }

    /// The tools for evaluations in `env`, each at the beginning of its script. What is passed to them and what they give
    /// is bounded, as in a case: no program can take all memory by it. Nothing tells what is left of a cassette.
    pub fn provider(&self, env: Env) -> impl ToolProvider + use<> {
        let playing = Arc::new(self.shelf.play(&env));
        BoundedProvider::new(CaseProvider::new(&self.tools, playing, env, Invocations::default()), Arc::default())
    }
}

impl CaseTool {
    /// The tool at the beginning of its script.
    pub(super) fn function(&self, env: &Env) -> ScriptedFunction {
        let definition = Arc::clone(&self.definition);
        let next_step = self.script.player(definition.name(), env.clone());
        let answers = self.answers.clone();
        ScriptedFunction::new(definition, move |arguments| answers.to(arguments)).after_script(move |_| next_step())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_refused(format: Format, text: &str, message: &str) {
        assert_eq!(Tools::parse("f", format, text).unwrap_err().to_string(), message);
    }

    #[test]
    fn tools_read_the_same_in_each_form() {
        for (format, text) in [
            (Format::Json, r#"[{"name": "a", "fn": "ping"}, {"name": "b"}]"#),
            (Format::Json, r#"{"tools": [{"name": "a", "fn": "ping"}, {"name": "b"}]}"#),
            (Format::Json, r#"{"tools": [{"name": "a"}, {"name": "b"}], "program": {}, "limits": {"max_nodes": 3}}"#),
            (Format::Toml, "[[tools]]\nname = \"a\"\nfn = \"ping\"\n[[tools]]\nname = \"b\""),
        ] {
            let tools = Tools::parse("f", format, text).unwrap();
            assert!(tools.names().eq(["a", "b"]), "{text}");
        }
        assert_eq!(Tools::parse("f", Format::Json, "[]").unwrap().names().len(), 0);
    }

    #[test]
    fn what_is_wrong_is_refused_with_its_place() {
        let duplicate = "there is a tool named \"a\" already; give one of the two another name";
        check_refused(
            Format::Json,
            "[{\"name\": \"a\"},\n {\"name\": \"a\"}]",
            &format!("f:2:11: $[1].name: {duplicate}"),
        );
        check_refused(
            Format::Json,
            r#"{"tools": [{"name": "a"}, {"name": "a"}]}"#,
            &format!("f:1:36: $.tools[1].name: {duplicate}"),
        );
        check_refused(
            Format::Json,
            r#"{"tools": [], "calls": []}"#,
            "f:1:15: $.calls: unknown field \"calls\"; known: tools, replay",
        );
        check_refused(
            Format::Json,
            "7",
            "f:1:1: $: invalid type: integer 7, expected an object with tools, or a list of them",
        );
        check_refused(
            Format::Toml,
            "[[case]]\ntools = []",
            "f:1:3: $.case: unknown field \"case\"; known: tools, replay",
        );
    }
}
