//! Secrets: what a cause or an argument says stays out of everything but DEBUG and `Error::source` (E5, E13).

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tracing::Level;
use windtunnel_core::BoxError;
use windtunnel_core::env::Env;
use windtunnel_core::executor::{Decision, ExecutorBuilder, MemoryCache, ToolCall, ToolResult};
use windtunnel_core::tool::{CacheScope, FunctionTool, PreparedTool, ToolError};

use crate::capture::Capture;
use crate::ports::{Broken, BrokenAfter, BrokenBefore, Reviewer, edit};
use crate::rig::{Rig, env, ms, tool};

const SECRET: &str = "hunter2";

/// One call of `work` with a secret among its arguments: everything that can be read afterwards.
struct Seen {
    result: ToolResult,
    rig: Rig,
    capture: Capture,
}

async fn seen(work: FunctionTool, set: impl FnOnce(ExecutorBuilder) -> ExecutorBuilder) -> Seen {
    let (capture, _guard) = Capture::begin();
    let rig = Rig::with([work], |builder| set(builder.env(env().with_sleep(|_: Duration| std::future::ready(())))));
    let call = ToolCall::new("work", json!({"password": SECRET, SECRET: 1})).with_id("a");
    let result = rig.executor.run_call(call).await.unwrap();
    Seen { result, rig, capture }
}

impl Seen {
    fn assert_hidden(&self) {
        for event in self.rig.log.events() {
            let line = serde_json::to_string(&event).unwrap();
            assert!(!line.contains(SECRET), "{line}");
        }
        let entries = format!("{:?}", self.rig.ledger.entries());
        assert!(!entries.contains(SECRET), "{entries}");
        let result = format!("{:?}", self.result.error());
        assert!(!result.contains(SECRET), "{result}");
        if let Some(error) = self.result.error() {
            assert!(!error.to_string().contains(SECRET), "{error}");
            let text = self.result.to_model_text();
            assert!(!text.contains(SECRET), "{text}");
        }
        for entry in self.capture.mentions(SECRET) {
            assert_eq!(entry.level, Level::DEBUG, "{entry:?}");
        }
    }

    /// The cause can be found by who looks for it: in a log at DEBUG, and in code.
    fn assert_reachable(&self, in_code: bool) {
        assert!(!self.capture.mentions(SECRET).is_empty());
        if in_code {
            let error = self.result.error().unwrap();
            let causes = std::iter::successors(std::error::Error::source(error), |cause| cause.source());
            assert!(causes.map(ToString::to_string).any(|text| text.contains(SECRET)));
        }
    }
}

fn fails(error: impl Fn() -> BoxError + Send + Sync + 'static) -> FunctionTool {
    let error = Arc::new(error);
    tool("work", move |_, _| {
        let error = Arc::clone(&error);
        async move { Err(error()) }
    })
}

