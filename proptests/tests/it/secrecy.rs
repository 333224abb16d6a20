//! No cause's text above DEBUG (E5).

use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Value, json};
use tracing::Level;
use tracing::instrument::WithSubscriber;
use windtunnel_core::executor::{Cache, ExecutorBuilder, Hook, HookCall, ToolCall, ToolResult};
use windtunnel_core::tool::{Interrupted, ToolSpec};
use windtunnel_core::{BoxError, BoxFuture};
use windtunnel_proptests::cases::{Answer, ApprovalScript, ApprovalStep, Ending, RetryCase, ToolPolicy};
use windtunnel_proptests::invariants::{events_are_silent_about, logs_are_silent_about, text_is_silent_about};
use windtunnel_proptests::played::{CAUSE, PlayedTool};
use windtunnel_proptests::strategies::retry_cases;
use windtunnel_proptests::{CallTimeline, LogCapture};

use crate::ledger::broken_ports;
use crate::settings::family;
use windtunnel_proptests::properties::simulated::{self, Ran, Setup};

fn run(setup: Setup, capture: &LogCapture) -> Result<Ran<Result<ToolResult, Interrupted>>, TestCaseError> {
    let capture = capture.clone();
    simulated::run(setup, |executor| {
        let call = async move { executor.run_call(ToolCall::new("tool", json!({})).with_id("call")).await };
        call.with_subscriber(capture)
    })
}

fn check_silence(ran: &Ran<Result<ToolResult, Interrupted>>, capture: &LogCapture) -> Result<(), TestCaseError> {
    events_are_silent_about(CAUSE, &ran.events)?;
    logs_are_silent_about(CAUSE, &capture.lines())?;
    if let Ok(result) = &ran.output {
        text_is_silent_about(CAUSE, &result.to_model_text())?;
        text_is_silent_about(CAUSE, &result.error().map(ToString::to_string).unwrap_or_default())?;
    }
    text_is_silent_about(CAUSE, &format!("{:?}", ran.entries))?;
    Ok(())
}

/// Whether some attempt ended by an error, and not by its time limit.
fn has_cause(case: &RetryCase, attempts: usize) -> bool {
    (1..).map(|attempt| case.script.step(attempt)).take(attempts).any(|step| {
        case.timeout.is_none_or(|limit| step.takes <= limit)
            && !matches!(step.ending, Ending::Value | Ending::Cancelled)
    })
}

struct Failing;

impl Hook for Failing {
    fn before<'a>(&'a self, _call: &'a HookCall) -> BoxFuture<'a, Result<Option<Value>, BoxError>> {
        Box::pin(std::future::ready(Err(CAUSE.into())))
    }
}

impl Cache for Failing {
    fn get<'a>(&'a self, _key: &'a str) -> BoxFuture<'a, Result<Option<Value>, BoxError>> {
        Box::pin(std::future::ready(Err(CAUSE.into())))
    }

    fn put<'a>(&'a self, _key: &'a str, _value: Value, _ttl: Duration) -> BoxFuture<'a, Result<(), BoxError>> {
        std::panic::resume_unwind(Box::new(CAUSE))
    }
}

/// Ports and hooks that fail, with the causes in their errors and panics.
fn broken_parts() -> impl Strategy<Value = fn(ExecutorBuilder) -> ExecutorBuilder> {
    let hook: fn(ExecutorBuilder) -> ExecutorBuilder = |builder| builder.hook(Failing);
    let cache: fn(ExecutorBuilder) -> ExecutorBuilder = |builder| builder.cache(Failing);
    prop_oneof![4 => broken_ports(), 1 => Just(hook), 1 => Just(cache)]
}

proptest! {
    #![proptest_config(family!("secrecy"))]

    #[test]
    fn causes_are_told_at_debug_only(case in retry_cases()) {
        let capture = LogCapture::new();
        let setup = Setup { backoff: case.backoff, units: case.units.clone(), ..Setup::default() }
            .with_tool(PlayedTool::new(case.policy().spec("tool"), case.script.clone()));
        let ran = run(setup, &capture)?;
        check_silence(&ran, &capture)?;
        let attempts = CallTimeline::all(&ran.events)[0].attempts.len();
        let is_told = capture.lines().iter().any(|line| line.level == Level::DEBUG && line.text.contains(CAUSE));
        prop_assert_eq!(is_told, has_cause(&case, attempts));
    }

    #[test]
    fn ports_and_hooks_that_fail_are_told_at_debug_only(case in retry_cases(), adjust in broken_parts()) {
        let capture = LogCapture::new();
        let spec = ToolSpec { cache_ttl: Some(Duration::MAX), ..case.policy().spec("tool") };
        let setup = Setup { adjust, backoff: case.backoff, ..Setup::default() }
            .with_tool(PlayedTool::new(spec, case.script.clone()));
        check_silence(&run(setup, &capture)?, &capture)?;
    }

    #[test]
    fn a_reviewer_that_fails_is_told_at_debug_only(seconds in 0_u64..3) {
        let capture = LogCapture::new();
        let step = ApprovalStep { takes: Duration::from_secs(seconds), answer: Answer::Fail };
        let reviews = [("call".to_owned(), ApprovalScript { steps: vec![step] })].into();
        let spec = ToolPolicy { confirm: true, ..ToolPolicy::default() }.spec("tool");
        let setup = Setup { reviews, ..Setup::default() }.with_tool(PlayedTool::new(spec, Default::default()));
        let ran = run(setup, &capture)?;
        check_silence(&ran, &capture)?;
        prop_assert!(capture.lines().iter().any(|line| line.level == Level::DEBUG && line.text.contains(CAUSE)));
        prop_assert!(capture.lines().iter().any(|line| line.level == Level::WARN));
    }
}
