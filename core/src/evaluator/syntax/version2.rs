//! Reading programs of version 2.

use super::declared::Declared;
use super::document::{Document, EntryId};
use super::memo::{self, Memo};
use super::reader::{Reader, Wanted};
use super::tree::{Children, Definition, Mode, NameId, Node, NodeId};
use super::version1::TYPES_OF_VERSION_1;
use super::wording::{listed, quoted};

/// What may stand where a value is wanted.
const WANTED: Wanted = Wanted {
    noun: "an expression",
    plain: r#"{"type": "literal", "value": …}"#,
    types: &["literal", "variable", "call", "tool_call", "conditional", "memo"],
};

/// What version 1 does not know.
pub(super) const TYPES_OF_VERSION_2: [&str; 5] = ["literal", "variable", "call", "tool_call", "memo"];

/// Reads the program that the whole document is.
pub(super) fn read(reader: &mut Reader<'_>) {
    let root = reader.reserve(1).get(0);
    let mut version =
        Version2 { reader, tasks: Vec::new(), declared: Declared::default(), memos: Vec::new(), memos_around: 0 };
    match version.reader.kind(Document::ROOT, "program") {
        Some("program") => version.program(root),
        Some(kind) => version.wrong_type(Document::ROOT, kind, "the whole must be a \"program\""),
        None => {}
    }
    while let Some(task) = version.tasks.pop() {
        match task {
            Task::Expression(entry, node) => version.expression(entry, node),
            Task::Enter(scope, params) => version.enter(scope, params),
            Task::LeaveMemo => version.memos_around -= 1,
        }
    }
    let Version2 { reader, memos, .. } = version;
    memo::check(reader, memos);
}

struct Version2<'r, 'd> {
    reader: &'r mut Reader<'d>,
    /// What is still to be done, the next last.
    tasks: Vec<Task>,
    declared: Declared,
    memos: Vec<Memo>,
    memos_around: usize,
}

enum Task {
    Expression(EntryId, NodeId),
    /// From here on, the parameters of another definition are in scope.
    Enter(u32, Vec<(EntryId, NameId)>),
    LeaveMemo,
}

impl Version2<'_, '_> {
    fn program(&mut self, node: NodeId) {
        let root = Document::ROOT;
        let fields = ["definitions", "body", "mode", "name", "description", "schema_version"];
        let [definitions, body, mode, name, description, _] = self.reader.fields(root, fields);
        let title = self.reader.title(name, description);
        let mode = mode.map_or(Some(Mode::Single), |mode| self.reader.mode(mode));
        let list = self.reader.required(root, "body", body).and_then(|body| self.reader.list(body));
        if let (Some(body), Some([])) = (body, list.as_deref()) {
            self.reader.offend(body, || "must hold at least one expression".to_owned());
        }
        let definitions = definitions.and_then(|definitions| self.reader.list(definitions)).unwrap_or_default();
        let list = list.unwrap_or_default();
        let body = self.reader.reserve(list.len());
        let bodies = self.reader.reserve(definitions.len());
        // Tasks run from the last to the first: the definitions in order, then the body.
        let mut tasks = vec![Task::Enter(u32::MAX, Vec::new())];
        tasks.extend(body.iter().zip(&list).map(|(node, entry)| Task::Expression(*entry, node)));
        let mut before = Vec::new();
        for (node, entry) in bodies.iter().zip(definitions) {
            before.extend(self.definition(entry, node));
        }
        self.tasks.extend(tasks.into_iter().rev());
        self.tasks.extend(before.into_iter().rev());
        self.reader.set(node, Node::Program { body, mode: mode.unwrap_or(Mode::Single), title });
    }

