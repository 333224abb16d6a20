//! One expression a memo key (V2), in a time that is linear but for the look-ups.

use std::collections::BTreeMap;

use super::super::datum::Datum;
use super::document::EntryId;
use super::interner::Interner;
use super::reader::Reader;
use super::tree::{Children, MemoId, Node, NodeId};
use super::writing::push_datum;

/// A memo that was read.
pub(super) struct Memo {
    /// The place of its key.
    pub(super) at: EntryId,
    pub(super) key: MemoId,
    pub(super) expression: NodeId,
}

/// Finds memos that have the key of another one, and not its expression.
pub(super) fn check(reader: &mut Reader<'_>, mut memos: Vec<Memo>) {
    memos.sort_by_key(|memo| memo.at);
    let mut by_key: BTreeMap<MemoId, Vec<&Memo>> = BTreeMap::new();
    for memo in &memos {
        by_key.entry(memo.key).or_default().push(memo);
    }
    by_key.retain(|_, same| same.len() > 1);
    // A node that could not be read has no expression to compare.
    if by_key.is_empty() || reader.offences.count() > 0 {
        return;
    }
    let shapes = shapes(&reader.nodes);
    let shape = |memo: &Memo| shapes[memo.expression.0 as usize];
    for same in by_key.into_values() {
        for memo in &same[1..] {
            if shape(memo) != shape(same[0]) {
                let key = reader.shown_memo_key(memo.key);
                reader.offend(memo.at, || format!("{key} is the key of another expression; use another key"));
            }
        }
    }
}

/// A number for every expression, the same for those that are the same. Children come after their parents, so that
/// going backwards every child has its number before its parent needs it.
fn shapes(nodes: &[Node]) -> Vec<u32> {
    let mut payloads = Interner::default();
    let mut known: BTreeMap<Vec<u32>, u32> = BTreeMap::new();
    let mut shapes = vec![0; nodes.len()];
    for (place, node) in nodes.iter().enumerate().rev() {
        let of = |children: &Children| children.iter().map(|child| shapes[child.0 as usize]).collect::<Vec<_>>();
        let signature = match node {
            Node::Literal { value } => vec![0, payloads.intern(&text(value))],
            Node::Variable { name, .. } => vec![1, name.0],
            Node::Call { definition, arguments } => [vec![2, *definition], of(arguments)].concat(),
            Node::ToolCall { tool, names, arguments } => {
                let names = names.iter().map(|name| name.0).collect();
                [vec![3, tool.0], names, of(arguments)].concat()
            }
            Node::Conditional { parts } => [vec![4], of(parts)].concat(),
            Node::Memo { key, expression } => vec![5, key.0, shapes[expression.0 as usize]],
            // Only version 2 has memos.
            _ => continue,
        };
        let next = u32::try_from(known.len()).unwrap_or(u32::MAX);
        shapes[place] = *known.entry(signature).or_insert(next);
    }
    shapes
}

fn text(value: &Datum) -> String {
    let mut text = String::new();
    push_datum(&mut text, value);
    text
}

#[cfg(test)]
mod tests {
    use super::super::Program;

    /// Reads two memos of the same key.
    fn check(first: &str, second: &str) -> Result<(), String> {
        let memo = |expression: &str| format!(r#"{{"type": "memo", "key": "k", "expression": {expression}}}"#);
        let text = format!(
            r#"{{"schema_version": "2.0", "body": [{}, {}], "definitions": [
                {{"name": "f", "params": ["n"], "body": {{"type": "variable", "name": "n"}}}},
                {{"name": "g", "params": ["n"], "body": {{"type": "variable", "name": "n"}}}}]}}"#,
            memo(first),
            memo(second)
        );
        Program::parse(&text, Program::BOUNDS).map(drop).map_err(|refusal| refusal.to_string())
    }

    fn literal(value: &str) -> String {
        format!(r#"{{"type": "literal", "value": {value}}}"#)
    }

    #[test]
    fn memos_of_one_key_have_one_expression() {
        let expressions = [
            literal("1"),
            literal("1.0"),
            literal("0.0"),
            literal("-0.0"),
            literal("\"1\""),
            literal(r#"{"a": 1, "b": 2}"#),
            literal(r#"{"b": 2, "a": 1}"#),
            literal("[1]"),
            r#"{"type": "tool_call", "tool": "t"}"#.to_owned(),
            r#"{"type": "tool_call", "tool": "u"}"#.to_owned(),
            format!(r#"{{"type": "tool_call", "tool": "t", "arguments": {{"a": {0}, "b": {0}}}}}"#, literal("1")),
            format!(r#"{{"type": "tool_call", "tool": "t", "arguments": {{"b": {0}, "a": {0}}}}}"#, literal("1")),
            format!(r#"{{"type": "call", "function": "f", "arguments": [{}]}}"#, literal("1")),
            format!(r#"{{"type": "call", "function": "g", "arguments": [{}]}}"#, literal("1")),
            format!(r#"{{"type": "call", "function": "f", "arguments": [{}]}}"#, literal("2")),
            format!(r#"{{"type": "memo", "key": "l", "expression": {}}}"#, literal("1")),
            format!(
                r#"{{"type": "conditional", "condition": {0}, "true_branch": {0}, "false_branch": {0}}}"#,
                literal("1")
            ),
        ];
        for (index, first) in expressions.iter().enumerate() {
            for (other, second) in expressions.iter().enumerate() {
                let read = check(first, second);
                if index == other {
                    assert_eq!(read, Ok(()));
                } else {
                    let refusal = read.unwrap_err();
                    assert!(
                        refusal.ends_with("$.body[1].key: \"k\" is the key of another expression; use another key"),
                        "{refusal}"
                    );
                }
            }
        }
    }

    #[test]
    fn how_an_expression_is_written_makes_no_difference() {
        assert_eq!(check(&literal("[100.0, \"é\"]"), r#"{"value": [1e2, "\u00e9"], "type": "literal"}"#), Ok(()));
        assert_eq!(
            check(r#"{"type": "tool_call", "tool": "t"}"#, r#"{"tool": "t", "arguments": {}, "type": "tool_call"}"#),
            Ok(())
        );
    }
}
