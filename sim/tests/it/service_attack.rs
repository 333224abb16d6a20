//! Services, and callers of them, under what must not happen.

use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::join_all;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use windtunnel_core::executor::{Executor, ToolCall};
use windtunnel_core::model::{Message, ModelError, ModelErrorKind, ModelRequest, ModelTransport};
use windtunnel_core::tool::{FunctionTool, Registry, ToolError, ToolSpec};
use windtunnel_sim::provider::{Dialect, Limits, Provider};
use windtunnel_sim::script::ScriptedModel;
use windtunnel_sim::service::{LINE_BYTES_MAX, RemoteModel, RemoteTool, serve_model, serve_tools};
use windtunnel_sim::{Process, World, WorldHandle};

const SECOND: Duration = Duration::from_secs(1);

fn any() -> Value {
    json!({"type": "object"})
}

/// So many arrays around nothing.
fn nested(depth: usize) -> Value {
    (0..depth).fold(Value::Null, |inner, _| Value::Array(vec![inner]))
}

/// A tool that does what it is told, and says how often it was asked.
async fn told(process: Process) {
    let effects = process.effects();
    let tool = FunctionTool::json("do", "Does.", any(), move |arguments, context| {
        let effects = effects.clone();
        async move {
            effects.happen("asked", None).await;
            context.env().sleep(Duration::from_millis(arguments["after_ms"].as_u64().unwrap_or(0))).await;
            match (arguments["bytes"].as_u64(), arguments["depth"].as_u64()) {
                (Some(bytes), _) if arguments["fail"] == "once" => {
                    Err(ToolError::retryable("x".repeat(bytes as usize)))
                }
                (Some(bytes), _) if arguments["fail"] == "always" => Err(ToolError::new("x".repeat(bytes as usize))),
                (Some(bytes), _) => Ok(json!("x".repeat(bytes as usize))),
                (_, Some(depth)) => Ok(nested(depth as usize)),
                _ => Ok(arguments["say"].clone()),
            }
        }
    });
    let mut tools = Registry::new();
    tools.register(tool).unwrap();
    serve_tools(process, 7000, tools).await.unwrap();
}

fn executor(process: &Process, retries: u32) -> Executor {
    let calling = process.clone();
    let connect = move || {
        let process = calling.clone();
        async move { process.connect("server", 7000).await }
    };
    let spec = ToolSpec { retries, timeout: Some(5 * SECOND), ..ToolSpec::new("do", "Does.", any()) };
    let mut tools = Registry::new();
    tools.register(RemoteTool::new(spec, connect)).unwrap();
    Executor::builder(tools).env(process.env()).build()
}

/// What a call comes to, and how often the tool was asked.
fn outcome(arguments: Value) -> (String, usize) {
    let run = World::new(7).run(|world| async move {
        world.host("server").unwrap().start(told);
        let executor = executor(&world.host("agent").unwrap().process(), 2);
        let result = executor.run_call(ToolCall::new("do", arguments)).await.unwrap();
        let told = match result.value() {
            Some(value) => format!("{} bytes", value.to_string().len()),
            None => result.error().unwrap().to_string(),
        };
        (told, world.effects().count("asked"))
    });
    run.outcome.unwrap()
}

#[test]
fn what_cannot_be_answered_is_said_once_and_not_tried_again() {
    let longest = LINE_BYTES_MAX - r#"{"jsonrpc":"2.0","id":1,"result":{"value":""}}"#.len();
    assert_eq!(outcome(json!({"bytes": longest})), (format!("{} bytes", longest + 2), 1));
    let too_long = |bytes| {
        let (told, asked) = outcome(json!({"bytes": bytes}));
        assert!(told.starts_with("tool-error: ") && told.contains("the answer cannot be written"), "{told}");
        asked
    };
    assert_eq!((too_long(longest + 1), too_long(2 * LINE_BYTES_MAX)), (1, 1));
    assert_eq!(outcome(json!({"depth": 128})), ("260 bytes".to_owned(), 1));
    for depth in [129, 20_000] {
        let (told, asked) = outcome(json!({"depth": depth}));
        assert!(told.contains("nested deeper than the 128 levels allowed"), "{told}");
        assert_eq!(asked, 1);
    }
}

#[test]
fn a_failure_that_says_too_much_is_still_the_failure_that_it_is() {
    let (told, asked) = outcome(json!({"bytes": LINE_BYTES_MAX, "fail": "once"}));
    assert_eq!((told.as_str(), asked), ("tool-failed: tool \"do\" failed after 3 attempts", 3));
    let (told, asked) = outcome(json!({"bytes": LINE_BYTES_MAX, "fail": "always"}));
    assert!(told.contains("what is said of the failure cannot be written"), "{told}");
    assert_eq!(asked, 1);
}

