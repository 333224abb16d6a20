//! Tools and models as services of other hosts.

use std::time::Duration;

use futures_util::{StreamExt, TryStreamExt};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use windtunnel_core::BoxError;
use windtunnel_core::executor::{Executor, ToolCall};
use windtunnel_core::model::{
    Delta, ModelError, ModelErrorKind, ModelRequest, ModelResponse, ModelTransport, ResponseBuilder,
};
use windtunnel_core::tool::{FunctionTool, Registry, ToolError, ToolSpec};
use windtunnel_sim::fault::FaultPlan;
use windtunnel_sim::script::ScriptedModel;
use windtunnel_sim::service::{LINE_BYTES_MAX, RemoteModel, RemoteTool, serve_model, serve_tools};
use windtunnel_sim::{Process, World, WorldHandle};

const WORK: Duration = Duration::from_millis(50);

fn any() -> Value {
    json!({"type": "object"})
}

/// A bank that pays, refuses those without a name, and is busy for Eve.
async fn bank(process: Process) {
    let effects = process.effects();
    let pay = FunctionTool::json("pay", "Pays.", any(), move |arguments, context| {
        let effects = effects.clone();
        async move {
            context.env().sleep(WORK).await;
            match arguments["to"].as_str() {
                None => return Err(ToolError::new("say to whom")),
                Some("Eve") => return Err(ToolError::retryable("busy")),
                Some(_) => {}
            }
            effects.happen("payment", context.idempotency_key().map(|key| &**key)).await;
            context.env().sleep(WORK).await;
            Ok(json!({"call": context.call_id(), "amount": arguments["amount"]}))
        }
    });
    let mut tools = Registry::new();
    tools.register(process.faults().tool(pay)).unwrap();
    serve_tools(process, 7000, tools).await.unwrap();
}

fn executor(process: &Process, spec: ToolSpec) -> Executor {
    let calling = process.clone();
    let connect = move || {
        let process = calling.clone();
        async move { process.connect("bank", 7000).await }
    };
    let mut tools = Registry::new();
    tools.register(RemoteTool::new(spec, connect)).unwrap();
    Executor::builder(tools).env(process.env()).build()
}

fn pay(retries: u32) -> ToolSpec {
    ToolSpec { retries, timeout: Some(Duration::from_secs(5)), ..ToolSpec::new("pay", "Pays.", any()) }
}

fn scene(world: &WorldHandle, spec: ToolSpec) -> Executor {
    world.host("bank").unwrap().start(bank);
    executor(&world.host("agent").unwrap().process(), spec)
}

#[test]
fn a_call_keeps_its_id_its_key_and_its_numbers() {
    let scenario = |world: WorldHandle| async move {
        let executor = scene(&world, pay(0)).with_idempotency_key(Some("refund-7".into()));
        let call = ToolCall::new("pay", json!({"to": "Ada", "amount": 5.0})).with_id("call-of-the-model");
        let result = executor.run_call(call).await.unwrap();
        (result.value().unwrap().to_string(), world.effects().repeated("payment"), world.effects().all()[0].key.clone())
    };
    let run = World::new(7).check_determinism(scenario).unwrap();
    let names: Vec<_> = run.trace.iter().map(|event| event.kind.name()).collect();
    let (asked, answered) =
        (["network.connect", "network.send", "network.receive"], ["network.send", "network.receive"]);
    assert_eq!(names[..1], ["host.started"]);
    assert_eq!(names[1..4], asked);
    assert_eq!(names[4..6], ["tool.body", "effect.happened"]);
    assert_eq!(names[6..], answered);
    let value = r#"{"call":"call-of-the-model","amount":5.0}"#.to_owned();
    assert_eq!(run.outcome.unwrap(), (value, vec![], Some("refund-7".into())));
}

#[test]
fn what_a_tool_says_of_its_failure_goes_on_to_the_caller() {
    let attempts = |arguments: Value, spec: ToolSpec| {
        let run = World::new(7).run(|world| async move {
            let call = ToolCall::new(spec.name.as_str(), arguments);
            let result = scene(&world, spec).run_call(call).await.unwrap();
            (result.attempts, result.error().unwrap().to_string())
        });
        run.outcome.unwrap()
    };
    assert_eq!(attempts(json!({}), pay(3)), (1, "tool-error: say to whom".to_owned()));
    let busy = attempts(json!({"to": "Eve"}), pay(3));
    assert_eq!(busy, (4, "tool-failed: tool \"pay\" failed after 4 attempts".to_owned()));
    let unknown = attempts(json!({}), ToolSpec::new("borrow", "Borrows.", any()));
    assert_eq!(unknown, (1, "tool-error: there is no tool named \"borrow\"".to_owned()));
    let unreachable = World::new(7).run(|world| async move {
        let executor = executor(&world.host("agent").unwrap().process(), pay(2));
        executor.run_call(ToolCall::new("pay", json!({}))).await.unwrap().attempts
    });
    assert_eq!(unreachable.outcome.unwrap(), 3);
}

