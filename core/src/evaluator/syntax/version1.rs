//! Reading programs of version 1.

use std::sync::Arc;

use super::super::datum::Datum;
use super::document::{Document, EntryId};
use super::reader::{Reader, Wanted};
use super::scope::Scopes;
use super::tree::{Children, Mode, NameId, Node, NodeId, Operation};
use super::version2::TYPES_OF_VERSION_2;
use super::wording::{listed, quoted};

/// What may stand where a value is wanted.
const WANTED: Wanted = Wanted {
    noun: "a node",
    plain: r#"{"type": "value", "name": …, "value": …}"#,
    types: &["program", "function", "value", "conditional", "map", "filter", "reduce"],
};

/// What version 2 does not know.
pub(super) const TYPES_OF_VERSION_1: [&str; 6] = ["function", "value", "lambda", "map", "filter", "reduce"];

/// Before a tool's name, it means nothing (V5).
const PREFIX: &str = "functions.";

/// Reads the program that the whole document is.
pub(super) fn read(reader: &mut Reader<'_>) {
    let root = reader.reserve(1).get(0);
    let mut version = Version1 { reader, scopes: Scopes::default(), tasks: Vec::new() };
    if let Some(kind) = version.reader.kind(Document::ROOT, "program") {
        if kind == "program" {
            version.program(Document::ROOT, root);
        } else {
            version.wrong_type(Document::ROOT, kind, "the whole must be a \"program\"");
        }
    }
    while let Some(task) = version.tasks.pop() {
        match task {
            Task::Node(entry, node) => version.node(entry, node),
            Task::Lambda { entry, node, owner } => version.lambda(entry, node, owner),
            Task::Body(entry, node) => version.body(entry, node),
            Task::LeaveLambda => version.scopes.leave(version.reader),
            Task::LeaveProgram => version.scopes.leave_program(),
        }
    }
}

struct Version1<'r, 'd> {
    reader: &'r mut Reader<'d>,
    scopes: Scopes,
    /// What is still to be done, the next last.
    tasks: Vec<Task>,
}

enum Task {
    Node(EntryId, NodeId),
    /// The lambda of `owner`, a map, filter or reduce.
    Lambda {
        entry: EntryId,
        node: NodeId,
        owner: NodeId,
    },
    /// The function that is the body of a lambda.
    Body(EntryId, NodeId),
    LeaveLambda,
    LeaveProgram,
}

impl Version1<'_, '_> {
    fn node(&mut self, entry: EntryId, node: NodeId) {
        let Some(kind) = self.reader.stated_kind(entry, &WANTED) else { return };
        match kind {
            "program" => self.program(entry, node),
            "function" => self.function(entry, node, false),
            "value" => self.value(entry, node),
            "conditional" => self.conditional(entry, node),
            "map" => self.higher_order(entry, node, Operation::Map),
            "filter" => self.higher_order(entry, node, Operation::Filter),
            // Where the accumulator stands is known when the lambda was read.
            "reduce" => self.higher_order(entry, node, Operation::Reduce { accumulator: node, outer: None }),
            "lambda" => {
                self.wrong_type(entry, kind, "it is no value: use it as the `function` of a map, filter or reduce");
            }
            _ if TYPES_OF_VERSION_2.contains(&kind) => {
                self.wrong_type(entry, kind, "it belongs to version 2: set the root's `schema_version` to \"2.0\"");
            }
            _ => self.wrong_type(entry, kind, &format!("known types: {}", listed(WANTED.types.iter().copied()))),
        }
    }

    fn wrong_type(&mut self, entry: EntryId, kind: &str, advice: &str) {
        let place = self.reader.document.member(entry, "type").unwrap_or(entry);
        self.reader.offend(place, || format!("{} cannot stand here; {advice}", quoted(kind)));
    }

