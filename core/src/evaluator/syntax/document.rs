//! A JSON document in an arena, so that no depth can overflow a stack (V9).

use std::borrow::Cow;
use std::collections::BTreeSet;

use json_event_parser::JsonEvent;
use serde_json::{Number, Value};

use super::wording;
use crate::json::{self, Bounds, Build, ParseError, ParseErrorKind, Path};

/// From so many members on, an object's names are kept in a set to find one that is given twice.
const FEW: u32 = 16;

/// A value's place in the arena. They are numbered as they stand in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct EntryId(u32);

/// What a value is.
pub(super) enum Content<'a> {
    Null,
    Bool(bool),
    Number(&'a Number),
    String(&'a str),
    Array,
    Object,
}

/// A JSON document.
pub(super) struct Document<'a> {
    text: Option<&'a str>,
    entries: Vec<Entry>,
    strings: Vec<Cow<'a, str>>,
    numbers: Vec<Number>,
}

struct Entry {
    parent: u32,
    /// The entry after the last descendant.
    end: u32,
    offset: u32,
    /// An element's index, or the place of a member's name in `strings`.
    key: u32,
    token: Token,
}

/// What a value is, with the place of what it holds.
#[derive(Clone, Copy, PartialEq)]
enum Token {
    Null,
    Bool(bool),
    Number(u32),
    String(u32),
    Array,
    Object,
}

impl<'a> Document<'a> {
    /// Reads a text, with the refusals of [`json::parse`].
    pub(super) fn parse(text: &'a str, bounds: Bounds) -> Result<Self, ParseError> {
        // Offsets have 32 bits.
        let bytes_max = bounds.bytes_max.min(u32::MAX as usize);
        let mut builder = Builder::new(Some(text));
        if let Err(error) = json::build(text, Bounds { bytes_max, ..bounds }, &mut builder) {
            return Err(builder.advised(text, error));
        }
        if builder.document.entries.is_empty() {
            let kind = ParseErrorKind::Syntax { path: Path::root(), message: "there is no value".to_owned() };
            return Err(json::at(text, text.len(), kind));
        }
        Ok(builder.document)
    }

    /// Reads a value, unless it holds more values than can be counted in 32 bits.
    pub(super) fn from_value(value: &'a Value) -> Option<Self> {
        let mut builder = Builder::new(None);
        let mut open = Vec::new();
        builder.begin(value, &mut open);
        while let Some(pending) = open.last_mut() {
            let next = match pending {
                Pending::Elements(elements) => elements.next(),
                Pending::Members(members) => members.next().map(|(name, member)| {
                    builder.name = Some(Cow::Borrowed(name));
                    member
                }),
            };
            if let Some(value) = next {
                builder.begin(value, &mut open);
            } else {
                builder.close();
                open.pop();
            }
            if builder.document.entries.len() > (u32::MAX / 2) as usize {
                return None;
            }
        }
        Some(builder.document)
    }

    pub(super) const ROOT: EntryId = EntryId(0);

