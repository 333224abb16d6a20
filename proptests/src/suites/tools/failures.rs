//! Calls that fail.

use windtunnel_core::evaluator::{ErrorKind, ProviderError, ToolFailure, ToolProvider};

use super::service::SECRET;
use super::trial::{Called, Seen, Trial, demand, drawn, needs};
use super::{ToolFeature, ToolProviderSubject};
use crate::cases::SessionEnding;
use crate::strategies::tool_sessions;
use crate::suites::Point;

pub(super) fn points<S: ToolProviderSubject>() -> Vec<Point<S>> {
    vec![
        needs(
            ToolFeature::ChecksArguments,
            drawn("bad_arguments", "arguments against the schema are refused as such", tool_sessions, bad_arguments),
        ),
        needs(
            ToolFeature::RejectsArguments,
            drawn("rejected_arguments", "arguments that a tool rejects are told as such", tool_sessions, rejected),
        ),
        drawn("failures", "what a tool says of its failure is told", tool_sessions, told),
        drawn("may_pass", "what may pass is an execution or a timeout", tool_sessions, may_pass),
        needs(
            ToolFeature::Refusals,
            drawn("refusals", "what is refused is nothing that is tried again", tool_sessions, refusals),
        ),
        drawn("cause_hidden", "no message has the text of a cause", tool_sessions, hidden),
        needs(
            ToolFeature::ControlFlow,
            drawn("control_flow", "control flow passes through, and is no failure", tool_sessions, control_flow),
        ),
    ]
}

/// What evaluators try again.
fn is_transient(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::ToolExecution | ErrorKind::Timeout)
}

fn failure(called: &Called) -> Option<&ToolFailure> {
    match called {
        Err(ProviderError::Failed(failure)) => Some(failure),
        _ => None,
    }
}

async fn bad_arguments<P: ToolProvider>(trial: &Trial<P>) -> Seen {
    for tool in trial.tools() {
        for arguments in tool.bad_arguments() {
            let called = trial.call_with(&tool.name, arguments.clone(), 0).await;
            let is_so = failure(&called).is_some_and(|failure| failure.kind() == ErrorKind::AstValidation);
            demand(is_so, || format!("{:?} with {arguments} comes to {called:?}", tool.name))?;
        }
    }
    let calls = trial.service.calls();
    demand(calls.is_empty(), || format!("these were called: {calls:?}"))
}

async fn rejected<P: ToolProvider>(trial: &Trial<P>) -> Seen {
    for number in trial.ending(|ending| matches!(ending, SessionEnding::RejectsArguments { .. })) {
        let called = trial.call(number).await;
        let is_so = failure(&called).is_some_and(|failure| failure.kind() == ErrorKind::AstValidation);
        demand(is_so, || format!("call {number} comes to {called:?}"))?;
    }
    Ok(())
}

async fn told<P: ToolProvider>(trial: &Trial<P>) -> Seen {
    for number in trial.ending(|ending| matches!(ending, SessionEnding::Fails { .. })) {
        let SessionEnding::Fails { message } = &trial.case(number).ending else { continue };
        let called = trial.call(number).await;
        let is_so = failure(&called).is_some_and(|failure| failure.message().contains(message.as_str()));
        demand(is_so, || format!("call {number} comes to {called:?}"))?;
    }
    Ok(())
}

async fn may_pass<P: ToolProvider>(trial: &Trial<P>) -> Seen {
    for number in trial.ending(|ending| matches!(ending, SessionEnding::Fails { .. } | SessionEnding::TimesOut)) {
        let called = trial.call(number).await;
        let kind = failure(&called).map(ToolFailure::kind);
        let is_so = match trial.case(number).ending {
            SessionEnding::TimesOut => kind == Some(ErrorKind::Timeout),
            _ => kind.is_some_and(is_transient),
        };
        demand(is_so, || format!("call {number} comes to {called:?}"))?;
    }
    Ok(())
}

async fn refusals<P: ToolProvider>(trial: &Trial<P>) -> Seen {
    for number in trial.ending(|ending| matches!(ending, SessionEnding::Refused { .. })) {
        let called = trial.call(number).await;
        let is_so = failure(&called).is_some_and(|failure| !is_transient(failure.kind()));
        demand(is_so, || format!("call {number} comes to {called:?}"))?;
    }
    Ok(())
}

async fn hidden<P: ToolProvider>(trial: &Trial<P>) -> Seen {
    for number in trial.numbers() {
        let Err(error) = trial.call(number).await else { continue };
        let told = format!("{error} {error:?}");
        demand(!told.contains(SECRET), || format!("call {number} comes to {told}"))?;
    }
    Ok(())
}

async fn control_flow<P: ToolProvider>(trial: &Trial<P>) -> Seen {
    for number in trial.numbers() {
        let is_due = trial.case(number).ending == SessionEnding::Interrupted;
        let called = trial.call(number).await;
        let is_so = matches!(called, Err(ProviderError::Interrupted(_))) == is_due;
        demand(is_so, || format!("call {number} comes to {called:?}"))?;
    }
    Ok(())
}