    /// Reads the head of a definition, so that any body may call it.
    fn definition(&mut self, entry: EntryId, node: NodeId) -> Vec<Task> {
        let number = u32::try_from(self.reader.definitions.len()).unwrap_or(u32::MAX);
        let mut definition = Definition { name: NameId(0), params: Box::default(), body: node };
        let mut tasks = Vec::new();
        match self.reader.kind(entry, "function_definition") {
            Some("function_definition") => {
                let [name, params, body] = self.reader.fields(entry, ["name", "params", "body"]);
                let params = params.map(|params| self.params(params)).unwrap_or_default();
                definition.params = params.iter().map(|(_, name)| *name).collect();
                if let Some(at) = self.reader.required(entry, "name", name)
                    && let Some(name) = self.reader.identifier(at)
                {
                    definition.name = self.define(at, name, number);
                }
                if let Some(body) = self.reader.required(entry, "body", body) {
                    tasks = vec![Task::Enter(number + 1, params), Task::Expression(body, node)];
                }
            }
            Some(kind) => self.wrong_type(entry, kind, "a definition must be a \"function_definition\""),
            None => {}
        }
        self.reader.definitions.push(definition);
        tasks
    }

    fn define(&mut self, entry: EntryId, name: &str, number: u32) -> NameId {
        let id = NameId(self.reader.names.intern(name));
        if !self.declared.define(id, number) {
            self.reader.offend(entry, || format!("{} is defined twice; rename one", quoted(name)));
        }
        id
    }

    fn params(&mut self, entry: EntryId) -> Vec<(EntryId, NameId)> {
        let mut params = Vec::new();
        for param in self.reader.list(entry).unwrap_or_default() {
            let name = self.reader.identifier(param);
            params.extend(name.map(|name| (param, NameId(self.reader.names.intern(name)))));
        }
        params
    }

    fn enter(&mut self, scope: u32, params: Vec<(EntryId, NameId)>) {
        self.declared.enter(scope);
        for (entry, name) in params {
            if !self.declared.add_param(name) {
                self.reader.offend(entry, || "this parameter is given twice; rename one".to_owned());
            }
        }
    }

    fn expression(&mut self, entry: EntryId, node: NodeId) {
        let Some(kind) = self.reader.stated_kind(entry, &WANTED) else { return };
        match kind {
            "literal" => self.literal(entry, node),
            "variable" => self.variable(entry, node),
            "call" => self.call(entry, node),
            "tool_call" => self.tool_call(entry, node),
            "conditional" => self.conditional(entry, node),
            "memo" => self.memo(entry, node),
            "program" => self.wrong_type(entry, kind, "only the whole is a program in version 2"),
            "function_definition" => self.wrong_type(entry, kind, "put it in the root's `definitions`"),
            _ if TYPES_OF_VERSION_1.contains(&kind) => {
                self.wrong_type(entry, kind, "it belongs to version 1: set the root's `schema_version` to \"1.0\"");
            }
            _ => self.wrong_type(entry, kind, &format!("known types: {}", listed(WANTED.types.iter().copied()))),
        }
    }

    fn wrong_type(&mut self, entry: EntryId, kind: &str, advice: &str) {
        let place = self.reader.document.member(entry, "type").unwrap_or(entry);
        self.reader.offend(place, || format!("{} cannot stand here; {advice}", quoted(kind)));
    }

    /// Makes room for expressions, to be read in this order.
    fn children(&mut self, entries: &[EntryId]) -> Children {
        let children = self.reader.reserve(entries.len());
        self.tasks.extend(children.iter().zip(entries).rev().map(|(node, entry)| Task::Expression(*entry, node)));
        children
    }

    fn literal(&mut self, entry: EntryId, node: NodeId) {
        let [value] = self.reader.fields(entry, ["value"]);
        let value = self.reader.required(entry, "value", value).and_then(|value| self.reader.payload(value));
        if let Some(value) = value {
            self.reader.set(node, Node::Literal { value });
        }
    }

