//! What a cassette answers, and what is told of what it does not.

use std::fs;

use serde_json::{Value, json};
use windtunnel_core::evaluator::{Evaluator, Program};
use windtunnel_core::executor::{Executor, LoopOptions, ToolCall};
use windtunnel_core::model::{Message, ModelRequest};
use windtunnel_core::tool::{Registry, ToolSpec};
use windtunnel_fixtures::record::Recorder;
use windtunnel_sim::World;
use windtunnel_sim::case::{AgentEnding, Case, CaseOutcome, Tools};
use windtunnel_sim::script::{Failure, ScriptedModel, ScriptedTool, Step, Then};

use super::shop::{MODEL, agent, case, check, check_failures, folder, offered, run_of, shop, tool_entry, with};

#[test]
fn a_cassette_stands_in_for_the_model_and_the_tools_of_an_agent() {
    let folder = folder(&offered(), &shop());
    let fast = run_of(&case(&folder, &agent()), 0);
    assert_eq!(fast.elapsed().as_millis(), 0, "recorded times are not kept unless that is asked for");
    let recorded = case(&folder, &with(agent(), json!({"replay": {"timing": "recorded"}})));
    let run = run_of(&recorded, 0);
    assert_eq!(run.elapsed().as_millis(), 4_250);
    assert_eq!(run.digest(), recorded.run(0).digest());
    assert_eq!(run.invocations.len(), 1);
}

/// The model and the tools of an agent are recorded while it runs, and play a case.
#[test]
fn what_a_recorder_kept_of_an_agent_plays_a_case() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("shop.json");
    let run = World::new(1).run(async |world| {
        let recorder = Recorder::create(&file, world.env()).unwrap();
        let schema = offered()[0]["parameters"].clone();
        let steps = [Step::fail(Failure::Busy), Step { then: Then::Answer(Some(json!("paid"))), ..Step::default() }];
        let spec = ToolSpec { retries: 1, ..ToolSpec::new("pay", "Pays.", schema) };
        let mut tools = Registry::new();
        tools.register(recorder.tool(ScriptedTool::new(spec, steps))).unwrap();
        let calls = [ToolCall::new("pay", json!({"order": 7})).with_id("p")];
        let turns = [ScriptedModel::calls(calls), ScriptedModel::says("It is paid.")];
        let model = recorder.model(ScriptedModel::new(turns));
        let messages = vec![Message::user("Pay.")];
        let request = ModelRequest { model: "opus".to_owned(), messages, ..ModelRequest::default() };
        let executor = Executor::builder(tools).env(world.env()).build();
        executor.run_tool_loop(&model, request, &LoopOptions::default()).await.unwrap();
        recorder.finish().unwrap();
    });
    run.outcome.unwrap();
    let retried = json!({"tools": [{"name": "pay", "cassette": "shop.json", "retries": 1}]});
    let run = run_of(&case(&folder, &with(agent(), retried)), 0);
    assert_eq!(run.invocations.len(), 2);
}

#[test]
fn a_case_names_its_cassettes_from_its_own_folder_in_each_format() {
    let folder = folder(&offered(), &shop());
    fs::create_dir(folder.path().join("cases")).unwrap();
    let toml = "prompt = \"Pay.\"\nmodel = { name = \"opus\", cassette = \"../shop.json\" }\n\
                tools = [{ name = \"pay\", cassette = \"../shop.json\" }]\n";
    let json = agent().to_string().replace("shop.json", "../shop.json");
    for (name, text) in [("a.toml", toml), ("a.json", &*json), ("a.jsonl", &*json)] {
        let file = folder.path().join("cases").join(name);
        fs::write(&file, text).unwrap();
        check(&Case::load(file.to_str().unwrap()).unwrap()[0]);
    }
}

/// vcrpy#516: what was missed and what is left is told, with the place of each.
#[test]
fn what_is_missed_and_what_is_left_fail_the_case_with_their_places() {
    let folder = folder(&offered(), &shop());
    let other = case(&folder, &with(agent(), json!({"prompt": "Pay twice.", "expect": {"outcome": {}}})));
    let run = other.run(0);
    let verdict = other.judge(&run);
    assert!(!verdict.passed() && !other.judge_invariants(&run).passed());
    let miss = format!(
        "{MODEL} $.entries[0]: replay mismatch: model complete \"opus\": changed: entry 0 was recorded with another \
         content\n  $.request.messages[0].content: expected \"Pay.\", found \"Pay twice.\""
    );
    assert_eq!(verdict.misses, [miss]);
    assert_eq!(
        verdict.leftovers,
        [
            format!("{MODEL} $.entries[0] of lane \"main\" was never asked for: model complete \"opus\""),
            "$.tools[0].cassette: shop.json: $.entries[1] of lane \"main\" was never asked for: tool \"pay\""
                .to_owned(),
            format!("{MODEL} $.entries[2] of lane \"main\" was never asked for: model complete \"opus\""),
        ]
    );
    let CaseOutcome::Agent(outcome) = &run.outcome else { panic!("a model is an agent's") };
    assert!(matches!(&outcome.ending, AgentEnding::Failed { .. }));
}

