//! What is wrong with a program, all at once.

use std::collections::BTreeMap;
use std::fmt;

use super::document::{Document, EntryId};
use crate::json::{self, ParseError, Path};

/// Offences that are kept; of the rest only the number.
const KEPT_MAX: usize = 100;

/// One thing that is wrong with a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offence {
    /// The place, in the program's JSON.
    pub path: Path,
    /// The place in the text, for a program read from one: the line and the column in characters, each from 1.
    pub position: Option<(usize, usize)>,
    /// What is wrong, and what to do.
    pub problem: String,
}

/// A program was refused (`ast-validation`).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProgramError {
    /// The text is not JSON, or over a bound.
    #[error(transparent)]
    Text(#[from] ParseError),
    /// It is JSON, and not a program: all offences that could be found, at least one.
    #[error("{}", lines(.0))]
    Invalid(Vec<Offence>),
}

impl ProgramError {
    /// What is wrong with the program: nothing to see if the text is not JSON.
    ///
    /// ```
    /// use windtunnel_core::evaluator::Program;
    /// use windtunnel_core::json::Bounds;
    ///
    /// let refusal = Program::parse(r#"{"body": [], "mode": "double"}"#, Bounds::DEFAULT).unwrap_err();
    /// let [offence] = refusal.offences() else { panic!("{refusal}") };
    /// assert_eq!(offence.to_string(), r#"line 1, column 22: $.mode: must be "single" or "parallel""#);
    /// ```
    pub fn offences(&self) -> &[Offence] {
        match self {
            Self::Text(_) => &[],
            Self::Invalid(offences) => offences,
        }
    }
}

impl fmt::Display for Offence {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((line, column)) = self.position {
            write!(formatter, "line {line}, column {column}: ")?;
        }
        write!(formatter, "{}: {}", self.path, self.problem)
    }
}

fn lines(offences: &[Offence]) -> String {
    let lines: Vec<_> = offences.iter().map(Offence::to_string).collect();
    lines.join("\n")
}

/// The offences found so far: the first ones in the order of the document.
#[derive(Default)]
pub(super) struct Offences {
    kept: BTreeMap<(EntryId, usize), String>,
    count: usize,
}

impl Offences {
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Adds one; what is wrong is put in words only if it is kept.
    pub(super) fn add(&mut self, entry: EntryId, problem: impl FnOnce() -> String) {
        let key = (entry, self.count);
        self.count += 1;
        if self.kept.len() == KEPT_MAX {
            if self.kept.last_key_value().is_some_and(|(last, _)| key > *last) {
                return;
            }
            self.kept.pop_last();
        }
        self.kept.insert(key, problem());
    }

