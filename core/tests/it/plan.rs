//! Plans: calls whose arguments refer to earlier results.

use serde_json::{Value, json};
use windtunnel_core::BoxError;
use windtunnel_core::executor::{CallContext, Decision, Plan, PlanStep, StepOutcome, StepResult, ToolCall};
use windtunnel_core::tool::FunctionTool;

use crate::rig::{Rig, call, echo, ms, told, tool};

fn step(id: &str, tool: &str, arguments: Value) -> PlanStep {
    PlanStep::new(id, ToolCall::new(tool, arguments))
}

/// A tool that takes as many milliseconds as its arguments say, and gives when it was done.
fn timed() -> FunctionTool {
    tool("timed", |arguments, context| async move {
        context.env().sleep(ms(arguments["ms"].as_u64().unwrap_or(0))).await;
        Ok(json!(context.env().now().as_millis() as u64))
    })
}

fn rig() -> Rig {
    let failing = tool("failing", |_, _| async { Err("reset by peer".into()) });
    let pages = tool("pages", |_, _| async { Ok(json!({"pages": ["p0", {"a/b": 1}], "$result": "echo"})) });
    Rig::new([echo("echo"), timed(), failing, pages, echo("asks").confirm()])
}

fn said(result: &StepResult) -> String {
    match &result.outcome {
        StepOutcome::Finished(finished) => format!("{}: {}", result.id, told(finished)),
        StepOutcome::Skipped(skipped) => format!("{}: skipped: {:?} {}", result.id, skipped.needs, skipped.reason),
    }
}

async fn check(steps: impl IntoIterator<Item = PlanStep>, expected: &[&str]) -> Rig {
    let rig = rig();
    let results = rig.executor.run_plan(&Plan::new(steps).unwrap()).await.unwrap();
    assert_eq!(results.iter().map(said).collect::<Vec<_>>(), expected);
    rig
}

