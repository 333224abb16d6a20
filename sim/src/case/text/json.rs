//! JSON: parsing it strictly, and finding a path's place in its text.

use json_event_parser::{JsonEvent, LowLevelJsonParser};
use serde_json::Value;
use windtunnel_core::json::{self, Bounds, BoundsError, ParseErrorKind, Path};

use super::Pointing;
use crate::case::error::{LoadError, Place};

/// Parses one value that begins on line `first_line` of the file.
pub(super) fn parse(file: &str, text: &str, first_line: usize, bounds: Bounds) -> Result<Value, LoadError> {
    json::parse(text, bounds).map_err(|error| {
        let place = Place { file: file.to_owned(), line: error.line + first_line - 1, column: error.column };
        let (path, problem) = split(error.kind);
        LoadError::invalid(place, Some(path), problem)
    })
}

/// The path of a parse error and its problem without the path.
fn split(kind: ParseErrorKind) -> (Path, String) {
    let text = kind.to_string();
    let path = match kind {
        ParseErrorKind::Syntax { path, .. }
        | ParseErrorKind::Number { path, .. }
        | ParseErrorKind::DuplicateMember { path }
        | ParseErrorKind::Bounds(BoundsError::TooLarge { path, .. } | BoundsError::TooDeep { path, .. }) => path,
    };
    let problem = text.strip_prefix(&format!("{path}: ")).unwrap_or(&text).to_owned();
    (path, problem)
}

/// The byte offset of what `path` names in a text that has been parsed before.
pub(super) fn locate(text: &str, path: &Path, pointing: Pointing) -> Option<usize> {
    let mut parser = LowLevelJsonParser::new();
    let mut here = Here::default();
    let mut offset = 0;
    loop {
        let step = parser.parse_next(&text.as_bytes()[offset..], true);
        let start = token_start(text, offset);
        offset += step.consumed_bytes;
        match step.event? {
            Ok(JsonEvent::Eof) | Err(_) => return None,
            Ok(event) => {
                if here.take(&event, path, pointing) {
                    return Some(start);
                }
            }
        }
    }
}

/// Where a scan has come to: the path of the next value.
#[derive(Default)]
struct Here {
    path: Path,
    /// For each open container, how many elements an array has had; `None` for an object.
    open: Vec<Option<usize>>,
}

impl Here {
    /// Takes one token, and says whether it is the one that is looked for.
    fn take(&mut self, event: &JsonEvent<'_>, wanted: &Path, pointing: Pointing) -> bool {
        if let JsonEvent::ObjectKey(name) = event {
            self.path.pop();
            self.path.push_member(&**name);
            return pointing == Pointing::AtName && self.path == *wanted;
        }
        let is_end = matches!(event, JsonEvent::EndArray | JsonEvent::EndObject);
        // A path that ends in an index has no name to point at.
        let is_named = self.open.last().is_some_and(Option::is_none);
        if !is_end && self.path == *wanted && (pointing == Pointing::AtValue || !is_named) {
            return true;
        }
        match event {
            JsonEvent::StartArray => {
                self.open.push(Some(0));
                self.path.push_element(0);
            }
            JsonEvent::StartObject => {
                self.open.push(None);
                self.path.push_member("");
            }
            JsonEvent::EndArray | JsonEvent::EndObject => {
                self.open.pop();
                self.path.pop();
                self.next();
            }
            _ => self.next(),
        }
        false
    }

    fn next(&mut self) {
        if let Some(Some(elements)) = self.open.last_mut() {
            *elements += 1;
            self.path.pop();
            self.path.push_element(*elements);
        }
    }
}

/// The byte offsets of the elements of an array that has been parsed before.
pub(super) fn element_offsets(text: &str) -> Vec<usize> {
    let mut parser = LowLevelJsonParser::new();
    let (mut offsets, mut offset, mut depth) = (Vec::new(), 0, 0_usize);
    loop {
        let step = parser.parse_next(&text.as_bytes()[offset..], true);
        let start = token_start(text, offset);
        offset += step.consumed_bytes;
        let Some(Ok(event)) = step.event else { return offsets };
        let is_end = matches!(event, JsonEvent::EndArray | JsonEvent::EndObject);
        if depth == 1 && !is_end {
            offsets.push(start);
        }
        match event {
            JsonEvent::Eof => return offsets,
            JsonEvent::StartArray | JsonEvent::StartObject => depth += 1,
            JsonEvent::EndArray | JsonEvent::EndObject => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
}

/// Where the token begins that a parser standing at `offset` reads next.
pub(super) fn token_start(text: &str, offset: usize) -> usize {
    let skipped = |letter: char| letter.is_ascii_whitespace() || letter == ',' || letter == ':';
    text[offset..].find(|letter| !skipped(letter)).map_or(text.len(), |found| offset + found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: Path, pointing: Pointing, rest: &str) {
        let text = "{\"a\": [1, {\"b\": [], \"c\": {\"d\": null}}],\n \"é\": 2, \"f\": [[], 3]}";
        let offset = locate(text, &path, pointing).unwrap();
        assert!(text[offset..].starts_with(rest), "{path} is at {:?}", &text[offset..]);
    }

    #[test]
    fn each_element_is_found() {
        let text = " [{\"a\": [1, {}]}, [2] ,\n3, \"[\"]";
        let elements: Vec<_> = element_offsets(text).into_iter().map(|offset| &text[offset..offset + 2]).collect();
        assert_eq!(elements, ["{\"", "[2", "3,", "\"["]);
        assert!(element_offsets("[]").is_empty());
    }

    #[test]
    fn each_path_is_found() {
        let root = Path::root;
        check(root(), Pointing::AtValue, "{\"a\"");
        check(root().member("a").element(0), Pointing::AtValue, "1");
        check(root().member("a").element(1).member("b"), Pointing::AtName, "\"b\"");
        check(root().member("a").element(1).member("c").member("d"), Pointing::AtValue, "null");
        check(root().member("é"), Pointing::AtValue, "2");
        check(root().member("f").element(1), Pointing::AtName, "3");
    }
}