#[test]
fn a_call_whose_connection_is_lost_is_tried_again_and_goes_on_where_it_began() {
    for plan in [
        r#"[{"when": {"event": "effect.happened"}, "do": {"fault": "network.reset"}}]"#,
        r#"[{"when": {"event": "effect.happened"}, "do": {"fault": "host.restart"}}]"#,
        r#"[{"when": {"event": "effect.happened"}, "do": {"fault": "host.power_cut", "restart_after_s": 1}}]"#,
        r#"[{"when": {"event": "tool.body"}, "do": {"fault": "tool.hang"}}]"#,
    ] {
        let world = World::new(7).faults(FaultPlan::from_json(plan).unwrap());
        let run = world.run(|world| async move {
            let executor = scene(&world, pay(9));
            let result = executor.run_call(ToolCall::new("pay", json!({"to": "Ada"}))).await.unwrap();
            (result.status(), result.attempts > 1)
        });
        assert_eq!(run.outcome.unwrap(), ("ok", true), "{plan}");
    }
    let run = World::new(7).run(|world| async move {
        let executor = scene(&world, pay(0));
        let calling = executor.run_call(ToolCall::new("pay", json!({"to": "Ada"})));
        let given_up = world.env().timeout(WORK / 2, calling).await.is_err();
        let before = world.effects().count("payment");
        world.env().sleep(Duration::from_secs(1)).await;
        (given_up, before, world.effects().count("payment"))
    });
    assert_eq!(run.outcome.unwrap(), (true, 0, 1), "whoever asks goes away, and the tool does its work");
}

type Turn = Result<ModelResponse, ModelError>;

fn agent(world: &WorldHandle, turns: Vec<Turn>) -> RemoteModel {
    world.host("model").unwrap().start(move |process| {
        let model = ScriptedModel::new(turns.clone()).latency(process.env(), WORK);
        async move {
            let model = process.faults().model(model);
            serve_model(process, 80, model).await.unwrap();
        }
    });
    let agent = world.host("agent").unwrap().process();
    let calling = agent.clone();
    let connect = move || {
        let process = calling.clone();
        async move { process.connect("model", 80).await }
    };
    RemoteModel::new(agent.env(), connect).timeout(Duration::from_secs(5))
}

fn calls() -> Turn {
    ScriptedModel::calls([ToolCall::new("pay", json!({"to": "Ada", "amount": 5.0})).with_id("a")])
}

async fn pieces_of(model: &RemoteModel) -> Result<Vec<Delta>, ModelError> {
    model.stream(&ModelRequest::default()).await?.try_collect().await
}

async fn streamed(model: &RemoteModel) -> Turn {
    let mut builder = ResponseBuilder::default();
    for delta in pieces_of(model).await? {
        builder.push(delta)?;
    }
    builder.finish()
}

#[test]
fn a_model_answers_as_a_whole_and_in_pieces() {
    let run = World::new(7).run(|world| async move {
        let model = agent(&world, vec![calls(), calls(), ScriptedModel::says("Ada has her money.")]);
        let whole = model.complete(&ModelRequest::default()).await;
        let pieces = streamed(&model).await;
        let request = ModelRequest::default();
        let texts = model.stream(&request).await.unwrap().collect::<Vec<_>>().await.len();
        (whole, pieces, texts)
    });
    assert_eq!(run.outcome.unwrap(), (calls(), calls(), 5), "four words and the end");
}

#[test]
fn a_model_says_how_it_failed() {
    let busy = ModelError {
        retry_after: Some(Duration::from_millis(1500)),
        ..ModelError::new(ModelErrorKind::RateLimited, "too many")
    };
    let failed = busy.clone();
    let run = World::new(7).run(|world| async move {
        let model = agent(&world, vec![Err(busy.clone()), Err(busy)]);
        let whole = model.complete(&ModelRequest::default()).await.unwrap_err();
        let pieces = streamed(&model).await.unwrap_err();
        world.host("model").unwrap().power_cut();
        (whole, pieces, model.complete(&ModelRequest::default()).await.unwrap_err().kind)
    });
    assert_eq!(run.outcome.unwrap(), (failed.clone(), failed, ModelErrorKind::Timeout));
}