#[tokio::test(start_paused = true)]
async fn the_cause_of_a_failed_tool_is_said_at_debug_only() {
    #[derive(Debug, thiserror::Error)]
    #[error("cannot log in")]
    struct Outer(#[source] BoxError);

    let causes: [fn() -> BoxError; 4] = [
        || format!("password {SECRET} refused").into(),
        || Outer(format!("password {SECRET} refused").into()).into(),
        || ToolError::retryable(format!("busy, {SECRET}")).into(),
        || ToolError::new("no such card").with_source(format!("card of {SECRET}")).into(),
    ];
    for cause in causes {
        let seen = seen(fails(cause).retries(2), |builder| builder).await;
        seen.assert_hidden();
        seen.assert_reachable(true);
    }
}

#[tokio::test(start_paused = true)]
async fn the_text_of_a_panic_is_said_at_debug_only() {
    let later = tool("work", |_, _| async { panic!("password {SECRET} refused") });
    let blocking = FunctionTool::blocking("work", "", |_: Value, _| -> Result<Value, BoxError> {
        panic!("password {SECRET} refused")
    });
    for work in [later, blocking] {
        let seen = seen(work, |builder| builder).await;
        seen.assert_hidden();
        seen.assert_reachable(true);
    }
}

#[tokio::test(start_paused = true)]
async fn the_cause_of_a_broken_hook_or_port_is_said_at_debug_only() {
    let work = || crate::rig::echo("work").cache(ms(1_000), CacheScope::Run);
    for broken in [Broken::Failing(SECRET), Broken::PanickingAtOnce(SECRET), Broken::PanickingLater(SECRET)] {
        for (in_code, seen) in [
            (true, seen(work(), |builder| builder.hook(BrokenBefore(broken))).await),
            (true, seen(work(), |builder| builder.hook(BrokenAfter(broken))).await),
            (false, seen(work().confirm(), |builder| builder.approval(broken)).await),
            (false, seen(work(), |builder| builder.cache(broken)).await),
            (false, seen(work(), |builder| builder.ledger(broken)).await),
        ] {
            seen.assert_hidden();
            seen.assert_reachable(in_code);
        }
        seen(work(), |builder| builder.sink(broken)).await.assert_hidden();
    }
}

#[tokio::test(start_paused = true)]
async fn arguments_values_and_reasons_are_in_no_event_and_no_log() {
    let work = || crate::rig::echo("work").confirm().cache(ms(1_000), CacheScope::Global);
    let reviewers = [
        Reviewer::new([Decision::approve()]),
        Reviewer::new([edit(json!({"other": SECRET}))]),
        Reviewer::new([Decision::deny("not today")]),
        Reviewer::new([Decision::Pending]),
    ];
    for reviewer in reviewers {
        let seen = seen(work(), |builder| builder.approval(reviewer).cache(MemoryCache::new(Env::system(), 8))).await;
        seen.assert_hidden();
        assert!(seen.capture.mentions(SECRET).is_empty(), "not even at DEBUG");
        assert!(seen.capture.mentions("not today").is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn a_reason_to_deny_is_for_the_model_and_in_no_event() {
    let seen = seen(crate::rig::echo("work").confirm(), |builder| {
        builder.approval(Reviewer::new([Decision::deny("the customer is on hold")]))
    })
    .await;
    assert!(seen.result.to_model_text().contains("on hold"));
    let lines: Vec<_> = seen.rig.log.events().iter().map(|event| serde_json::to_string(event).unwrap()).collect();
    assert!(lines.iter().all(|line| !line.contains("on hold")));
}

/// A schema for the member `password`, and the offence of a secret against it.
fn check_offence(schema: Value, secret: Value) {
    let parameters = json!({"type": "object", "properties": {"password": schema}});
    let tool = FunctionTool::json("work", "", parameters, |_, _| async { Ok::<_, BoxError>(Value::Null) });
    let offence = PreparedTool::new(tool).unwrap().check(&json!({ "password": secret })).unwrap_err().to_string();
    assert!(offence.starts_with("$.password"), "{offence}");
    assert!(!offence.contains(SECRET) && !offence.contains("4711"), "{schema}: {offence}");
}

#[test]
fn an_offence_against_a_schema_does_not_echo_the_value() {
    for schema in [
        json!({"type": "integer"}),
        json!({"type": ["integer", "null"]}),
        json!({"enum": ["a", 1]}),
        json!({"const": "a"}),
        json!({"pattern": "^[a-c]+$"}),
        json!({"minLength": 20}),
        json!({"maxLength": 2}),
        json!({"anyOf": [{"type": "integer"}, {"const": "a"}]}),
        json!({"oneOf": [{"type": "string"}, {"minLength": 1}]}),
        json!({"oneOf": [{"type": "integer"}]}),
        json!({"allOf": [{"type": "integer"}]}),
        json!({"not": {"type": "string"}}),
        json!({"if": {"type": "string"}, "then": {"const": "a"}}),
        json!(false),
    ] {
        check_offence(schema, json!(SECRET));
    }
    for schema in [
        json!({"minimum": 5000}),
        json!({"maximum": 3}),
        json!({"exclusiveMinimum": 5000}),
        json!({"exclusiveMaximum": 3}),
        json!({"multipleOf": 10}),
    ] {
        check_offence(schema, json!(4711));
    }
    for schema in [
        json!({"items": {"type": "integer"}}),
        json!({"prefixItems": [{"const": "a"}]}),
        json!({"contains": {"type": "integer"}}),
        json!({"contains": {"type": "string"}, "maxContains": 1}),
        json!({"uniqueItems": true}),
        json!({"minItems": 3}),
        json!({"maxItems": 1}),
        json!({"unevaluatedItems": false}),
        json!({"prefixItems": [true], "items": false}),
    ] {
        check_offence(schema, json!([SECRET, SECRET]));
    }
    for schema in [
        json!({"additionalProperties": false}),
        json!({"additionalProperties": {"type": "integer"}}),
        json!({"unevaluatedProperties": false}),
        json!({"required": ["b"]}),
        json!({"dependentRequired": {"a": ["b"]}}),
        json!({"dependentSchemas": {"a": {"required": ["b"]}}}),
        json!({"minProperties": 2}),
        json!({"maxProperties": 0}),
        json!({"properties": {"a": {"type": "integer"}}}),
        json!({"patternProperties": {"^a": {"type": "integer"}}}),
        json!({"propertyNames": {"pattern": "^b"}}),
    ] {
        check_offence(schema, json!({ "a": SECRET }));
    }
}
