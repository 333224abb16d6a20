//! What one evaluation came to, for people and as JSON.

use std::io::{self, Write};
use std::time::Duration;

use serde_json::{Value, json};
use windtunnel_core::evaluator::{Answer, BranchOutcome, Consumption, ErrorKind, Evaluation, EvaluationError};
use windtunnel_sim::WorldError;

use super::arguments::{BYTES_DEFAULT, LimitOptions, NODES_DEFAULT, TOOL_CALLS_DEFAULT};
use crate::branches;
use crate::printable;
use crate::style::Style;

/// Levels of lists and objects that a value is printed with. Printing and dropping one recurses, and few programs read a
/// deeper one.
const DEPTH_MAX: usize = 1000;

/// What one evaluation came to.
pub(super) struct Outcome {
    ending: Ending,
    /// How long it took in the world.
    elapsed: Duration,
}

enum Ending {
    Evaluated(Evaluation),
    /// To a value that is too deep to print.
    TooDeep(Consumption),
    /// To no end.
    Unfinished(WorldError),
}

impl Outcome {
    pub(super) fn new(evaluation: Result<Evaluation, WorldError>, elapsed: Duration) -> Self {
        let ending = match evaluation {
            Ok(Evaluation { result: Ok(answer), consumption }) if is_too_deep(&answer) => {
                // The process ends soon, and dropping it would overflow the stack.
                std::mem::forget(answer);
                Ending::TooDeep(consumption)
            }
            Ok(evaluation) => Ending::Evaluated(evaluation),
            Err(error) => Ending::Unfinished(error),
        };
        Self { ending, elapsed }
    }

    fn result(&self) -> Option<&Result<Answer, EvaluationError>> {
        match &self.ending {
            Ending::Evaluated(evaluation) => Some(&evaluation.result),
            Ending::TooDeep(_) | Ending::Unfinished(_) => None,
        }
    }

    fn consumption(&self) -> Option<&Consumption> {
        match &self.ending {
            Ending::Evaluated(Evaluation { consumption, .. }) | Ending::TooDeep(consumption) => Some(consumption),
            Ending::Unfinished(_) => None,
        }
    }

    /// Why there is no result.
    fn problem(&self) -> Option<String> {
        match &self.ending {
            Ending::Evaluated(_) => None,
            Ending::TooDeep(_) => {
                Some(format!("the program came to a value nested deeper than {DEPTH_MAX} levels, which is not printed"))
            }
            Ending::Unfinished(error) => Some(format!("the program came to no end: {error}")),
        }
    }

    /// Whether it came to a value, and so did each of its branches.
    pub(super) fn passed(&self) -> bool {
        match self.result() {
            Some(Ok(Answer::Value(_))) => true,
            Some(Ok(Answer::Branches(branches))) => {
                branches.iter().all(|branch| matches!(branch, BranchOutcome::Success(_)))
            }
            Some(Err(_)) | None => false,
        }
    }

    /// Whether a tool, or a branch's tool, was not found.
    pub(super) fn misses_a_tool(&self) -> bool {
        match self.result() {
            Some(Ok(Answer::Branches(branches))) => branches
                .iter()
                .any(|branch| matches!(branch, BranchOutcome::Failure { kind: ErrorKind::ToolNotFound, .. })),
            Some(Ok(Answer::Value(_))) | None => false,
            Some(Err(error)) => error.kind() == Some(ErrorKind::ToolNotFound),
        }
    }

    /// Whether a tool hangs, and nothing ends the wait.
    pub(super) fn is_stuck(&self) -> bool {
        matches!(self.ending, Ending::Unfinished(WorldError::Stuck { .. } | WorldError::TimeLimit { .. }))
    }

    pub(super) fn write(&self, limits: &LimitOptions, style: Style, out: &mut impl Write) -> io::Result<()> {
        if let Some(result) = self.result() {
            write_result(result, style, out)?;
        }
        if let Some(problem) = self.problem() {
            writeln!(out, "{} {}", style.bad("FAILED"), printable::lines(&problem))?;
        }
        if let Some(consumption) = self.consumption() {
            writeln!(out, "used: {}", consumption)?;
            self.write_elapsed(out)?;
            return write_defaults(consumption, limits, style, out);
        }
        self.write_elapsed(out)
    }

