//! A case of kind `program`.

use serde_json::{Map, Value, json};
use windtunnel_core::evaluator::{ExecutionLimits, ExecutionPolicy, Program};
use windtunnel_fixtures::difference::Difference;

use super::expectation::Expectation;
use super::functions::Function;
use super::offence::ProgramOffence;
use super::outcome::ProgramOutcome;
use super::tools::CaseTool;
use crate::case::cassettes::Shelf;
use crate::case::definition::Kind;
use crate::case::store::Keeping;
use crate::case::trouble::Setting;
use crate::case::{CaseOutcome, CaseRun};
use crate::script::Invocation;

/// Tools, a program, and what it runs under.
#[derive(Debug)]
pub(super) struct ProgramCase {
    pub(super) tools: Vec<CaseTool>,
    pub(super) shelf: Shelf,
    /// A program that is refused is a result, as an error is.
    pub(super) program: Result<Program, Vec<ProgramOffence>>,
    pub(super) limits: ExecutionLimits,
    pub(super) policy: ExecutionPolicy,
    /// Siblings go on in a drawn order.
    pub(super) shuffles: bool,
    pub(super) expectation: Option<Expectation>,
}

/// The variables of assertions.
pub(super) const VARIABLES: [&str; 8] =
    ["result", "branches", "consumption", "invocations", "events", "tools", "elapsed_ms", "faults"];

impl Kind for ProgramCase {
    fn draws(&self) -> bool {
        self.shuffles || self.expects_by_seed()
    }

    fn expects(&self) -> bool {
        self.expectation.is_some()
    }

    fn expects_refusal(&self) -> bool {
        self.expectation.as_ref().is_some_and(Expectation::is_refusal)
    }

    /// What a program comes to does not depend on the order of siblings, so that may be drawn.
    fn expects_by_seed(&self) -> bool {
        self.tools.iter().any(|tool| tool.script.draws())
    }

    fn run(&self, setting: &Setting, _keeping: &Keeping) -> CaseRun {
        self.evaluate(setting)
    }

    fn differences(&self, run: &CaseRun) -> Vec<Difference> {
        let expectation = self.expectation.iter();
        expectation.flat_map(|expectation| expectation.compare(outcome(run), run)).collect()
    }

    fn variables(&self) -> &'static [&'static str] {
        &VARIABLES
    }

    fn variable(&self, name: &str, run: &CaseRun) -> Value {
        match name {
            "result" => outcome(run).to_json(),
            "branches" => outcome(run).branches_to_json(),
            "consumption" => outcome(run).consumption_to_json(),
            "tools" => self
                .tools
                .iter()
                .map(|tool| (tool.definition.name().to_owned(), self.tool(tool)))
                .collect::<Map<_, _>>()
                .into(),
            "invocations" => run.invocations.iter().map(invocation_to_json).collect(),
            _ => run.variable(name),
        }
    }
}

impl ProgramCase {
    fn tool(&self, tool: &CaseTool) -> Value {
        let retry = &self.policy.retry;
        let name = tool.definition.name();
        json!({
            "name": name,
            "fn": tool.answers.function.map(Function::name),
            "input_schema": tool.definition.input_schema(),
            "idempotent": retry.idempotent_tools.contains(name),
            "attempts_max": if retry.covers(name) { retry.max_attempts.get() } else { 1 },
        })
    }
}

fn invocation_to_json(invocation: &Invocation) -> Value {
    let Invocation { tool, arguments, call_id, attempt } = invocation;
    json!({"tool": &**tool, "arguments": &**arguments, "call_id": &**call_id, "attempt": attempt})
}

/// What came of the program: nothing, in the run of a case of another kind.
fn outcome(run: &CaseRun) -> &ProgramOutcome {
    match &run.outcome {
        CaseOutcome::Program(outcome) => outcome,
        _ => &ProgramOutcome::Unfinished,
    }
}