    pub(super) fn content(&self, entry: EntryId) -> Content<'_> {
        match self.entry(entry).token {
            Token::Null => Content::Null,
            Token::Bool(truth) => Content::Bool(truth),
            Token::Number(place) => Content::Number(&self.numbers[place as usize]),
            Token::String(place) => Content::String(&self.strings[place as usize]),
            Token::Array => Content::Array,
            Token::Object => Content::Object,
        }
    }

    /// The elements or members, in order.
    pub(super) fn children(&self, entry: EntryId) -> impl Iterator<Item = EntryId> {
        let end = self.entry(entry).end;
        let first = Some(EntryId(entry.0 + 1)).filter(|child| child.0 < end);
        std::iter::successors(first, move |child| Some(EntryId(self.entry(*child).end)).filter(|next| next.0 < end))
    }

    /// The value itself and all its descendants, in the order of the text.
    pub(super) fn subtree(&self, entry: EntryId) -> impl Iterator<Item = EntryId> {
        (entry.0..self.entry(entry).end).map(EntryId)
    }

    /// The entry after the last descendant of `entry`.
    pub(super) fn end(&self, entry: EntryId) -> EntryId {
        EntryId(self.entry(entry).end)
    }

    /// The name of a member.
    pub(super) fn name(&self, member: EntryId) -> &str {
        self.strings.get(self.entry(member).key as usize).map_or("", |name| name)
    }

    /// The member called `name`.
    pub(super) fn member(&self, object: EntryId, name: &str) -> Option<EntryId> {
        self.children(object).find(|member| self.name(*member) == name)
    }

    /// What a node says that its type is.
    pub(super) fn kind(&self, entry: EntryId) -> Option<&str> {
        if !matches!(self.content(entry), Content::Object) {
            return None;
        }
        match self.content(self.member(entry, "type")?) {
            Content::String(kind) => Some(kind),
            _ => None,
        }
    }

    /// The offset in the text, for a document that was read from one.
    pub(super) fn text_offset(&self, entry: EntryId) -> Option<(&'a str, usize)> {
        self.text.map(|text| (text, self.entry(entry).offset as usize))
    }

    /// The place of a value, with what is too long for people left out.
    pub(super) fn path(&self, entry: EntryId) -> Path {
        let mut ancestors = Vec::new();
        let mut below = entry;
        while below != Self::ROOT {
            ancestors.push(below);
            below = EntryId(self.entry(below).parent);
        }
        let mut path = Path::root();
        path.push_bounded(ancestors.len(), |path, number| {
            let entry = self.entry(ancestors[ancestors.len() - 1 - number]);
            if self.entry(EntryId(entry.parent)).token == Token::Array {
                path.push_element(entry.key as usize);
            } else {
                path.push_member(wording::shortened(&self.strings[entry.key as usize]));
            }
        });
        path
    }

    fn entry(&self, entry: EntryId) -> &Entry {
        &self.entries[entry.0 as usize]
    }
}

/// What is left of a value in memory.
enum Pending<'a> {
    Elements(std::slice::Iter<'a, Value>),
    Members(serde_json::map::Iter<'a>),
}

struct Builder<'a> {
    document: Document<'a>,
    open: Vec<Open<'a>>,
    /// The name of the member whose value comes next.
    name: Option<Cow<'a, str>>,
}

/// An array or object that is not closed yet.
struct Open<'a> {
    entry: EntryId,
    count: u32,
    last: EntryId,
    /// The names of its members, from [`FEW`] on.
    names: BTreeSet<Cow<'a, str>>,
}

impl<'a> Build<'a> for Builder<'a> {
    fn take(&mut self, event: JsonEvent<'a>, offset: usize) -> Result<(), ParseErrorKind> {
        match event {
            JsonEvent::Null => self.put(Token::Null, offset),
            JsonEvent::Boolean(truth) => self.put(Token::Bool(truth), offset),
            JsonEvent::String(string) => self.put_string(string, offset),
            JsonEvent::Number(text) => {
                let Some(number) = json::number(&text) else {
                    let path = self.next_place();
                    return Err(ParseErrorKind::Number { path, number: wording::shortened(&text) });
                };
                self.put_number(number, offset);
            }
            JsonEvent::StartArray => self.open(Token::Array, offset),
            JsonEvent::StartObject => self.open(Token::Object, offset),
            JsonEvent::ObjectKey(name) => {
                let is_duplicate = self.is_duplicate(name.clone());
                self.name = Some(name);
                if is_duplicate {
                    return Err(ParseErrorKind::DuplicateMember { path: self.next_place() });
                }
            }
            JsonEvent::EndArray | JsonEvent::EndObject => self.close(),
            JsonEvent::Eof => {}
        }
        Ok(())
    }

    fn place(&self) -> Path {
        self.next_place()
    }
}

impl<'a> Builder<'a> {
    fn new(text: Option<&'a str>) -> Self {
        let document = Document { text, entries: Vec::new(), strings: Vec::new(), numbers: Vec::new() };
        Self { document, open: Vec::new(), name: None }
    }

    /// The error, beginning with what to do where that is known: the parser's words say what it expected.
    fn advised(&self, text: &str, mut error: ParseError) -> ParseError {
        let (line, column) = json::position(text, text.len());
        let is_at_end = (error.line, error.column) == (line, column);
        let ParseErrorKind::Syntax { message, .. } = &mut error.kind else { return error };
        let begin = text.trim_start_matches(|letter: char| letter.is_whitespace() || letter == '\u{feff}');
        let has_begun = !self.document.entries.is_empty();
        let advice = if !has_begun && begin.starts_with("```") {
            "the text begins with a code fence: remove it, and the one at the end"
        } else if has_begun && self.open.is_empty() {
            "something follows the program: a text holds one"
        } else if !begin.is_empty() && (is_at_end || message == "Unexpected end of file") {
            "the text ends too early"
        } else {
            return error;
        };
        *message = format!("{advice} ({message})");
        error
    }