    fn write_elapsed(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "{}.{:09} s of virtual time", self.elapsed.as_secs(), self.elapsed.subsec_nanos())
    }

    /// One object, with every member whatever came of it.
    pub(super) fn to_json(&self, file: &str, seed: u64) -> Value {
        let (value, branches) = match self.result() {
            Some(Ok(Answer::Value(value))) => (Some(value), None),
            Some(Ok(Answer::Branches(branches))) => (None, Some(branches)),
            Some(Err(_)) | None => (None, None),
        };
        let error = match self.result() {
            Some(Ok(_)) => Value::Null,
            Some(Err(error)) => error_to_json(error),
            None => json!({"kind": null, "message": self.problem(), "resource": null, "limit": null}),
        };
        json!({
            "type": "summary",
            "file": file,
            "seed": seed,
            "status": self.status(),
            "passed": self.passed(),
            "value": value,
            "branches": branches.map(|branches| branches.iter().map(BranchOutcome::to_json).collect::<Vec<_>>()),
            "error": error,
            "consumption": self.consumption().map(Consumption::to_json),
            "elapsed_ms": self.elapsed.as_nanos() as f64 / 1e6,
        })
    }

    fn status(&self) -> &'static str {
        match &self.ending {
            Ending::Evaluated(Evaluation { result: Ok(_), .. }) => "ok",
            Ending::Evaluated(Evaluation { result: Err(EvaluationError::Interrupted(_)), .. }) => "interrupted",
            Ending::Evaluated(_) | Ending::TooDeep(_) => "error",
            Ending::Unfinished(_) => "unfinished",
        }
    }
}

fn is_too_deep(answer: &Answer) -> bool {
    let values: Vec<&Value> = match answer {
        Answer::Value(value) => vec![value],
        Answer::Branches(branches) => branches.iter().filter_map(value_of).collect(),
    };
    let mut pending: Vec<_> = values.into_iter().map(|value| (value, 0)).collect();
    while let Some((value, depth)) = pending.pop() {
        if depth > DEPTH_MAX {
            return true;
        }
        match value {
            Value::Array(elements) => pending.extend(elements.iter().map(|element| (element, depth + 1))),
            Value::Object(members) => pending.extend(members.values().map(|member| (member, depth + 1))),
            _ => {}
        }
    }
    false
}

fn value_of(branch: &BranchOutcome) -> Option<&Value> {
    match branch {
        BranchOutcome::Success(value) => Some(value),
        BranchOutcome::Failure { .. } => None,
    }
}

fn write_result(result: &Result<Answer, EvaluationError>, style: Style, out: &mut impl Write) -> io::Result<()> {
    match result {
        Ok(Answer::Value(value)) => writeln!(out, "{}", printable::line(&value.to_string())),
        Ok(Answer::Branches(branches)) => branches::write(branches, style, out),
        Err(error) => {
            let kind = error.kind().map(|kind| format!("{kind}: ")).unwrap_or_default();
            writeln!(out, "{} {}", style.bad("FAILED"), printable::line(&format!("{kind}{error}")))
        }
    }
}

/// Tells whose limit it was, if it was nobody's.
fn write_defaults(used: &Consumption, limits: &LimitOptions, style: Style, out: &mut impl Write) -> io::Result<()> {
    for (option, used, limit, default) in [
        ("--max-nodes", used.nodes, limits.max_nodes, NODES_DEFAULT),
        ("--max-tool-calls", used.tool_calls, limits.max_tool_calls, TOOL_CALLS_DEFAULT),
        ("--max-bytes", used.bytes, limits.max_bytes, BYTES_DEFAULT),
    ] {
        if limit == default && used > limit.get() {
            writeln!(out, "{}", style.faint(&format!("{limit} is the default of {option}: give more to go on")))?;
        }
    }
    Ok(())
}

fn error_to_json(error: &EvaluationError) -> Value {
    let limit = error.limit();
    json!({
        "kind": error.kind().map(|kind| kind.as_str()),
        "message": error.to_string(),
        "resource": limit.map(|limit| limit.resource.as_str()),
        "limit": limit.map(|limit| limit.limit.clone()),
    })
}
