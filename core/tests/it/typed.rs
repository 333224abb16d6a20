//! Typed tools: what they take, what they refuse, and what they know of their call.

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::Error as _;
use serde_json::{Value, json};
use windtunnel_core::BoxError;
use windtunnel_core::executor::{CallContext, ToolCall, ToolContext};
use windtunnel_core::tool::{FunctionTool, Tool};

use crate::ports::Reviewer;
use crate::rig::{Rig, call, told, tool};

#[derive(Deserialize, JsonSchema)]
struct Order {
    /// What to order.
    items: Vec<Item>,
    #[serde(default)]
    note: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
struct Item {
    sku: Sku,
}

/// Its schema says less than its type: the checksum is in no schema.
#[derive(JsonSchema)]
#[schemars(transparent)]
struct Sku(String);

impl<'de> Deserialize<'de> for Sku {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text.starts_with("SKU-") { Ok(Self(text)) } else { Err(D::Error::custom(format!("{text} is no sku"))) }
    }
}

fn order() -> FunctionTool {
    FunctionTool::new("order", "Orders.", |order: Order, _| async move {
        let skus: Vec<_> = order.items.into_iter().map(|item| item.sku.0).collect();
        Ok::<_, BoxError>(json!({"skus": skus, "note": order.note}))
    })
}

#[test]
fn the_schema_comes_from_the_type() {
    let parameters = order().spec().parameters;
    assert_eq!(parameters["$schema"], "https://json-schema.org/draft/2020-12/schema");
    assert_eq!(parameters["required"], json!(["items"]));
    assert_eq!(parameters["properties"]["items"]["description"], "What to order.");
}

/// What an order comes to, and whether the reviewer was asked about it.
async fn check(arguments: Value, expected: &str, asked: bool) {
    let reviewer = Reviewer::new([]);
    let rig = Rig::with([order().confirm()], |builder| builder.approval(reviewer.clone()));
    let result = rig.executor.run_call(ToolCall::new("order", arguments)).await.unwrap();
    assert_eq!(told(&result), expected);
    assert_eq!(!reviewer.requests().is_empty(), asked);
}

#[tokio::test(start_paused = true)]
async fn arguments_that_the_type_refuses_are_refused_before_anybody_is_asked() {
    let good = r#"ok 1 {"skus":["SKU-1"],"note":null}"#;
    check(json!({"items": [{"sku": "SKU-1"}]}), good, true).await;
    // The schema refuses, then the type; neither quotes the value.
    let schema = r#"tool-args-invalid 0 $.items[0].sku: value is not of type "string""#;
    check(json!({"items": [{"sku": 1}]}), schema, false).await;
    let refused = "tool-args-invalid 0 $.items[1].sku: the tool's type does not accept this value";
    check(json!({"items": [{"sku": "SKU-1"}, {"sku": "hunter2"}]}), refused, false).await;
    check(json!({}), r#"tool-args-invalid 0 $: "items" is a required property"#, false).await;
}

#[tokio::test(start_paused = true)]
async fn arguments_that_a_reviewer_edits_are_checked_by_the_type_too() {
    let edited = crate::ports::edit(json!({"items": [{"sku": "none"}]}));
    let rig = Rig::with([order().confirm()], |builder| builder.approval(Reviewer::new([edited])));
    let result = rig.executor.run_call(ToolCall::new("order", json!({"items": []}))).await.unwrap();
    let refused = "tool-args-invalid 0 $.items[0].sku: the tool's type does not accept this value";
    assert_eq!(told(&result), refused);
}

#[tokio::test(start_paused = true)]
async fn a_body_knows_its_call_its_run_its_thread_and_its_attempt() {
    let work = tool("work", |_, context: ToolContext| async move {
        if context.attempt() < 3 {
            return Err(format!("attempt {}", context.attempt()).into());
        }
        Ok(json!([context.run_id(), context.call_id(), context.thread_id(), context.attempt()]))
    });
    let rig = Rig::new([work.retries(5)]);
    let context =
        CallContext { run_id: "run-a".to_owned(), thread_id: Some("chat-42".to_owned()), ..CallContext::default() };
    let result = rig.executor.in_context(context).run_call(call("a", "work")).await.unwrap();
    assert_eq!(told(&result), r#"ok 3 ["run-a","a","chat-42",3]"#);
}

#[tokio::test(start_paused = true)]
async fn the_call_id_stays_the_same_for_all_attempts() {
    let notes = crate::rig::Notes::default();
    let seen = notes.clone();
    let work = tool("work", move |_, context| {
        seen.add(context.call_id());
        async { Err("reset by peer".into()) }
    });
    let rig = Rig::new([work.retries(2)]);
    rig.executor.run("work", json!({})).await.unwrap_err();
    rig.executor.run("work", json!({})).await.unwrap_err();
    assert_eq!(notes.all(), ["call-1", "call-1", "call-1", "call-2", "call-2", "call-2"]);
}

#[tokio::test(start_paused = true)]
async fn nested_calls_inherit_the_thread_and_bill_their_own_entry() {
    let outer = tool("outer", |_, context| async move {
        context.add_cost_usd(0.5);
        Ok(context.executor().run_call(call("b", "inner")).await?.into_value()?)
    });
    let inner = tool("inner", |_, context| async move {
        context.add_cost_usd(0.25);
        context.add_cost_usd(0.25);
        Ok(json!(context.thread_id()))
    });
    let rig = Rig::new([outer, inner]);
    let context = CallContext { thread_id: Some("chat-42".to_owned()), ..CallContext::default() };
    let result = rig.executor.in_context(context).run_call(call("a", "outer")).await.unwrap();
    assert_eq!(result.value(), Some(&json!("chat-42")));
    let costs: Vec<_> = rig.ledger.entries().iter().map(|entry| (entry.entry_id.to_string(), entry.cost_usd)).collect();
    assert_eq!(costs, [("b".to_owned(), 0.5), ("a".to_owned(), 0.5)]);
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_failed_still_cost_what_it_said() {
    let work = tool("work", |_, context| async move {
        context.add_cost_usd(0.25);
        Err("reset by peer".into())
    });
    let rig = Rig::new([work.retries(1)]);
    rig.executor.run("work", json!({})).await.unwrap_err();
    assert_eq!(rig.ledger.entries()[0].cost_usd, 0.5);
}
