//! Why a case's program was refused, at its places in the case file.

use std::fmt;

use serde_json::{Value, json};
use windtunnel_core::evaluator::ProgramError;
use windtunnel_core::json::Path;

use crate::case::Place;
use crate::case::text::{Document, Pointing};

/// How many offences are kept. Each is looked up in the text.
const OFFENCES_MAX: usize = 10;

/// One thing that is wrong with a case's program. It prints as `file:line:column: path: problem`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramOffence {
    /// Where it is in the file.
    pub place: Place,
    /// Where it is in the file's value, as a path is printed.
    pub path: String,
    /// What is wrong, and what to do.
    pub problem: String,
}

impl ProgramOffence {
    /// The first offences of the program of this case.
    pub(super) fn all(document: &Document<'_>, error: &ProgramError) -> Vec<Self> {
        let root = document.root.clone().member("program");
        let at = |path: Path, problem: String| Self {
            place: document.place_of(&path, Pointing::AtValue),
            path: path.to_string(),
            problem,
        };
        match error.offences() {
            [] => vec![at(root, error.to_string())],
            offences => offences
                .iter()
                .take(OFFENCES_MAX)
                .map(|offence| at(root.clone().append(&offence.path), offence.problem.clone()))
                .collect(),
        }
    }

    /// The offence as JSON.
    pub fn to_json(&self) -> Value {
        let Self { place, path, problem } = self;
        json!({
            "file": place.file, "line": place.line, "column": place.column, "path": path, "problem": problem,
        })
    }
}

impl fmt::Display for ProgramOffence {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}: {}", self.place, self.path, self.problem)
    }
}

#[cfg(test)]
mod tests {
    use crate::case::{Case, CaseOutcome, Format, ProgramOutcome};

    #[track_caller]
    fn check(format: Format, text: &str, failures: &[&str]) {
        let case = Case::parse("f", format, text).unwrap().pop().unwrap();
        let run = case.run(0);
        assert!(matches!(run.outcome, CaseOutcome::Program(ProgramOutcome::Refused(_))));
        assert_eq!(case.judge(&run).failures(), failures);
    }

    #[test]
    fn each_offence_of_a_program_is_shown_at_its_place_in_the_file() {
        check(
            Format::Json,
            "[{\"id\": \"a\", \"calls\": [], \"tools\": []},\n {\"tools\": [], \"program\": {\"schema_version\": \"2.0\", \
             \"body\": [\n  {\"type\": \"variable\", \"name\": \"x\"},\n  {\"type\": \"loop\"}]}}]",
            &[
                "the program was refused: f:3:32: $[1].program.body[0].name: no variable \"x\" is in scope; in scope here: \
                 none",
                "the program was refused: f:4:12: $[1].program.body[1].type: \"loop\" cannot stand here; known types: \
                 \"literal\", \"variable\", \"call\", \"tool_call\", \"conditional\", \"memo\"",
            ],
        );
        check(
            Format::Toml,
            "[[case]]\ntools = []\n[case.program]\nschema_version = \"2.0\"\n[[case.program.body]]\ntype = \"variable\"\n\
             name = \"x\"\n",
            &[
                "the program was refused: f:7:8: $.case[0].program.body[0].name: no variable \"x\" is in scope; in scope \
               here: none",
            ],
        );
    }

    #[test]
    fn a_program_that_is_refused_fails_a_case_that_says_nothing() {
        check(
            Format::Json,
            r#"{"tools": [], "program": 7}"#,
            &["the program was refused: f:1:26: $.program: must be an object, not a number"],
        );
    }

    #[test]
    fn a_program_that_is_refused_as_expected_passes() {
        check(
            Format::Json,
            r#"{"tools": [], "program": 7, "expect": {"rejected": true},
            "always": [{"that": "result.status == 'refused' && consumption.nodes == 0 && branches == []"}]}"#,
            &[],
        );
    }

    #[test]
    fn only_the_first_offences_are_looked_up() {
        let body = vec![r#"{"type": "loop"}"#; 200].join(",");
        let text = format!(r#"{{"tools": [], "program": {{"schema_version": "2.0", "body": [{body}]}}}}"#);
        let case = Case::parse("f", Format::Json, &text).unwrap().pop().unwrap();
        assert_eq!(case.judge(&case.run(0)).refused.len(), super::OFFENCES_MAX);
    }
}
