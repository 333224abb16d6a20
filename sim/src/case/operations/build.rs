//! From typed fields to a case of operations, refusing what no run could make sense of.

use std::sync::Arc;

use serde_json::Value;
use windtunnel_core::durable::{Acknowledgment, Journal, Record};
use windtunnel_core::json::Path;

use super::definition::{CaseStep, OperationsCase, VARIABLES};
use super::expectation::Expectation;
use super::repeat::expand;
use super::wire::{WireAcknowledgment, WireCase, WireExpect, WireResult, WireStep};
use crate::case::LoadError;
use crate::case::build::{Built, Refusal, assertions};
use crate::case::text::Document;
use crate::case::trouble::trouble;
use crate::case::typed::typed_value;

/// Builds a case.
pub(in crate::case) fn build(document: &Document<'_>) -> Result<Built, LoadError> {
    let expanded = expand(&document.value, &document.root).map_err(|refusal| refusal.in_document(document))?;
    let wire = typed_value(&expanded, document)?;
    build_typed(wire, &document.root).map_err(|refusal| refusal.in_document(document))
}

fn build_typed(wire: WireCase, root: &Path) -> Result<Built, Refusal> {
    let at = |name: &str| root.clone().member(name);
    let trouble = trouble(wire.faults, wire.random_faults, wire.heal_after_s, root)?;
    if let Some(expect) = &wire.expect {
        check_expect(expect, wire.steps.len(), &at("expect").member("results"))?;
    }
    let journal = records(&wire.journal, &at("journal"))?;
    let kind = OperationsCase {
        journal,
        steps: steps(wire.steps, &at("steps"))?.into(),
        acknowledgments: wire.acks.into_iter().map(acknowledgment).collect(),
        expectation: wire.expect.map(Expectation::from),
    };
    Ok(Built {
        id: wire.id,
        seed: wire.seed,
        trouble,
        assertions: assertions(wire.always, &VARIABLES, &at("always"))?,
        kind: Box::new(kind),
    })
}

fn check_expect(expect: &WireExpect, steps: usize, path: &Path) -> Result<(), Refusal> {
    let Some(results) = &expect.results else { return Ok(()) };
    if results.len() != steps {
        let count = results.len();
        let problem = format!("{count} results for {steps} steps; give one for each step, {{}} for one of no interest");
        return Err(Refusal::new(path.clone(), problem));
    }
    let contradicts = |result: &WireResult| result.ok.is_some() && result.error.is_some();
    match results.iter().position(contradicts) {
        None => Ok(()),
        Some(index) => {
            let path = path.clone().element(index).member("error");
            Err(Refusal::new(path, "an operation comes to a value or to an error; remove ok or error"))
        }
    }
}

pub(in crate::case) fn records(wire: &[Value], path: &Path) -> Result<Vec<Arc<Record>>, Refusal> {
    let mut journal = Journal::new();
    for (index, wire) in wire.iter().enumerate() {
        let path = path.clone().element(index);
        let record =
            Record::from_json(wire).map_err(|error| Refusal::new(path.clone().append(&error.path), error.problem))?;
        journal.push(Arc::new(record)).map_err(|error| Refusal::new(path, error.to_string()))?;
    }
    Ok(journal.records().to_vec())
}

fn steps(wire: Vec<WireStep>, path: &Path) -> Result<Vec<CaseStep>, Refusal> {
    let step = |(index, step): (usize, WireStep)| {
        let WireStep { key, kind, callable, version, arguments, returns, raises } = step;
        if returns.is_some() && raises.is_some() {
            let path = path.clone().element(index).member("raises");
            return Err(Refusal::new(path, "a callable returns or raises; remove one of the two"));
        }
        let answer = raises.map_or(Ok(returns.unwrap_or_default()), Err);
        Ok(CaseStep { key, kind, callable, version, arguments, answer })
    };
    wire.into_iter().enumerate().map(step).collect()
}

pub(in crate::case) fn acknowledgment(wire: WireAcknowledgment) -> Acknowledgment {
    match wire {
        WireAcknowledgment::Ok => Acknowledgment::Ok,
        WireAcknowledgment::Lost => Acknowledgment::Lost,
        WireAcknowledgment::Rejected => Acknowledgment::Rejected,
    }
}

#[cfg(test)]
mod tests {
    use crate::case::{Case, Format};

    const STEP: &str = r#""key": "k", "kind": "tool", "callable": "c", "version": "1", "arguments": {}"#;

    #[track_caller]
    fn check_refused(text: &str, message: &str) {
        assert_eq!(Case::parse("f", Format::Json, text).unwrap_err().to_string(), message);
    }

    #[test]
    fn a_case_with_steps_needs_no_kind() {
        for more in ["", r#", "kind": "operations""#] {
            let cases = Case::parse("f", Format::Json, &format!("{{\"steps\": [{{{STEP}}}]{more}}}")).unwrap();
            assert!(cases[0].judge(&cases[0].run(0)).passed() && !cases[0].draws());
        }
        check_refused(
            r#"{"kind": "calls", "steps": []}"#,
            "f:1:19: $.steps: unknown field \"steps\"; known: id, kind, tools, backoff, rng, seed, run_limits, \
             approval_port, approvals, calls, batch, faults, random_faults, heal_after_s, replay, expect, always",
        );
    }

    #[test]
    fn a_slip_is_refused_with_its_place() {
        check_refused(
            &format!("{{\"steps\": [\n{{{STEP}, \"return\": 1}}]}}"),
            "f:2:80: $.steps[0].return: unknown field \"return\"; did you mean \"returns\"? known: key, kind, callable, \
             version, arguments, returns, raises",
        );
        check_refused(
            &format!("{{\"steps\": [\n{{{STEP}, \"returns\": 1, \"raises\": \"x\"}}]}}"),
            "f:2:104: $.steps[0].raises: a callable returns or raises; remove one of the two",
        );
        check_refused(
            r#"{"steps": [], "acks": ["los"]}"#,
            "f:1:24: $.acks[0]: unknown value \"los\"; did you mean \"lost\"? known: ok, lost, rejected",
        );
        check_refused(
            r#"{"steps": [], "expect": {"results": [{}]}}"#,
            "f:1:37: $.expect.results: 1 results for 0 steps; give one for each step, {} for one of no interest",
        );
        check_refused(
            &format!(
                "{{\"steps\": [{{{STEP}}}],\n\"expect\": {{\"results\": [{{\"ok\": 1, \"error\": \"call-failed\"}}]}}}}"
            ),
            "f:2:43: $.expect.results[0].error: an operation comes to a value or to an error; remove ok or error",
        );
        check_refused(
            r#"{"steps": [{"$repeat": ["x"]}]}"#,
            "f:1:24: $.steps[0].$repeat: a repeated text is written {\"$repeat\": [text, count]}, and nothing beside",
        );
    }

    #[test]
    fn a_journal_that_none_could_be_is_refused_with_its_place() {
        let record = |kind: &str| {
            format!(
                r#"{{"callable": "tool:c", "input": {{"v": 1, "kind": "{kind}", "version": "1", "arguments": {{}}}}, "key": "k", "output": 1}}"#
            )
        };
        check_refused(
            &format!("{{\"steps\": [], \"journal\": [\n{}]}}", record("agent")),
            "f:2:50: $.journal[0].input.kind: a kind is model or tool",
        );
        check_refused(
            &format!("{{\"steps\": [], \"journal\": [{},\n{}]}}", record("tool"), record("tool")),
            "f:2:1: $.journal[1]: the journal holds two records with the key \"k\"; it was changed outside this library",
        );
    }
}
