//! What reading has in common for both versions: fields, names, lists, and a place for every node.

use std::sync::Arc;

use super::super::datum::{Datum, LEVELS_MAX};
use super::document::{Content, Document, EntryId};
use super::interner::Interner;
use super::offence::{Offences, ProgramError};
use super::payload::payload;
use super::tree::{Children, Definition, MemoId, Mode, NameId, Node, NodeId, Title, ToolId, Tree, Version};
use super::wording::{listed, quoted};

/// What may stand where a value is wanted.
pub(super) struct Wanted {
    /// With its article.
    pub(super) noun: &'static str,
    /// How a value that is known is written.
    pub(super) plain: &'static str,
    pub(super) types: &'static [&'static str],
}

/// Builds a tree from a document, collecting offences instead of stopping at the first.
pub(super) struct Reader<'d> {
    pub(super) document: &'d Document<'d>,
    pub(super) offences: Offences,
    pub(super) nodes: Vec<Node>,
    pub(super) definitions: Vec<Definition>,
    pub(super) names: Interner,
    tools: Interner,
    memo_keys: Interner,
}

impl<'d> Reader<'d> {
    pub(super) fn new(document: &'d Document<'d>) -> Self {
        Self {
            document,
            offences: Offences::default(),
            nodes: Vec::new(),
            definitions: Vec::new(),
            names: Interner::default(),
            tools: Interner::default(),
            memo_keys: Interner::default(),
        }
    }

    pub(super) fn finish(self, version: Version) -> Result<Tree, ProgramError> {
        if let Some(error) = self.offences.into_error(self.document) {
            return Err(error);
        }
        Ok(Tree {
            version,
            nodes: self.nodes,
            definitions: self.definitions,
            names: self.names.into_texts(),
            tools: self.tools.into_texts(),
            memo_keys: self.memo_keys.into_texts(),
        })
    }

    /// Makes room for nodes that stand next to each other.
    pub(super) fn reserve(&mut self, count: usize) -> Children {
        // Every node is a value of the document, and those are counted in 32 bits.
        let place = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let children = Children { first: place(self.nodes.len()), count: place(count) };
        self.nodes.resize(self.nodes.len() + count, Node::Literal { value: Datum::Null });
        children
    }

    pub(super) fn set(&mut self, node: NodeId, content: Node) {
        self.nodes[node.0 as usize] = content;
    }

    pub(super) fn offend(&mut self, entry: EntryId, problem: impl FnOnce() -> String) {
        self.offences.add(entry, problem);
    }

    /// The type of a node of which only one type can stand there: `implied`, if it does not say so.
    pub(super) fn kind(&mut self, entry: EntryId, implied: &'static str) -> Option<&'d str> {
        if !self.is_object(entry) {
            return None;
        }
        match self.document.member(entry, "type") {
            Some(member) => self.string(member),
            None => Some(implied),
        }
    }

    /// The type of a node that must say it.
    pub(super) fn stated_kind(&mut self, entry: EntryId, wanted: &Wanted) -> Option<&'d str> {
        let Wanted { noun, plain, types } = wanted;
        match self.document.content(entry) {
            Content::Object => {}
            Content::Array if self.begins_with_node(entry, types) => {
                self.offend(entry, || format!("must be {noun}, not a list of them"));
                return None;
            }
            _ => {
                self.offend(entry, || format!("must be {noun}: write {plain}"));
                return None;
            }
        }
        let Some(member) = self.document.member(entry, "type") else {
            self.offend(entry, || {
                let known = listed(types.iter().copied());
                format!("`type` is missing; known types: {known}; write a plain value as {plain}")
            });
            return None;
        };
        self.string(member)
    }

    /// Whether the first element of a list is a node of one of `types`.
    fn begins_with_node(&self, list: EntryId, types: &[&str]) -> bool {
        let first = self.document.children(list).next();
        first.and_then(|first| self.document.kind(first)).is_some_and(|kind| types.contains(&kind))
    }