    fn variable(&mut self, entry: EntryId, node: NodeId) {
        let [name] = self.reader.fields(entry, ["name"]);
        let Some(at) = self.reader.required(entry, "name", name) else { return };
        let Some(text) = self.reader.identifier(at) else { return };
        let name = NameId(self.reader.names.intern(text));
        if self.memos_around > 0 {
            self.reader.offend(at, || "a memo is closed: no variable may stand in its expression".to_owned());
        }
        match self.declared.param(name) {
            Some(index) => self.reader.set(node, Node::Variable { name, index }),
            _ if self.memos_around > 0 => {}
            _ => self.reader.offences.add(at, || {
                let known = listed(self.declared.params().iter().map(|param| &**self.reader.names.text(param.0)));
                format!("no variable {} is in scope; in scope here: {known}", quoted(text))
            }),
        }
    }

    fn call(&mut self, entry: EntryId, node: NodeId) {
        let [function, arguments] = self.reader.fields(entry, ["function", "arguments"]);
        let list = arguments.map_or(Some(Vec::new()), |arguments| self.reader.list(arguments));
        let children = self.children(list.as_deref().unwrap_or_default());
        let Some(at) = self.reader.required(entry, "function", function) else { return };
        let Some(text) = self.reader.identifier(at) else { return };
        let name = NameId(self.reader.names.intern(text));
        let Some(definition) = self.declared.definition(name) else {
            self.reader.offences.add(at, || {
                let names = self.declared.definitions().iter().map(|known| &**self.reader.names.text(known.0));
                format!("no definition is called {}; defined: {}", quoted(text), listed(names))
            });
            return;
        };
        let expected = self.reader.definitions[definition as usize].params.len();
        let count = children.count as usize;
        if list.is_some() && count != expected {
            self.reader.offend(arguments.unwrap_or(entry), || {
                let noun = if expected == 1 { "argument" } else { "arguments" };
                format!("{} takes {expected} {noun}, not {count}", quoted(text))
            });
        }
        self.reader.set(node, Node::Call { definition, arguments: children });
    }

    fn tool_call(&mut self, entry: EntryId, node: NodeId) {
        let [tool, arguments] = self.reader.fields(entry, ["tool", "arguments"]);
        let mut entries = Vec::new();
        let mut names = Vec::new();
        if let Some(arguments) = arguments.filter(|arguments| self.reader.is_object(*arguments)) {
            let document = self.reader.document;
            for argument in document.children(arguments) {
                let name = document.name(argument);
                self.reader.is_identifier(argument, name);
                names.push(NameId(self.reader.names.intern(name)));
                entries.push(argument);
            }
        }
        let arguments = self.children(&entries);
        let tool = self.reader.required(entry, "tool", tool).and_then(|tool| self.reader.identifier(tool));
        if let Some(tool) = tool {
            let tool = self.reader.tool(tool);
            self.reader.set(node, Node::ToolCall { tool, names: names.into(), arguments });
        }
    }

    fn conditional(&mut self, entry: EntryId, node: NodeId) {
        let names = ["condition", "true_branch", "false_branch"];
        let found = self.reader.fields(entry, names);
        let mut parts = Vec::with_capacity(3);
        for (name, part) in names.into_iter().zip(found) {
            parts.extend(self.reader.required(entry, name, part));
        }
        let parts = self.children(&parts);
        self.reader.set(node, Node::Conditional { parts });
    }