/// vcr#163: an entry that was never asked for fails, unless the case says that it may be left.
#[test]
fn a_tool_is_what_was_on_offer_unless_the_case_says_otherwise() {
    let folder = folder(&offered(), &shop());
    let tool = |fields: Value| json!({"tools": [with(json!({"name": "pay", "cassette": "shop.json"}), fields)]});
    let same_schema = tool(json!({"schema": offered()[0]["parameters"]}));
    check(&case(&folder, &with(agent(), same_schema)));
    let other = case(&folder, &with(agent(), tool(json!({"description": "Pays back."}))));
    let miss = &other.judge(&other.run(0)).misses[0];
    assert!(miss.ends_with("$.request.tools[0].description: expected \"Pays.\", found \"Pays back.\""), "{miss}");
}

#[test]
fn entries_may_be_left_where_the_case_says_so() {
    let mut entries = shop();
    entries.push(tool_entry("main", "pay", json!({"order": 8}), json!({"output": "paid"})));
    let folder = folder(&offered(), &entries);
    let left = "$.tools[0].cassette: shop.json: $.entries[3] of lane \"main\" was never asked for: tool \"pay\"";
    check_failures(&case(&folder, &agent()), &[left]);
    check(&case(&folder, &with(agent(), json!({"replay": {"allow_unconsumed": true}}))));
}

#[test]
fn what_answers_from_elsewhere_is_not_expected_of_a_cassette() {
    let folder = folder(&offered(), &shop());
    let schema = &offered()[0]["parameters"];
    let scripted = json!({"name": "pay", "description": "Pays.", "schema": schema, "script": [{"ok": "paid"}]});
    check(&case(&folder, &with(agent(), json!({"tools": [scripted]}))));
    let turns = json!([{"calls": [{"id": "x", "name": "pay", "arguments": {"order": 7}}]}, {"says": "It is paid."}]);
    check(&case(&folder, &with(agent(), json!({"model": {"turns": turns}}))));
}

/// A stream of each dialect, and a refusal before it: as a client of HTTP recorded them.
#[test]
fn traffic_over_http_answers_in_its_order() {
    let http = |status: u16, path: &str, headers: Value, body: &str| {
        let request = json!({"method": "POST", "path": path, "body": {"json": {"stream": true}}});
        let response = json!({"status": status, "headers": headers, "frames": [[100, body]], "end_us": 3_000_000});
        json!({"exchange": {"http": {"upstream": "service", "request": request, "response": response}}})
    };
    let events = json!([["content-type", "text/event-stream"]]);
    let calls = "data: {\"choices\": [{\"index\": 0, \"delta\": {\"tool_calls\": [{\"index\": 0, \"id\": \"p\", \"function\": \
                 {\"name\": \"pay\", \"arguments\": \"{\\\"order\\\": 7}\"}}]}, \"finish_reason\": \"tool_calls\"}]}\n\ndata: \
                 [DONE]\n\n";
    let says = [
        (
            "/v1/chat/completions",
            json!({"choices": [{"index": 0, "message": {"content": "It is paid."}, "finish_reason": "stop"}]}),
        ),
        (
            "/v1/responses",
            json!({"object": "response", "status": "completed", "output": [
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "It is paid."}]}]}),
        ),
        (
            "/v1/messages",
            json!({"type": "message", "content": [{"type": "text", "text": "It is paid."}], "stop_reason": "end_turn"}),
        ),
        (
            "/v1beta/models/m:generateContent",
            json!({"candidates": [
            {"content": {"parts": [{"text": "It is paid."}]}, "finishReason": "STOP"}]}),
        ),
    ];
    for (path, body) in says {
        let json_body = json!([["content-type", "application/json"]]);
        let folder = folder(
            &json!([]),
            &[
                http(529, "/v1/messages", json!([]), "{}"),
                http(200, "/v1/chat/completions", events.clone(), calls),
                http(200, "/v1/models", json_body.clone(), "{\"data\": []}"),
                http(200, path, json_body, &body.to_string()),
            ],
        );
        let tool = json!({"name": "pay", "parameters": {"order": "integer"}, "script": [{"ok": "paid"}]});
        let fields = json!({"tools": [tool], "model": {"cassette": "shop.json"}, "replay": {"timing": "recorded"}});
        let crashes = json!({"crashes": [{"at": "before-commit", "operation": "model:turn:0"}]});
        let run = run_of(&case(&folder, &with(with(agent(), fields.clone()), crashes)), 0);
        assert!(run.elapsed().as_secs() >= 9, "{path}");
        let shorter = json!({"model": {"cassette": "shop.json"}, "messages": [
            {"role": "user", "content": "Pay."}], "budget": {"turns_max": 1}, "expect": {"outcome": {"end": "turn-limit"}}});
        let mut shorter = with(with(agent(), fields), shorter);
        shorter.as_object_mut().unwrap().remove("prompt");
        let left = format!("{MODEL} $.entries[3] of lane \"main\" was never asked for: model complete \"\"");
        check_failures(&case(&folder, &shorter), &[&left]);
    }
}