    /// The fields of a node by name, in the order of `known`. Every other but `type` is an offence.
    pub(super) fn fields<const COUNT: usize>(
        &mut self,
        object: EntryId,
        known: [&'static str; COUNT],
    ) -> [Option<EntryId>; COUNT] {
        let mut found = [None; COUNT];
        for member in self.document.children(object) {
            let name = self.document.name(member);
            match known.iter().position(|known| *known == name) {
                Some(place) => found[place] = Some(member),
                None if name == "type" => {}
                None => {
                    self.offend(member, || format!("unknown field; known fields: \"type\", {}", listed(known)));
                }
            }
        }
        found
    }

    /// A field that must be there.
    pub(super) fn required(&mut self, object: EntryId, name: &str, field: Option<EntryId>) -> Option<EntryId> {
        if field.is_none() {
            self.offend(object, || format!("`{name}` is missing"));
        }
        field
    }

    pub(super) fn is_object(&mut self, entry: EntryId) -> bool {
        let is_object = matches!(self.document.content(entry), Content::Object);
        if !is_object {
            self.mistyped(entry, "an object");
        }
        is_object
    }

    /// The elements of a list.
    pub(super) fn list(&mut self, entry: EntryId) -> Option<Vec<EntryId>> {
        if matches!(self.document.content(entry), Content::Array) {
            return Some(self.document.children(entry).collect());
        }
        self.mistyped(entry, "a list");
        None
    }

    pub(super) fn string(&mut self, entry: EntryId) -> Option<&'d str> {
        let document: &'d Document<'d> = self.document;
        if let Content::String(string) = document.content(entry) {
            return Some(string);
        }
        self.mistyped(entry, "a string");
        None
    }

    pub(super) fn is_null(&self, entry: EntryId) -> bool {
        matches!(self.document.content(entry), Content::Null)
    }

    pub(super) fn mistyped(&mut self, entry: EntryId, expected: &str) {
        let found = match self.document.content(entry) {
            Content::Null => "null",
            Content::Bool(_) => "a boolean",
            Content::Number(_) => "a number",
            Content::String(_) => "a string",
            Content::Array => "a list",
            Content::Object => "an object",
        };
        self.offend(entry, || format!("must be {expected}, not {found}"));
    }

    /// A name of version 1: any text but the empty one.
    pub(super) fn name(&mut self, entry: EntryId) -> Option<NameId> {
        let name = self.string(entry)?;
        if name.is_empty() {
            self.offend(entry, || "must not be empty".to_owned());
            return None;
        }
        Some(NameId(self.names.intern(name)))
    }

    /// A name of version 2.
    pub(super) fn identifier(&mut self, entry: EntryId) -> Option<&'d str> {
        let name = self.string(entry)?;
        self.is_identifier(entry, name).then_some(name)
    }

    /// Whether `name`, which stands at `entry`, is a name of version 2.
    pub(super) fn is_identifier(&mut self, entry: EntryId, name: &str) -> bool {
        let is_letter = |letter: u8| letter == b'_' || letter.is_ascii_alphabetic();
        let is_fine = name.bytes().next().is_some_and(is_letter)
            && name.bytes().all(|letter| is_letter(letter) || letter.is_ascii_digit());
        if !is_fine {
            self.offend(entry, || {
                format!("{} is not a name; use letters, digits and _, and begin with no digit", quoted(name))
            });
        }
        is_fine
    }

    pub(super) fn tool(&mut self, name: &str) -> ToolId {
        ToolId(self.tools.intern(name))
    }

    pub(super) fn memo_key(&mut self, key: &str) -> MemoId {
        MemoId(self.memo_keys.intern(key))
    }

    pub(super) fn shown_memo_key(&self, key: MemoId) -> String {
        quoted(self.memo_keys.text(key.0))
    }

    /// Any JSON value.
    pub(super) fn payload(&mut self, entry: EntryId) -> Option<Datum> {
        match payload(self.document, entry) {
            Ok(value) => Datum::new(value).ok(),
            Err(too_deep) => {
                self.offend(too_deep, || format!("nested deeper than the {LEVELS_MAX} levels a value may have"));
                None
            }
        }
    }

    pub(super) fn mode(&mut self, entry: EntryId) -> Option<Mode> {
        let mode = match self.string(entry)? {
            "single" => Mode::Single,
            "parallel" => Mode::Parallel,
            _ => {
                self.offend(entry, || "must be \"single\" or \"parallel\"".to_owned());
                return None;
            }
        };
        Some(mode)
    }

    pub(super) fn title(&mut self, name: Option<EntryId>, description: Option<EntryId>) -> Box<Title> {
        Box::new(Title { name: self.nullable(name), description: self.nullable(description) })
    }

    fn nullable(&mut self, entry: Option<EntryId>) -> Option<Arc<str>> {
        match self.document.content(entry?) {
            Content::Null => None,
            Content::String(string) => Some(string.into()),
            _ => {
                self.mistyped(entry?, "a string or null");
                None
            }
        }
    }
}