#[test]
fn arguments_come_as_deep_and_as_long_as_they_may_be_or_not_at_all() {
    assert_eq!(outcome(json!({"say": nested(127)})), ("258 bytes".to_owned(), 1));
    for arguments in [json!({"say": nested(128)}), json!({"say": "x".repeat(LINE_BYTES_MAX)})] {
        let (told, asked) = outcome(arguments);
        assert!(told.starts_with("tool-error: ") && told.contains("allowed"), "{told}");
        assert_eq!(asked, 0);
    }
}

#[test]
fn calls_at_once_through_one_tool_have_their_own_answers() {
    let scenario = |world: WorldHandle| async move {
        world.host("server").unwrap().start(told);
        let executor = executor(&world.host("agent").unwrap().process(), 0);
        let calls = (0..50).map(|nth| {
            let arguments = json!({"say": nth, "after_ms": nth * 7 % 50});
            let executor = &executor;
            async move { executor.run_call(ToolCall::new("do", arguments)).await.unwrap().value().cloned() }
        });
        join_all(calls).await
    };
    let run = World::new(7).check_determinism(scenario).unwrap();
    assert_eq!(run.outcome.unwrap(), (0..50).map(|nth| Some(json!(nth))).collect::<Vec<_>>());
}

#[test]
fn a_call_that_is_dropped_at_any_time_breaks_no_other() {
    for after_us in (0..4000).step_by(97) {
        let run = World::new(7).run(|world| async move {
            world.host("server").unwrap().start(told);
            let executor = executor(&world.host("agent").unwrap().process(), 0);
            let call = |say: u32| {
                let arguments = json!({"say": say, "after_ms": 1});
                let executor = executor.clone();
                async move { executor.run_call(ToolCall::new("do", arguments)).await.unwrap().value().cloned() }
            };
            let dropped = world.env().timeout(Duration::from_micros(after_us), call(1));
            let (_, other) = futures_util::join!(dropped, call(2));
            (other, call(3).await)
        });
        assert_eq!(run.outcome.unwrap(), (Some(json!(2)), Some(json!(3))), "dropped after {after_us} us");
    }
}

/// What a server says that answers every connection with these bytes.
fn answered(answer: String) -> (String, u32) {
    let run = World::new(7).run(|world| async move {
        world.host("server").unwrap().start(move |process| {
            let answer = answer.clone();
            async move {
                let listener = process.listen(7000).await.unwrap();
                while let Ok((mut stream, _)) = listener.accept().await {
                    let mut asked = [0; 4096];
                    let _some = stream.read(&mut asked).await;
                    let _sent = stream.write_all(answer.as_bytes()).await;
                }
            }
        });
        let executor = executor(&world.host("agent").unwrap().process(), 1);
        let result = executor.run_call(ToolCall::new("do", json!({}))).await.unwrap();
        (result.value().map_or("none".to_owned(), Value::to_string), result.attempts)
    });
    run.outcome.unwrap()
}

#[test]
fn only_the_answer_to_this_call_is_one() {
    let line = |id: &str, rest: &str| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},{rest}}}\n");
    let result = |id: &str, value: u32| line(id, &format!("\"result\":{{\"value\":{value}}}"));
    assert_eq!(answered(result("1", 5)), ("5".to_owned(), 1));
    assert_eq!(answered(result("1", 5) + &result("1", 6)), ("5".to_owned(), 1), "the first of two");
    assert_eq!(answered(result("1", 5) + "nonsense"), ("5".to_owned(), 1), "nothing is read after it");
    for answer in [
        result("2", 6) + &result("1", 5),
        result("null", 5),
        result("\"1\"", 5),
        result("1.0", 5),
        result("-1", 5),
        line("1", "\"method\":\"tool.call\",\"params\":{}"),
        line("1", "\"result\":{\"value\":5},\"error\":{\"code\":1,\"message\":\"x\"}"),
        "\n".to_owned() + &result("1", 5),
        result("1", 5).replace("1,\"result\"", "1,\"id\":1,\"result\""),
        "[".repeat(100_000) + "\n",
    ] {
        assert_eq!(answered(answer.clone()), ("none".to_owned(), 2), "{}", &answer[..answer.len().min(80)]);
    }
    assert_eq!(answered("x".repeat(LINE_BYTES_MAX + 1)).1, 1, "what is too long will be again");
}