    fn program(&mut self, entry: EntryId, node: NodeId) {
        let fields = ["body", "mode", "name", "description", "schema_version"];
        let [body, mode, name, description, version] = self.reader.fields(entry, fields);
        if let Some(version) = version.filter(|_| entry != Document::ROOT)
            && self.reader.string(version).is_some_and(|version| version != "1.0")
        {
            self.reader.offend(version, || "must be \"1.0\", as the program around it".to_owned());
        }
        let title = self.reader.title(name, description);
        let mode = self.reader.required(entry, "mode", mode).and_then(|mode| self.reader.mode(mode));
        let body = self.reader.required(entry, "body", body).and_then(|body| self.reader.list(body));
        self.scopes.enter_program();
        self.tasks.push(Task::LeaveProgram);
        let body = self.children(&body.unwrap_or_default());
        self.reader.set(node, Node::Program { body, mode: mode.unwrap_or(Mode::Single), title });
    }

    /// Makes room for nodes, to be read in this order.
    fn children(&mut self, entries: &[EntryId]) -> Children {
        let children = self.reader.reserve(entries.len());
        self.tasks.extend(children.iter().zip(entries).rev().map(|(node, entry)| Task::Node(*entry, node)));
        children
    }

    fn function(&mut self, entry: EntryId, node: NodeId, is_body: bool) {
        let [name, params] = self.reader.fields(entry, ["name", "params"]);
        let name = self.reader.required(entry, "name", name).and_then(|name| self.reader.name(name));
        let params = self.reader.required(entry, "params", params).and_then(|params| self.reader.list(params));
        let params = self.children(&params.unwrap_or_default());
        if is_body {
            self.scopes.set_direct(params);
        }
        let Some(name) = name else { return };
        let written = Arc::clone(self.reader.names.text(name.0));
        let tool = self.reader.tool(written.strip_prefix(PREFIX).unwrap_or(&written));
        self.reader.set(node, Node::Function { name, tool, params });
    }

    fn value(&mut self, entry: EntryId, node: NodeId) {
        let [name, value] = self.reader.fields(entry, ["name", "value"]);
        let name = self.reader.required(entry, "name", name).and_then(|name| self.reader.name(name));
        let value = self.reader.required(entry, "value", value).and_then(|value| self.reader.payload(value));
        if let (Some(name), Some(value)) = (name, value) {
            let is_null = value == Datum::Null;
            let binding = self.scopes.meet(self.reader, entry, node, name, is_null);
            self.reader.set(node, Node::Value { name, value, binding });
        }
    }

    fn conditional(&mut self, entry: EntryId, node: NodeId) {
        let parts = self.reader.fields(entry, ["condition", "true_branch", "false_branch"]);
        let condition = self.reader.required(entry, "condition", parts[0]);
        let true_branch = self.reader.required(entry, "true_branch", parts[1]);
        let false_branch = parts[2].filter(|branch| !self.reader.is_null(*branch));
        let parts: Vec<_> = [condition, true_branch, false_branch].into_iter().flatten().collect();
        let parts = self.children(&parts);
        self.reader.set(node, Node::Conditional { parts });
    }

    fn higher_order(&mut self, entry: EntryId, node: NodeId, operation: Operation) {
        let [function, iterable] = self.reader.fields(entry, ["function", "iterable"]);
        let function = self.reader.required(entry, "function", function);
        let iterable = self.reader.required(entry, "iterable", iterable);
        let parts = self.reader.reserve(2);
        self.tasks.extend(iterable.map(|iterable| Task::Node(iterable, parts.get(1))));
        self.tasks.extend(function.map(|entry| Task::Lambda { entry, node: parts.get(0), owner: node }));
        self.reader.set(node, Node::HigherOrder { operation, parts });
    }

    fn lambda(&mut self, entry: EntryId, node: NodeId, owner: NodeId) {
        let Some(kind) = self.reader.kind(entry, "lambda") else { return };
        if kind != "lambda" {
            return self.wrong_type(entry, kind, "a map, filter or reduce takes a \"lambda\"");
        }
        let [params, body] = self.reader.fields(entry, ["params", "body"]);
        let names = self.reader.required(entry, "params", params).and_then(|params| self.params(params, owner));
        let is_reduce = matches!(
            self.reader.nodes[owner.0 as usize],
            Node::HigherOrder { operation: Operation::Reduce { .. }, .. }
        );
        let names = names.unwrap_or_default();
        let params = names.iter().map(|(_, name)| *name).collect();
        self.scopes.enter(self.reader, names, is_reduce.then_some(owner));
        self.tasks.push(Task::LeaveLambda);
        let place = self.reader.reserve(1).get(0);
        self.tasks.extend(self.reader.required(entry, "body", body).map(|body| Task::Body(body, place)));
        self.reader.set(node, Node::Lambda { params, body: place });
    }