    fn memo(&mut self, entry: EntryId, node: NodeId) {
        let [key, expression] = self.reader.fields(entry, ["key", "expression"]);
        let at = self.reader.required(entry, "key", key);
        let key = at.and_then(|at| self.reader.identifier(at));
        let expression = self.reader.required(entry, "expression", expression);
        self.memos_around += 1;
        self.tasks.push(Task::LeaveMemo);
        let place = self.reader.reserve(1).get(0);
        self.tasks.extend(expression.map(|expression| Task::Expression(expression, place)));
        if let (Some(at), Some(key)) = (at, key) {
            let key = self.reader.memo_key(key);
            self.memos.push(Memo { at, key, expression: place });
            self.reader.set(node, Node::Memo { key, expression: place });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Program;

    const LITERAL: &str = r#"{"type": "literal", "value": 1}"#;

    #[track_caller]
    fn check_members(members: &str, problem: &str) {
        let text = format!(r#"{{"schema_version": "2.0", {}}}"#, members.replace("LITERAL", LITERAL));
        let refusal = Program::parse(&text, Program::BOUNDS).unwrap_err();
        let [offence] = refusal.offences() else { panic!("{refusal}") };
        assert_eq!(format!("{}: {}", offence.path, offence.problem), problem);
    }

    /// Checks the one offence of a program with the one expression, which may call `f`.
    #[track_caller]
    fn check(expression: &str, problem: &str) {
        let definition = r#"{"name": "f", "params": ["n"], "body": {"type": "variable", "name": "n"}}"#;
        check_members(&format!(r#""definitions": [{definition}], "body": [{expression}]"#), problem);
    }

    #[track_caller]
    fn check_definitions(definitions: &str, problem: &str) {
        check_members(&format!(r#""definitions": {definitions}, "body": [LITERAL]"#), problem);
    }

    #[test]
    fn offences_of_the_whole_are_named() {
        check_members(r#""mode": "single""#, "$: `body` is missing");
        check_members(r#""body": []"#, "$.body: must hold at least one expression");
        check_members(r#""body": [LITERAL], "mode": null"#, "$.mode: must be a string, not null");
        check_members(
            r#""body": [LITERAL], "extra": 1"#,
            "$.extra: unknown field; known fields: \"type\", \"definitions\", \"body\", \"mode\", \"name\", \
             \"description\", \"schema_version\"",
        );
        check_members(
            r#""type": "memo", "body": [LITERAL]"#,
            r#"$.type: "memo" cannot stand here; the whole must be a "program""#,
        );
    }

    #[test]
    fn offences_of_definitions_are_named() {
        check_definitions("null", "$.definitions: must be a list, not null");
        check_definitions("[1]", "$.definitions[0]: must be an object, not a number");
        check_definitions(r#"[{"body": LITERAL}]"#, "$.definitions[0]: `name` is missing");
        check_definitions(r#"[{"name": "f"}]"#, "$.definitions[0]: `body` is missing");
        check_definitions(
            r#"[{"name": "a-b", "body": LITERAL}]"#,
            r#"$.definitions[0].name: "a-b" is not a name; use letters, digits and _, and begin with no digit"#,
        );
        check_definitions(
            r#"[{"name": "f", "body": LITERAL}, {"name": "f", "body": LITERAL}]"#,
            r#"$.definitions[1].name: "f" is defined twice; rename one"#,
        );
        check_definitions(
            r#"[{"name": "f", "params": ["n", "n"], "body": LITERAL}]"#,
            "$.definitions[0].params[1]: this parameter is given twice; rename one",
        );
        check_definitions(
            r#"[{"type": "literal", "name": "f", "body": LITERAL}]"#,
            r#"$.definitions[0].type: "literal" cannot stand here; a definition must be a "function_definition""#,
        );
        check_definitions(
            r#"[{"name": "f", "params": ["n"], "body": LITERAL},
                {"name": "g", "params": ["m"], "body": {"type": "variable", "name": "n"}}]"#,
            r#"$.definitions[1].body.name: no variable "n" is in scope; in scope here: "m""#,
        );
    }

    #[test]
    fn offences_of_expressions_are_named() {
        let types = r#"known types: "literal", "variable", "call", "tool_call", "conditional", "memo""#;
        check(
            r#"{"value": 1}"#,
            &format!(
                r#"$.body[0]: `type` is missing; {types}; write a plain value as {{"type": "literal", "value": …}}"#
            ),
        );
        check(r#"{"type": "macro"}"#, &format!("$.body[0].type: \"macro\" cannot stand here; {types}"));
        check(
            r#"{"type": "tool_call", "tool": "t", "arguments": {"a": {"type": "map"}}}"#,
            r#"$.body[0].arguments.a.type: "map" cannot stand here; it belongs to version 1: set the root's `schema_version` to "1.0""#,
        );
        check(
            r#"{"type": "program"}"#,
            r#"$.body[0].type: "program" cannot stand here; only the whole is a program in version 2"#,
        );
        check(
            r#"{"type": "function_definition"}"#,
            r#"$.body[0].type: "function_definition" cannot stand here; put it in the root's `definitions`"#,
        );
        check(r#"{"type": "literal"}"#, "$.body[0]: `value` is missing");
        check(r#"{"type": "variable"}"#, "$.body[0]: `name` is missing");
        check(
            r#"{"type": "variable", "name": "n"}"#,
            r#"$.body[0].name: no variable "n" is in scope; in scope here: none"#,
        );
        check(r#"{"type": "call"}"#, "$.body[0]: `function` is missing");
        check(
            r#"{"type": "call", "function": "g"}"#,
            r#"$.body[0].function: no definition is called "g"; defined: "f""#,
        );
        check(r#"{"type": "call", "function": "f"}"#, r#"$.body[0]: "f" takes 1 argument, not 0"#);
        check(
            r#"{"type": "call", "function": "f", "arguments": [LITERAL, LITERAL]}"#,
            r#"$.body[0].arguments: "f" takes 1 argument, not 2"#,
        );
        check(
            r#"{"type": "call", "function": "f", "arguments": {}}"#,
            "$.body[0].arguments: must be a list, not an object",
        );
        check(r#"{"type": "tool_call"}"#, "$.body[0]: `tool` is missing");
        check(
            r#"{"type": "tool_call", "tool": "t", "arguments": {"": LITERAL}}"#,
            r#"$.body[0].arguments[""]: "" is not a name; use letters, digits and _, and begin with no digit"#,
        );
        check(
            r#"{"type": "conditional", "condition": LITERAL, "true_branch": LITERAL}"#,
            "$.body[0]: `false_branch` is missing",
        );
    }

    #[test]
    fn a_plain_value_in_the_place_of_an_expression_is_told_how_to_be_written() {
        let problem = r#"must be an expression: write {"type": "literal", "value": …}"#;
        for value in ["7", "null", "false", r#""secret""#, "[]", r#"["secret"]"#, r#"[{"type": "secret"}]"#] {
            check(value, &format!("$.body[0]: {problem}"));
            let call = format!(r#"{{"type": "tool_call", "tool": "t", "arguments": {{"a": {value}}}}}"#);
            check(&call, &format!("$.body[0].arguments.a: {problem}"));
            let call = format!(r#"{{"type": "call", "function": "f", "arguments": [{value}]}}"#);
            check(&call, &format!("$.body[0].arguments[0]: {problem}"));
        }
        check_definitions(
            r#"[{"name": "f", "body": [LITERAL]}]"#,
            "$.definitions[0].body: must be an expression, not a list of them",
        );
    }

    #[test]
    fn memos_are_closed() {
        check(r#"{"type": "memo", "key": "k"}"#, "$.body[0]: `expression` is missing");
        check(r#"{"type": "memo", "expression": LITERAL}"#, "$.body[0]: `key` is missing");
        let memo = r#"{"type": "memo", "key": "k", "expression": {"type": "tool_call", "tool": "t",
            "arguments": {"a": {"type": "variable", "name": "n"}}}}"#;
        check_definitions(
            &format!(r#"[{{"name": "f", "params": ["n"], "body": {memo}}}]"#),
            "$.definitions[0].body.expression.arguments.a.name: a memo is closed: no variable may stand in its expression",
        );
    }

    #[test]
    fn definitions_may_call_each_other_and_themselves() {
        let call = |name: &str| format!(r#"{{"type": "call", "function": "{name}"}}"#);
        let text = format!(
            r#"{{"schema_version": "2.0", "body": [{}], "definitions": [
                {{"name": "f", "body": {}}}, {{"name": "g", "body": {}}}]}}"#,
            call("g"),
            call("g"),
            call("f")
        );
        assert_eq!(Program::parse(&text, Program::BOUNDS).unwrap().node_count(), 4);
    }
}