    fn begin(&mut self, value: &'a Value, open: &mut Vec<Pending<'a>>) {
        match value {
            Value::Null => self.put(Token::Null, 0),
            Value::Bool(truth) => self.put(Token::Bool(*truth), 0),
            Value::Number(number) => self.put_number(number.clone(), 0),
            Value::String(string) => self.put_string(Cow::Borrowed(string), 0),
            Value::Array(elements) => {
                self.open(Token::Array, 0);
                open.push(Pending::Elements(elements.iter()));
            }
            Value::Object(members) => {
                self.open(Token::Object, 0);
                open.push(Pending::Members(members.iter()));
            }
        }
    }

    fn put_number(&mut self, number: Number, offset: usize) {
        let place = index(self.document.numbers.len());
        self.document.numbers.push(number);
        self.put(Token::Number(place), offset);
    }

    fn put_string(&mut self, string: Cow<'a, str>, offset: usize) {
        let place = self.keep(string);
        self.put(Token::String(place), offset);
    }

    fn keep(&mut self, string: Cow<'a, str>) -> u32 {
        let place = index(self.document.strings.len());
        self.document.strings.push(string);
        place
    }

    fn put(&mut self, token: Token, offset: usize) {
        let entry = EntryId(index(self.document.entries.len()));
        let name = self.name.take().map(|name| self.keep(name));
        let (parent, key) = self.open.last_mut().map_or((0, 0), |open| {
            let key = name.unwrap_or(open.count);
            open.count += 1;
            open.last = entry;
            (open.entry.0, key)
        });
        self.document.entries.push(Entry { parent, end: entry.0 + 1, offset: index(offset), key, token });
    }

    fn open(&mut self, token: Token, offset: usize) {
        let entry = EntryId(index(self.document.entries.len()));
        self.put(token, offset);
        self.open.push(Open { entry, count: 0, last: entry, names: BTreeSet::new() });
    }

    fn close(&mut self) {
        let end = index(self.document.entries.len());
        if let Some(open) = self.open.pop() {
            self.document.entries[open.entry.0 as usize].end = end;
        }
    }

    fn is_duplicate(&mut self, name: Cow<'a, str>) -> bool {
        let Some(open) = self.open.last_mut() else { return false };
        let first = EntryId(open.entry.0 + 1);
        let document = &self.document;
        let next = |member: &EntryId| (*member != open.last).then(|| document.end(*member));
        let mut members = std::iter::successors((open.count > 0).then_some(first), next);
        if open.count < FEW {
            return members.any(|member| document.name(member) == name);
        }
        if open.names.is_empty() {
            open.names = members.map(|member| document.strings[document.entry(member).key as usize].clone()).collect();
        }
        !open.names.insert(name)
    }

    /// The place of the value that comes next; in an object between two members, of the one before.
    fn next_place(&self) -> Path {
        let Some(open) = self.open.last() else { return Path::root() };
        match &self.name {
            Some(name) => self.document.path(open.entry).member(wording::shortened(name)),
            None if self.document.entry(open.entry).token == Token::Array => {
                self.document.path(open.entry).element(open.count as usize)
            }
            None => self.document.path(open.last),
        }
    }
}

/// No text is longer than 32 bits can count, and no value in memory holds more than half as many.
fn index(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_given_twice_is_found_among_few_and_among_many() {
        for count in [1, 15, 16, 17, 40] {
            let members: Vec<_> = (0..count).map(|index| format!("\"m{index}\":{{\"m0\":[]}}")).collect();
            let text = |last: &str| format!("{{{},{last}}}", members.join(","));
            assert!(Document::parse(&text("\"m\":1"), Bounds::DEFAULT).is_ok());
            for twice in [0, count - 1] {
                // An escape does not hide it.
                let text = text(&format!("\"\\u006d{twice}\":1"));
                let refusal = Document::parse(&text, Bounds::DEFAULT);
                let expected = ParseErrorKind::DuplicateMember { path: Path::root().member(format!("m{twice}")) };
                assert_eq!(refusal.err().map(|refusal| refusal.kind), Some(expected));
            }
        }
    }
}