    /// The parameters of the lambda of `owner`, which says how many there are (V2).
    fn params(&mut self, entry: EntryId, owner: NodeId) -> Option<Vec<(EntryId, NameId)>> {
        let params = self.reader.list(entry)?;
        let (operation, expected) = match &self.reader.nodes[owner.0 as usize] {
            Node::HigherOrder { operation: Operation::Reduce { .. }, .. } => {
                ("reduce", "2 parameters, the accumulator and the item")
            }
            Node::HigherOrder { operation: Operation::Filter, .. } => ("filter", "1 parameter"),
            _ => ("map", "1 parameter"),
        };
        let count = params.len();
        if count != if operation == "reduce" { 2 } else { 1 } {
            self.reader.offend(entry, || format!("the lambda of a {operation} takes {expected}, not {count}"));
        }
        let mut names = Vec::with_capacity(count);
        for param in params {
            names.extend(self.reader.string(param).map(|name| (param, NameId(self.reader.names.intern(name)))));
        }
        Some(names)
    }

    fn body(&mut self, entry: EntryId, node: NodeId) {
        match self.reader.kind(entry, "function") {
            Some("function") => self.function(entry, node, true),
            Some(kind) => self.wrong_type(entry, kind, "the body of a lambda must be a \"function\""),
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Program;

    const VALUE: &str = r#"{"type": "value", "name": "v", "value": 1}"#;

    #[track_caller]
    fn check_text(text: &str, problem: &str) {
        let refusal = Program::parse(text, Program::BOUNDS).unwrap_err();
        let [offence] = refusal.offences() else { panic!("{refusal}") };
        assert_eq!(format!("{}: {}", offence.path, offence.problem), problem);
    }

    /// Checks the one offence of a program with the one node.
    #[track_caller]
    fn check(node: &str, problem: &str) {
        let node = node.replace("VALUE", VALUE);
        check_text(&format!(r#"{{"mode": "single", "body": [{node}]}}"#), problem);
    }

    #[test]
    fn offences_of_the_whole_are_named() {
        check_text("[]", "$: must be an object, not a list");
        check_text(r#"{"mode": "single"}"#, "$: `body` is missing");
        check_text(r#"{"body": []}"#, "$: `mode` is missing");
        check_text(r#"{"body": {}, "mode": "single"}"#, "$.body: must be a list, not an object");
        check_text(r#"{"body": [], "mode": true}"#, "$.mode: must be a string, not a boolean");
        check_text(r#"{"body": [], "mode": "many"}"#, r#"$.mode: must be "single" or "parallel""#);
        check_text(r#"{"body": [], "mode": "single", "name": 1}"#, "$.name: must be a string or null, not a number");
        check_text(
            r#"{"body": [], "mode": "single", "definition": []}"#,
            r#"$.definition: unknown field; known fields: "type", "body", "mode", "name", "description", "schema_version""#,
        );
        check_text(
            r#"{"type": "function", "name": "f", "params": []}"#,
            r#"$.type: "function" cannot stand here; the whole must be a "program""#,
        );
        check_text(r#"{"type": null, "mode": "single", "body": []}"#, "$.type: must be a string, not null");
    }

    #[test]
    fn offences_of_nodes_are_named() {
        let types = r#"known types: "program", "function", "value", "conditional", "map", "filter", "reduce""#;
        check(
            r#"{"name": "v", "value": 1}"#,
            &format!(
                r#"$.body[0]: `type` is missing; {types}; write a plain value as {{"type": "value", "name": …, "value": …}}"#
            ),
        );
        check(r#"{"type": "Value"}"#, &format!("$.body[0].type: \"Value\" cannot stand here; {types}"));
        check(
            r#"{"type": "function", "name": "f", "params": [{"type": "tool_call", "tool": "f"}]}"#,
            r#"$.body[0].params[0].type: "tool_call" cannot stand here; it belongs to version 2: set the root's `schema_version` to "2.0""#,
        );
        check(r#"{"type": "value", "name": "v"}"#, "$.body[0]: `value` is missing");
        check(r#"{"type": "value", "value": 1}"#, "$.body[0]: `name` is missing");
        check(r#"{"type": "value", "name": "", "value": 1}"#, "$.body[0].name: must not be empty");
        check(r#"{"type": "function", "name": 1, "params": []}"#, "$.body[0].name: must be a string, not a number");
        check(r#"{"type": "function", "name": "f"}"#, "$.body[0]: `params` is missing");
        check(
            r#"{"type": "function", "name": "f", "params": {"a": VALUE}}"#,
            "$.body[0].params: must be a list, not an object",
        );
        check(r#"{"type": "conditional", "true_branch": VALUE}"#, "$.body[0]: `condition` is missing");
        check(r#"{"type": "conditional", "condition": VALUE}"#, "$.body[0]: `true_branch` is missing");
        check(
            r#"{"type": "program", "mode": "single", "body": [], "schema_version": "2.0"}"#,
            r#"$.body[0].schema_version: must be "1.0", as the program around it"#,
        );
        check(
            &format!(r#"{{"type": "value", "name": "v", "value": {}1{}}}"#, "[".repeat(200), "]".repeat(200)),
            &format!(
                "$.body[0].value{}<{} segments left out>{}: nested deeper than the 128 levels a value may have",
                "[0]".repeat(17),
                128 + 3 - 39,
                "[0]".repeat(19)
            ),
        );
    }

    #[test]
    fn a_plain_value_in_the_place_of_a_node_is_told_how_to_be_written() {
        let problem = r#"must be a node: write {"type": "value", "name": …, "value": …}"#;
        for value in ["7", "null", "false", r#""secret""#, "[]", r#"["secret"]"#, r#"[{"type": "secret"}]"#] {
            check(value, &format!("$.body[0]: {problem}"));
            let function = format!(r#"{{"type": "function", "name": "f", "params": [VALUE, {value}]}}"#);
            check(&function, &format!("$.body[0].params[1]: {problem}"));
        }
        check(
            r#"{"type": "conditional", "condition": VALUE, "true_branch": [VALUE]}"#,
            "$.body[0].true_branch: must be a node, not a list of them",
        );
    }

    #[test]
    fn offences_of_lambdas_places_are_named() {
        let lambda =
            r#"{"params": ["x"], "body": {"name": "f", "params": [{"type": "value", "name": "x", "value": 1}]}}"#;
        check(r#"{"type": "map", "iterable": VALUE}"#, "$.body[0]: `function` is missing");
        check(&format!(r#"{{"type": "filter", "function": {lambda}}}"#), "$.body[0]: `iterable` is missing");
        check(
            r#"{"type": "lambda", "params": [], "body": {"name": "f", "params": []}}"#,
            r#"$.body[0].type: "lambda" cannot stand here; it is no value: use it as the `function` of a map, filter or reduce"#,
        );
        check(
            r#"{"type": "map", "function": VALUE, "iterable": VALUE}"#,
            r#"$.body[0].function.type: "value" cannot stand here; a map, filter or reduce takes a "lambda""#,
        );
        check(
            r#"{"type": "map", "function": {"params": ["x"]}, "iterable": VALUE}"#,
            "$.body[0].function: `body` is missing",
        );
        check(
            r#"{"type": "map", "function": {"params": ["x"], "body": VALUE}, "iterable": VALUE}"#,
            r#"$.body[0].function.body.type: "value" cannot stand here; the body of a lambda must be a "function""#,
        );
        check(
            r#"{"type": "map", "function": {"params": [1], "body": {"name": "f", "params": []}}, "iterable": VALUE}"#,
            "$.body[0].function.params[0]: must be a string, not a number",
        );
    }

    #[test]
    fn messages_hold_no_values() {
        let secret = r#"{"type": "value", "name": 5, "value": "secret"}"#;
        check(secret, "$.body[0].name: must be a string, not a number");
        check(
            r#"{"type": "function", "name": "f", "params": "secret"}"#,
            "$.body[0].params: must be a list, not a string",
        );
    }
}
