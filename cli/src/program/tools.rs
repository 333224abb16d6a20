//! The tools of a program: their file, and whether the program's calls fit them.

use serde_json::{Map, Value};
use windtunnel_core::evaluator::{Program, ToolDefinition};
use windtunnel_core::json::{self, Bounds, Path};
use windtunnel_sim::case::{LoadError, Tools};

use super::source::Flaw;
use crate::failure::Failure;

/// Levels of JSON that are looked through. Dropping a value recurses.
const DEPTH_MAX: usize = 2000;
/// Before a tool's name in version 1, it means nothing (V5).
const PREFIX: &str = "functions.";

pub(super) fn load(file: &str) -> Result<Tools, Failure> {
    Tools::load(file).map_err(|error| match error {
        LoadError::UnknownFormat { file } => {
            Failure::Selection(format!("{file}: the name of a file of tools ends in .json or .toml"))
        }
        error => error.into(),
    })
}

/// Their names in a line.
pub(super) fn listed(tools: &Tools) -> String {
    tools.names().collect::<Vec<_>>().join(", ")
}

/// Where the program calls a tool that there is not, or one with arguments that it does not take.
pub(super) fn flaws(program: &Program, tools: &Tools) -> Vec<Flaw> {
    let bounds = Bounds { bytes_max: usize::MAX, depth_max: DEPTH_MAX };
    let Ok(root) = json::parse(&program.to_json(), bounds) else {
        let problem = format!("nests deeper than {DEPTH_MAX} levels of JSON: its tools cannot be checked");
        return vec![Flaw::at(Path::root(), problem)];
    };
    let mut flaws = Vec::new();
    let mut pending = vec![(Path::root(), &root)];
    while let Some((path, node)) = pending.pop() {
        match node {
            Value::Array(elements) => {
                let elements = elements.iter().enumerate().rev();
                pending.extend(elements.map(|(index, element)| (path.clone().element(index), element)));
            }
            Value::Object(members) => {
                flaws.extend(problems(members, tools).into_iter().map(|problem| Flaw::at(path.clone(), problem)));
                // The value of a literal is data, whatever it looks like.
                let is_data = matches!(members.get("type").and_then(Value::as_str), Some("literal" | "value"));
                let children = members.iter().rev().filter(|_| !is_data);
                pending.extend(children.map(|(name, member)| (path.clone().member(name.clone()), member)));
            }
            _ => {}
        }
    }
    flaws
}

/// What is wrong with a node, if it is a call of a tool.
fn problems(node: &Map<String, Value>, tools: &Tools) -> Vec<String> {
    let text = |name: &str| node.get(name).and_then(Value::as_str);
    let (tool, is_positional) = match text("type") {
        Some("tool_call") => (text("tool"), false),
        Some("function") => (text("name").map(|name| name.strip_prefix(PREFIX).unwrap_or(name)), true),
        _ => return Vec::new(),
    };
    let tool = tool.unwrap_or_default();
    let Some(definition) = tools.definitions().find(|definition| definition.name() == tool) else {
        let known = if tools.names().len() == 0 { "there are none".to_owned() } else { listed_known(tools) };
        return vec![format!("there is no tool {tool:?}; {known}")];
    };
    match (is_positional, node.get("params"), node.get("arguments")) {
        (true, Some(Value::Array(params)), _) => count_problem(definition, params.len()).into_iter().collect(),
        (false, _, Some(Value::Object(arguments))) => name_problems(definition, arguments),
        _ => Vec::new(),
    }
}

fn listed_known(tools: &Tools) -> String {
    format!("known: {}", listed(tools))
}

/// V5
fn count_problem(definition: &ToolDefinition, given: usize) -> Option<String> {
    let (tool, taken) = (definition.name(), definition.properties().len());
    match definition.has_input_schema() {
        true if given > taken => Some(format!("tool {tool:?} takes at most {taken} parameters, not {given}")),
        false if given != taken => Some(format!("tool {tool:?} takes exactly {taken} parameters, not {given}")),
        _ => None,
    }
}

fn name_problems(definition: &ToolDefinition, arguments: &Map<String, Value>) -> Vec<String> {
    let (tool, schema) = (definition.name(), definition.input_schema());
    let names: Vec<&str> = definition.properties().collect();
    // A schema may let arguments in that it does not name.
    let is_closed = schema["additionalProperties"] == false && schema["patternProperties"].is_null();
    let unknown = arguments.keys().filter(|name| is_closed && !names.contains(&name.as_str()));
    let known = if names.is_empty() { "it takes none".to_owned() } else { format!("known: {}", names.join(", ")) };
    let unknown = unknown.map(|name| format!("tool {tool:?} takes no argument {name:?}; {known}"));
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let missing = required.filter(|name| !arguments.contains_key(*name));
    unknown.chain(missing.map(|name| format!("tool {tool:?} needs the argument {name:?}"))).collect()
}