fn model<M: ModelTransport + 'static>(
    world: &WorldHandle,
    make: impl Fn(&Process) -> M + Send + Sync + 'static,
) -> RemoteModel {
    world.host("server").unwrap().start(move |process| {
        let model = make(&process);
        async move { serve_model(process, 80, model).await.unwrap() }
    });
    let calling = world.host("agent").unwrap().process();
    let env = calling.env();
    let connect = move || {
        let process = calling.clone();
        async move { process.connect("server", 80).await }
    };
    RemoteModel::new(env, connect).timeout(5 * SECOND)
}

#[test]
fn every_way_to_fail_crosses_the_network() {
    use ModelErrorKind::{
        Connection, InvalidRequest, InvalidResponse, Overloaded, QuotaExhausted, RateLimited, Server, Timeout,
    };
    let kinds = [RateLimited, QuotaExhausted, Overloaded, Server, InvalidRequest, Timeout, Connection, InvalidResponse];
    let run = World::new(7).run(|world| async move {
        let turns = kinds.map(|kind| Err(ModelError::new(kind, "so it is")));
        let model = model(&world, move |_process| ScriptedModel::new(turns.clone()));
        let mut told = Vec::new();
        for _ in kinds {
            let error = model.complete(&ModelRequest::default()).await.unwrap_err();
            told.push((error.kind, error.message));
        }
        told
    });
    assert_eq!(run.outcome.unwrap(), kinds.map(|kind| (kind, "so it is".to_owned())));
}

#[test]
fn a_response_that_cannot_be_written_is_said_and_is_no_lost_connection() {
    let run = World::new(7).run(|world| async move {
        let long = "x".repeat(LINE_BYTES_MAX);
        let turns = vec![ScriptedModel::says(&long), ScriptedModel::says(&long), ScriptedModel::says("Short.")];
        let model = model(&world, move |_process| ScriptedModel::new(turns.clone()));
        let whole = model.complete(&ModelRequest::default()).await.unwrap_err().kind;
        let request = ModelRequest::default();
        let pieces: Vec<_> = match model.stream(&request).await {
            Ok(pieces) => pieces.collect().await,
            Err(error) => vec![Err(error)],
        };
        let next = model.complete(&ModelRequest::default()).await.unwrap().message.content;
        (whole, pieces.last().unwrap().as_ref().unwrap_err().kind, next)
    });
    let invalid = ModelErrorKind::InvalidResponse;
    assert_eq!(run.outcome.unwrap(), (invalid, invalid, "Short.".to_owned()));
}

#[test]
fn requests_at_once_through_one_model_have_their_own_answers() {
    let scenario = |world: WorldHandle| async move {
        let turns: Vec<_> = (0..20).map(|nth| ScriptedModel::says(format!("answer {nth}"))).collect();
        let model = model(&world, move |process| {
            ScriptedModel::new(turns.clone()).latency(process.env(), Duration::from_millis(20))
        });
        let request = ModelRequest { messages: vec![Message::user("?")], ..ModelRequest::default() };
        let answers = join_all((0..20).map(|_| model.complete(&request))).await;
        let mut said: Vec<_> = answers.into_iter().map(|answer| answer.unwrap().message.content).collect();
        said.sort_by_key(|text| text.strip_prefix("answer ").and_then(|nth| nth.parse::<u32>().ok()));
        said
    };
    let run = World::new(7).check_determinism(scenario).unwrap();
    assert_eq!(run.outcome.unwrap(), (0..20).map(|nth| format!("answer {nth}")).collect::<Vec<_>>());
}

#[test]
fn a_stream_that_nobody_reads_any_more_is_over_for_the_provider_too() {
    let run = World::new(7).run(|world| async move {
        let limits = Limits { at_once: Some(1), ..Limits::default() };
        let provider = Provider::new(Dialect::Anthropic, limits);
        let model = model(&world, move |process| {
            let long = ScriptedModel::says("word ".repeat(50));
            let model = ScriptedModel::new((0..5).map(|_| long.clone()));
            provider.limit(process.env(), model.latency(process.env(), Duration::from_millis(100)))
        });
        let request = ModelRequest::default();
        let mut pieces = model.stream(&request).await.unwrap();
        pieces.next().await.unwrap().unwrap();
        let busy = model.complete(&request).await.unwrap_err().kind;
        drop(pieces);
        world.env().sleep(10 * SECOND).await;
        (busy, model.complete(&request).await.is_ok())
    });
    assert_eq!(run.outcome.unwrap(), (ModelErrorKind::RateLimited, true));
}
