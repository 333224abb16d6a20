//! Calls of tools (V5, V7).

use serde_json::Value;
use windtunnel_core::evaluator::{ErrorKind, Resource};

use super::PredictedCall;
use super::interpreter::{Interpreter, Stop};
use crate::cases::{AttemptEnding, ProgramTool};

impl Interpreter<'_> {
    /// The tool of this name. Asking for it costs nothing.
    pub(super) fn tool(&self, name: &str) -> Result<ProgramTool, Stop> {
        match ProgramTool::named(name) {
            Some(tool) => Ok(tool),
            None => self.fail(ErrorKind::ToolNotFound),
        }
    }

    pub(super) fn call(&mut self, tool: ProgramTool, arguments: Value) -> Result<Value, Stop> {
        if !tool.accepts(&arguments) {
            return self.fail(ErrorKind::AstValidation);
        }
        let (mut number, place) = (0, self.calls.len());
        for attempt in 1.. {
            self.tool_calls += 1;
            self.hold(Resource::ToolCalls, self.tool_calls, self.case.limits.max_tool_calls)?;
            if attempt == 1 {
                let count = self.calls_by_tool.entry(tool).or_default();
                *count += 1;
                number = *count;
                let arguments = arguments.clone();
                self.calls.push(PredictedCall { tool: tool.name().to_owned(), arguments, attempts: 0 });
            }
            self.calls[place].attempts = attempt;
            let step = self.case.tools.step(tool, number, &arguments, attempt);
            if step.yields > 0 && self.case.limits.timeout == Some(self.now) {
                self.is_certain = false;
            }
            self.pass(step.takes)?;
            let failure = match step.ending {
                AttemptEnding::Value => return Ok(tool.value(&arguments)),
                AttemptEnding::Interrupted => return Err(Stop::Interrupted),
                AttemptEnding::Panic => ErrorKind::Unclassified,
                AttemptEnding::Failure(kind) => kind,
            };
            if !self.is_tried_again(tool, attempt, failure) {
                return self.fail(failure);
            }
            self.pass(self.case.policy.retry.delay)?;
        }
        Err(Stop::TooLong)
    }

    fn is_tried_again(&self, tool: ProgramTool, attempt: u32, failure: ErrorKind) -> bool {
        let retry = &self.case.policy.retry;
        let is_idempotent = retry.idempotent_tools.iter().any(|name| name == tool.name());
        let may_pass = failure != ErrorKind::ReplayMismatch && retry.retryable.contains(&failure);
        is_idempotent && may_pass && attempt < retry.max_attempts.get()
    }
}