#[test]
fn a_stream_that_is_cut_is_a_lost_connection_and_never_a_response() {
    for nth in 1..=5 {
        for fault in ["host.crash", "network.reset"] {
            let plan = format!(
                r#"[{{"when": {{"event": "network.send", "host": "model", "nth": {nth}}}, "do": {{"fault": "{fault}"}}}}]"#
            );
            let world = World::new(7).faults(FaultPlan::from_json(&plan).unwrap());
            let run = world.run(|world| async move {
                let model = agent(&world, vec![ScriptedModel::says("Ada has her money.")]);
                pieces_of(&model).await.unwrap_err().kind
            });
            assert_eq!(run.outcome.unwrap(), ModelErrorKind::Connection, "{plan}");
        }
    }
    let plan = r#"[{"when": {"event": "model.request"}, "do": {"fault": "model.truncated_stream"}}]"#;
    let run = World::new(7).faults(FaultPlan::from_json(plan).unwrap()).run(|world| async move {
        let model = agent(&world, vec![ScriptedModel::says("Ada has her money.")]);
        pieces_of(&model).await.unwrap_err().kind
    });
    assert_eq!(run.outcome.unwrap(), ModelErrorKind::Connection);
}

/// What the bank says to these bytes until it ends the connection.
async fn said_to(process: &Process, bytes: &[u8]) -> Result<String, BoxError> {
    let mut stream = process.connect("bank", 7000).await?;
    stream.write_all(bytes).await?;
    stream.shutdown().await?;
    let mut said = String::new();
    stream.read_to_string(&mut said).await?;
    Ok(said)
}

#[test]
fn what_is_no_call_is_refused_with_a_reason() {
    let lines = [
        (b"\xff\n".as_slice(), r#""id":null,"error":{"code":-32700,"message":"it is not UTF-8"}}"#),
        (b"\n", r#""id":null,"error":{"code":-32700,"message":"it is no JSON at line 1, column 1"}}"#),
        (b"nonsense\n", r#""id":null,"error":{"code":-32700,"message":"it is no JSON at line 1, column 1"}}"#),
        (b"[]\n", r#""id":null,"error":{"code":-32600,"message":"it is no message of JSON-RPC 2.0"}}"#),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"tool.list\",\"params\":{}}\n",
            r#""id":4,"error":{"code":-32601,"message":"tools are called by `tool.call`"}}"#,
        ),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"tool.call\",\"params\":{}}\n",
            r#""id":5,"error":{"code":-32602,"message":"a call has `name`, `arguments`, `call_id` and perhaps `idempotency_key`"}}"#,
        ),
    ];
    let run = World::new(7).run(|world| async move {
        let _executor = scene(&world, pay(0));
        let agent = world.host("agent").unwrap().process();
        for (line, expected) in lines {
            let said = said_to(&agent, line).await.unwrap();
            assert_eq!(said, format!("{{\"jsonrpc\":\"2.0\",{expected}\n"));
        }
        let endless = vec![b'x'; LINE_BYTES_MAX + 1];
        let refused = r#""error":{"code":-32600,"message":"a message is longer than the 1048576 bytes allowed"}}"#;
        let said = said_to(&agent, &endless).await.unwrap();
        assert_eq!(said, format!("{{\"jsonrpc\":\"2.0\",\"id\":null,{refused}\n"));
    });
    run.outcome.unwrap();
}

#[test]
fn an_answer_that_is_none_is_an_error_that_may_pass() {
    for answer in ["nonsense\n", "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":5}\n", "{\"jsonrpc\":\"2.0\",\"id\":1,", ""]
    {
        let run = World::new(7).run(|world| async move {
            world.host("bank").unwrap().start(move |process| async move {
                let listener = process.listen(7000).await.unwrap();
                while let Ok((mut stream, _)) = listener.accept().await {
                    let mut asked = [0; 16];
                    let _some = stream.read(&mut asked).await;
                    let _sent = stream.write_all(answer.as_bytes()).await;
                }
            });
            let executor = executor(&world.host("agent").unwrap().process(), pay(1));
            executor.run_call(ToolCall::new("pay", json!({"to": "Ada"}))).await.unwrap().attempts
        });
        assert_eq!(run.outcome.unwrap(), 2, "{answer:?}");
    }
}