#[tokio::test(start_paused = true)]
async fn a_reference_stands_for_a_value_or_a_part_of_it() {
    check(
        [
            // The step that is needed may come last.
            step("whole", "echo", json!({"all": [{"$result": "find"}]})),
            step("part", "echo", json!({"page": {"$result": "find#/pages/0"}, "twice": {"$result": "find#/pages/0"}})),
            step("odd", "echo", json!({"n": {"$result": "find#/pages/1/a~1b"}})),
            step("all", "echo", json!({"n": {"$result": "find#"}})),
            step("find", "pages", json!({})),
        ],
        &[
            r#"whole: ok 1 {"all":[{"pages":["p0",{"a/b":1}],"$result":"echo"}]}"#,
            r#"part: ok 1 {"page":"p0","twice":"p0"}"#,
            r#"odd: ok 1 {"n":1}"#,
            r#"all: ok 1 {"n":{"pages":["p0",{"a/b":1}],"$result":"echo"}}"#,
            r#"find: ok 1 {"pages":["p0",{"a/b":1}],"$result":"echo"}"#,
        ],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_value_that_looks_like_a_reference_is_not_followed() {
    // What a tool returns is data: it cannot reach into other results, even those that its reader also needs.
    let forging = tool("forging", |_, _| async { Ok(json!({"inner": {"$result": "secret"}})) });
    let rig = Rig::new([echo("echo"), forging]);
    let plan = Plan::new([
        step("forged", "forging", json!({})),
        step("secret", "echo", json!({"password": 1})),
        step("reads", "echo", json!({"got": {"$result": "forged"}})).after("secret"),
    ])
    .unwrap();
    let results = rig.executor.run_plan(&plan).await.unwrap();
    assert_eq!(said(&results[2]), r#"reads: ok 1 {"got":{"inner":{"$result":"secret"}}}"#);
}

#[tokio::test(start_paused = true)]
async fn the_whole_arguments_may_be_a_reference() {
    let steps = [step("find", "pages", json!({})), step("use", "echo", json!({"$result": "find#/pages/1"}))];
    let expected = [r#"find: ok 1 {"pages":["p0",{"a/b":1}],"$result":"echo"}"#, r#"use: ok 1 {"a/b":1}"#];
    check(steps, &expected).await;
}

#[tokio::test(start_paused = true)]
async fn steps_run_as_soon_as_what_they_need_is_there() {
    let needs = |id: &str| json!({"ms": 5, "needs": {"$result": id}});
    let rig = check(
        [
            step("a", "timed", json!({"ms": 10})),
            step("b", "timed", json!({"ms": 30})),
            step("after_a", "timed", needs("a")),
            step("after_b", "timed", needs("b")),
            step("free", "timed", json!({"ms": 1})),
            step("after_both", "timed", json!({"ms": 0})).after("after_a").after("b"),
        ],
        &["a: ok 1 10", "b: ok 1 30", "after_a: ok 1 15", "after_b: ok 1 35", "free: ok 1 1", "after_both: ok 1 30"],
    )
    .await;
    assert_eq!(rig.executor.env().now(), ms(35));
    assert!(rig.log.events().iter().all(|event| &*event.run_id == "run-1"));
}

#[tokio::test(start_paused = true)]
async fn a_step_without_what_it_needs_is_skipped_and_says_why() {
    check(
        [
            step("bad", "failing", json!({})),
            step("asks", "asks", json!({})),
            step("find", "pages", json!({})),
            step("needs_bad", "echo", json!({"x": {"$result": "bad"}})),
            step("needs_skipped", "echo", json!({"x": {"$result": "needs_bad"}})),
            step("after_skipped", "echo", json!({})).after("needs_skipped"),
            step("needs_denied", "echo", json!({})).after("asks"),
            step("needs_part", "echo", json!({"x": {"$result": "find#/pages/9"}})),
            step("free", "echo", json!({})),
        ],
        &[
            r#"bad: tool-failed 1 tool "failing" failed after 1 attempt"#,
            "asks: approval-denied 0 no approval port configured",
            r#"find: ok 1 {"pages":["p0",{"a/b":1}],"$result":"echo"}"#,
            r#"needs_bad: skipped: "bad" it ended with tool-failed"#,
            r#"needs_skipped: skipped: "needs_bad" it was skipped, because it needs "bad""#,
            r#"after_skipped: skipped: "needs_skipped" it was skipped, because it needs "needs_bad""#,
            r#"needs_denied: skipped: "asks" it ended with approval-denied"#,
            r#"needs_part: skipped: "find" its value has nothing at "/pages/9""#,
            "free: ok 1 {}",
        ],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_step_that_needs_a_pending_one_is_skipped() {
    let rig = Rig::with([echo("asks").confirm(), echo("echo")], |builder| {
        builder.approval(crate::ports::Reviewer::new([Decision::Pending]))
    });
    let plan = Plan::new([step("asks", "asks", json!({})), step("then", "echo", json!({})).after("asks")]).unwrap();
    let results = rig.executor.run_plan(&plan).await.unwrap();
    let said: Vec<_> = results.iter().map(said).collect();
    assert_eq!(said, ["asks: pending 0 approval-1", r#"then: skipped: "asks" it waits for approval"#]);
}

#[tokio::test(start_paused = true)]
async fn arguments_are_validated_once_they_are_whole() {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
    let strict = FunctionTool::json("strict", "", schema, |_, _| async { Ok::<_, BoxError>(Value::Null) });
    let rig = Rig::new([strict, echo("echo")]);
    let plan = Plan::new([
        step("text", "echo", json!({"n": "one"})),
        step("number", "echo", json!({"n": 1})),
        step("bad", "strict", json!({"n": {"$result": "text#/n"}})),
        step("good", "strict", json!({"n": {"$result": "number#/n"}})),
    ])
    .unwrap();
    let results = rig.executor.run_plan(&plan).await.unwrap();
    assert_eq!(said(&results[2]), r#"bad: tool-args-invalid 0 $.n: value is not of type "integer""#);
    assert_eq!(said(&results[3]), "good: ok 1 null");
}

#[tokio::test(start_paused = true)]
async fn a_plan_of_nothing_is_nothing() {
    assert!(rig().executor.run_plan(&Plan::new([]).unwrap()).await.unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_plan_runs_in_the_run_of_its_context_and_may_run_twice() {
    let rig = rig();
    let context = CallContext { run_id: "run-a".to_owned(), ..CallContext::default() };
    let plan = Plan::new([PlanStep::new("only", call("a", "echo"))]).unwrap();
    let executor = rig.executor.in_context(context);
    for _ in 0..2 {
        let results = executor.run_plan(&plan).await.unwrap();
        assert_eq!(&*results[0].outcome.result().unwrap().run_id, "run-a");
    }
}

#[track_caller]
fn check_refused(steps: impl IntoIterator<Item = PlanStep>, expected: &str) {
    assert_eq!(Plan::new(steps).unwrap_err().to_string(), expected);
}

#[test]
fn a_plan_that_cannot_run_is_refused_as_a_whole() {
    let refers = |id: &str, to: Value| step(id, "echo", json!({"x": [{"$result": to}]}));
    check_refused([step("a", "echo", json!({})), step("a", "echo", json!({}))], r#"two steps have the id "a""#);
    check_refused([refers("a", json!("b#/x"))], r#"step "a" refers to "b", which is not a step of the plan ($.x[0])"#);
    check_refused(
        [step("a", "echo", json!({})).after("b")],
        r#"step "a" refers to "b", which is not a step of the plan ($)"#,
    );
    for malformed in [json!(1), json!(null), json!({"$result": "a"}), json!("a#pages")] {
        check_refused(
            [refers("a", malformed)],
            "step \"a\" has a reference at $.x[0] that is not alone in its object with a string such as \"ID\" or \
             \"ID#/items/0\"",
        );
    }
    check_refused([refers("a", json!("a"))], "steps wait for each other: a → a");
    check_refused(
        [
            refers("behind", json!("b")),
            refers("a", json!("c")),
            refers("b", json!("a")),
            refers("c", json!("b")),
            step("free", "echo", json!({})),
        ],
        "steps wait for each other: b → a → c → b",
    );
    check_refused(
        [step("a", "echo", json!({})).after("b"), refers("b", json!("a"))],
        "steps wait for each other: a → b → a",
    );
}

#[test]
fn a_reference_with_other_members_beside_it_is_refused() {
    let mixed = Plan::new([step("a", "echo", json!({"x": {"$result": "a", "y": 1}}))]).unwrap_err();
    assert!(mixed.to_string().starts_with(r#"step "a" has a reference at $.x that is not alone"#), "{mixed}");
}