    /// The error, if there is an offence.
    pub(super) fn into_error(self, document: &Document<'_>) -> Option<ProgramError> {
        let left_out = self.count - self.kept.len();
        let mut offset_before = 0;
        let mut before = (1, 1);
        let mut offences: Vec<_> = self
            .kept
            .into_iter()
            .map(|((entry, _), problem)| {
                let position = document.text_offset(entry).map(|(text, offset)| {
                    // Counting on from the one before keeps this linear.
                    let (lines, columns) = json::position(&text[offset_before..], offset - offset_before);
                    let column = if lines == 1 { before.1 + columns - 1 } else { columns };
                    before = (before.0 + lines - 1, column);
                    offset_before = offset;
                    before
                });
                Offence { path: document.path(entry), position, problem }
            })
            .collect();
        if left_out > 0 {
            let problem = format!("and {left_out} more offences; repair these first");
            offences.push(Offence { path: Path::root(), position: None, problem });
        }
        (!offences.is_empty()).then_some(ProgramError::Invalid(offences))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Program;
    use super::*;

    #[test]
    fn all_offences_come_at_once_in_the_order_of_the_text() {
        let text = "{\n  \"mode\": \"é\", \"body\": [\n    {\"type\": \"conditional\",\n     \"é\": 1, \"true_branch\": 7}\n  ]}";
        let refusal = Program::parse(text, Program::BOUNDS).unwrap_err();
        assert_eq!(
            refusal.to_string(),
            "line 2, column 11: $.mode: must be \"single\" or \"parallel\"\n\
             line 3, column 5: $.body[0]: `condition` is missing\n\
             line 4, column 11: $.body[0].é: unknown field; known fields: \"type\", \"condition\", \"true_branch\", \
             \"false_branch\"\n\
             line 4, column 29: $.body[0].true_branch: must be a node: write {\"type\": \"value\", \"name\": …, \"value\": …}"
        );
        assert_eq!(refusal.offences()[2].position, Some((4, 11)));
        let value = serde_json::from_str(text).unwrap();
        let refusal = Program::from_value(&value).unwrap_err();
        assert_eq!(refusal.offences().len(), 4);
        assert_eq!(refusal.offences()[0].to_string(), "$.mode: must be \"single\" or \"parallel\"");
    }

    #[test]
    fn a_hundred_offences_are_kept_and_the_rest_counted() {
        let text = |count: usize| format!(r#"{{"mode": "single", "body": [{}1]}}"#, "1, ".repeat(count - 1));
        let kept = Program::parse(&text(100), Program::BOUNDS).unwrap_err();
        assert_eq!(kept.offences().len(), 100);
        let refusal = Program::parse(&text(123), Program::BOUNDS).unwrap_err();
        assert_eq!(refusal.offences().len(), 101);
        assert_eq!(refusal.offences()[..100], *kept.offences());
        assert_eq!(refusal.offences()[100].to_string(), "$: and 23 more offences; repair these first");
    }

    #[test]
    fn long_names_are_shortened() {
        let name = "n".repeat(10_000);
        let text = format!(r#"{{"mode": "single", "body": [], "{name}": {{"{name}": "secret"}}}}"#);
        let refusal = Program::parse(&text, Program::BOUNDS).unwrap_err().to_string();
        assert!(
            refusal.len() < 300 && refusal.contains("n…\"]: unknown field") && !refusal.contains("secret"),
            "{refusal}"
        );
        let text = format!(r#"{{"schema_version": "2.0", "body": [{{"type": "call", "function": "{name}"}}]}}"#);
        assert!(Program::parse(&text, Program::BOUNDS).unwrap_err().to_string().len() < 300);
    }

    #[test]
    fn text_that_is_not_json_is_refused_as_such() {
        for (text, message) in [
            ("", "line 1, column 1: $: Unexpected end of file, a value was expected"),
            (
                "{} 1",
                "line 1, column 4: $: something follows the program: a text holds one (The JSON already contains one \
                 root element)",
            ),
            ("{\"mode\": \"single\", \"mode\": \"single\"}", "line 1, column 20: $.mode: this member is given twice"),
            (
                "{\"body\": [1, 18446744073709551616]}",
                "line 1, column 14: $.body[1]: the number 18446744073709551616 does not fit; write it as a string, or a \
                 large integer as a float such as 1e30",
            ),
            ("{\"body\": [1,,]}", "line 1, column 13: $.body[1]: Unexpected comma, no values to separate"),
            ("[[[]]]", "line 1, column 3: $[0][0]: nested deeper than the 2 levels allowed"),
        ] {
            let refusal = Program::parse(text, json::Bounds { bytes_max: 64, depth_max: 2 }).unwrap_err();
            assert_eq!(refusal.to_string(), message);
            assert!(refusal.offences().is_empty());
        }
        let refusal = Program::parse(&" ".repeat(65), json::Bounds { bytes_max: 64, depth_max: 2 }).unwrap_err();
        assert_eq!(refusal.to_string(), "line 1, column 1: $: 65 bytes are more than the 64 allowed");
    }

    #[test]
    fn text_that_is_no_program_alone_says_what_to_do() {
        let early = "the text ends too early";
        let fence = "the text begins with a code fence: remove it, and the one at the end (Unexpected char: '`')";
        let follows = "something follows the program: a text holds one";
        for (text, message) in [
            ("{", format!("1, column 2: $: {early} (Object keys must be strings)")),
            ("{\"body\"\n", format!("2, column 1: $.body: {early} (Object keys must be strings)")),
            ("{\"body\": ", format!("1, column 10: $.body: {early} (Unexpected end of file, a value was expected)")),
            ("{\"body\": [{\"é", format!("1, column 12: $.body[0]: {early} (Unexpected end of file)")),
            ("{\"mode\": tru", format!("1, column 10: $.mode: {early} (Unexpected end of file)")),
            (
                "[1",
                format!(
                    "1, column 3: $[1]: {early} (Array values must be followed by a comma to add a new value or a \
                     squared bracket to end the array)"
                ),
            ),
            ("```json\n{}\n```", format!("1, column 1: $: {fence}")),
            ("\n ```\n{}\n```", format!("2, column 2: $: {fence}")),
            ("{}\n```\n", format!("2, column 1: $: {follows} (Unexpected char: '`')")),
            ("{}\n{}", format!("2, column 1: $: {follows} (The JSON already contains one root element)")),
            ("{}}", format!("1, column 3: $: {follows} (The JSON already contains one root element)")),
            ("1 \"", format!("1, column 3: $: {follows} (Unexpected end of file)")),
            ("{'mode'}", "1, column 2: $: Unexpected char: '''".to_owned()),
        ] {
            let refusal = Program::parse(text, Program::BOUNDS).unwrap_err();
            assert_eq!(refusal.to_string(), format!("line {message}"));
        }
    }

    #[test]
    fn truncated_and_changed_texts_are_refused_or_read_and_never_panic() {
        let texts = [
            r#"{"mode":"single","name":"é","body":[{"type":"reduce","function":{"params":["a","x"],"body":{"name":"f",
                "params":[{"type":"value","name":"a","value":null},{"type":"value","name":"x","value":[1,{"é":2.5}]}]}},
                "iterable":{"type":"conditional","condition":{"type":"value","name":"v","value":true},
                "true_branch":{"type":"program","mode":"parallel","body":[]},"false_branch":null}}]}"#,
            r#"{"schema_version":"2.0","definitions":[{"name":"f","params":["n"],"body":{"type":"variable","name":"n"}}],
                "body":[{"type":"call","function":"f","arguments":[{"type":"memo","key":"k","expression":
                {"type":"tool_call","tool":"t","arguments":{"a":{"type":"literal","value":{"x":[null,-0.0]}}}}}]}]}"#,
        ];
        for text in texts {
            assert!(Program::parse(text, Program::BOUNDS).is_ok());
            for (at, letter) in text.char_indices() {
                let (before, after) = (&text[..at], &text[at + letter.len_utf8()..]);
                assert!(Program::parse(before, Program::BOUNDS).is_err());
                for changed in ["", "\"", "{", "}", "]", "1", "null", ",", "é", "\\ud800", "\n"] {
                    let read = Program::parse(&[before, changed, after].concat(), Program::BOUNDS);
                    let shown =
                        read.map_or_else(|refusal| refusal.to_string(), |program| program.outline().to_string());
                    assert!(!shown.is_empty());
                }
            }
        }
    }
}