#[test]
fn what_was_streamed_is_put_together() {
    let mut entries = shop();
    let deltas = [
        json!({"text": "It is "}),
        json!({"text": "paid."}),
        json!({"finished": {"finish_reason": "stop", "usage": {"input_tokens": 1, "output_tokens": 2}}}),
    ];
    let at = |delta: &Value| json!({"at_us": 5, "delta": delta});
    let deltas: Value = deltas.iter().map(at).collect();
    let exchange = &mut entries[2]["exchange"]["model"];
    exchange["operation"] = json!("stream");
    exchange["answer"] = json!({"stream": {"after_us": 1, "deltas": deltas, "end_us": 9}});
    check(&case(&folder(&offered(), &entries), &agent()));
}

#[test]
fn a_secret_is_redacted_on_both_sides() {
    let key = "sk-ant-api03-Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MA-abcdefghijklmnop";
    let redacted = |entry: Value| entry.to_string().replace("Pay.", "Pay with redacted-key-1.");
    let entries = shop().into_iter().map(|entry| serde_json::from_str(&redacted(entry)).unwrap());
    let folder = folder(&offered(), &entries.collect::<Vec<_>>());
    check(&case(&folder, &with(agent(), json!({"prompt": format!("Pay with {key}.")}))));
    let missed = case(&folder, &with(agent(), json!({"prompt": format!("Do pay with {key}.")})));
    let failures = missed.judge(&missed.run(0)).failures().join("\n");
    assert!(failures.contains("replay mismatch") && !failures.contains(key), "{failures}");
}

#[test]
fn tools_of_calls_and_programs_are_answered_too() {
    let entries = [
        tool_entry("main", "pay", json!({"order": 1}), json!({"output": "one"})),
        tool_entry("main", "pay", json!({"order": 2}), json!({"output": "two"})),
    ];
    let folder = folder(&json!([]), &entries);
    let tools = json!([{"name": "pay", "parameters": {"order": "integer"}, "cassette": "shop.json", "retries": 1}]);
    let call = |order: u64| json!({"name": "pay", "arguments": {"order": order}});
    let calls = json!({
        "tools": tools, "rng": 0.0, "calls": [call(1), call(2)], "replay": {"timing": "recorded"},
        "expect": {"results": [{"value": "one", "finished_us": 250_000}, {"value": "two", "finished_us": 500_000}]},
    });
    check(&case(&folder, &calls));
    let lost = json!({"faults": [{"when": {"event": "tool.body"}, "do": {"fault": "tool.lose_acknowledgment"}}],
        "expect": {"results": [{"value": "one", "attempts": 2}, {}]}});
    check(&case(&folder, &with(calls.clone(), lost)));
    let swapped = case(&folder, &with(calls.clone(), json!({"calls": [call(2), call(1)], "expect": null})));
    let failures = swapped.judge(&swapped.run(0)).failures();
    assert!(failures[0].starts_with("$.tools[0].cassette: shop.json: $.entries[1]: replay mismatch"), "{failures:?}");
    let keyed = json!({"calls": [call(2), call(1)], "expect": null, "replay": {"order": "keyed"}});
    check(&case(&folder, &with(calls, keyed)));

    let step = |order: u64| json!({"type": "tool_call", "tool": "pay", "arguments": {"order": {"type": "literal", "value": order}}});
    let program = json!({"schema_version": "2.0", "mode": "parallel", "body": [step(1), step(2)]});
    let tools = json!([{"name": "pay", "cassette": "shop.json"}]);
    let case_of = |fields| case(&folder, &with(json!({"tools": tools, "program": program}), fields));
    check(&case_of(json!({"expect": {"ok": ["one", "two"], "elapsed_ms": 0}})));
    check(&case_of(json!({"replay": {"timing": "recorded"}, "expect": {"ok": ["one", "two"], "elapsed_ms": 250}})));
}

#[test]
fn what_is_ignored_is_not_compared() {
    let folder = folder(&offered(), &shop());
    let fields = json!({"prompt": "Do pay.", "replay": {"ignore": ["$.request.messages", "$.request.model"]}});
    check(&case(&folder, &with(agent(), fields)));
}

#[test]
fn a_file_of_tools_names_cassettes_from_its_folder() {
    let folder = folder(&offered(), &[tool_entry("main", "pay", json!({"order": 1}), json!({"output": "one"}))]);
    let file = folder.path().join("tools.json");
    let tools = json!({"tools": [{"name": "pay", "cassette": "shop.json"}], "replay": {"timing": "recorded"}});
    fs::write(&file, tools.to_string()).unwrap();
    let tools = Tools::load(file.to_str().unwrap()).unwrap();
    let order = json!({"type": "literal", "value": 1});
    let call = json!({"type": "tool_call", "tool": "pay", "arguments": {"order": order}});
    let program = Program::from_value(&json!({"schema_version": "2.0", "body": [call]})).unwrap();
    let run = World::new(0).run(|world| async move {
        Evaluator::new(tools.provider(world.env())).env(world.env()).evaluate(&program).await
    });
    assert_eq!(run.elapsed.as_millis(), 250);
    assert_eq!(run.outcome.unwrap().into_value().unwrap(), "one");
}
