//! Faults: each does what it says, once, at its event; a run says which came; what was drawn can be planned.

use std::time::Duration;

use futures_util::StreamExt;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use windtunnel_core::BoxError;
use windtunnel_core::executor::{Executor, Outcome, ToolCall};
use windtunnel_core::model::{ModelRequest, ModelTransport, ResponseBuilder};
use windtunnel_core::tool::{FunctionTool, Registry};
use windtunnel_sim::fault::{FaultKind, FaultPlan, RandomFaults};
use windtunnel_sim::script::ScriptedModel;
use windtunnel_sim::{Process, Run, World, WorldError, WorldHandle};

fn plan(when: Value, action: Value) -> FaultPlan {
    FaultPlan::from_json(&json!([{"when": when, "do": action}]).to_string()).unwrap()
}

fn kinds<T>(run: &Run<T>) -> Vec<&'static str> {
    run.faults.iter().map(|delivered| delivered.fault.action.kind().name()).collect()
}

/// A call of `pay` through an executor that tries twice: its status, how often it has paid, how often it was asked.
async fn pay(world: WorldHandle) -> (String, usize, Duration) {
    let effects = world.effects();
    let tool = FunctionTool::json("pay", "Pays.", json!({"type": "object"}), move |_, _| {
        let effects = effects.clone();
        async move {
            effects.happen("payment", None).await;
            Ok::<_, BoxError>(json!("receipt 17"))
        }
    });
    let mut registry = Registry::new();
    registry.register(world.faults().tool(tool.retries(1).timeout(Duration::from_secs(20)))).unwrap();
    let executor = Executor::builder(registry).env(world.env()).sink(world.trace()).build();
    let result = executor.run_call(ToolCall::new("pay", json!({}))).await.unwrap();
    let told = match result.outcome {
        Outcome::Ok(value) => value.to_string(),
        Outcome::Error(error) => error.kind.as_str().to_owned(),
        Outcome::Pending { .. } => "pending".to_owned(),
    };
    (told, world.effects().count("payment"), world.env().now())
}

#[test]
fn each_fault_of_a_tool_does_what_it_says() {
    let first = json!({"event": "tool.body"});
    let tell = |fault: Value| {
        let run = World::new(7).faults(plan(first.clone(), fault.clone())).run(pay);
        assert_eq!(kinds(&run), [fault["fault"].as_str().unwrap()]);
        let delivered = run.trace.iter().filter(|event| event.kind.name() == "fault.delivered").count();
        assert_eq!(delivered, 1);
        run.outcome.unwrap()
    };
    let paid = |told: &str, payments| (told.to_owned(), payments);
    let of = |fault| {
        let (told, payments, _) = tell(fault);
        (told, payments)
    };
    assert_eq!(of(json!({"fault": "tool.error"})), paid("\"receipt 17\"", 1));
    assert_eq!(of(json!({"fault": "tool.error", "retryable": false})), paid("tool-error", 0));
    assert_eq!(of(json!({"fault": "tool.hang"})), paid("\"receipt 17\"", 1));
    assert_eq!(of(json!({"fault": "tool.duplicate"})), paid("\"receipt 17\"", 2));
    assert_eq!(of(json!({"fault": "tool.lose_acknowledgment"})), paid("\"receipt 17\"", 2));
    assert_eq!(of(json!({"fault": "tool.malformed_result"})), paid("\"\\\"recei\"", 1));
    let (told, payments, ended) = tell(json!({"fault": "tool.delay", "delay_s": 3}));
    assert_eq!((told.as_str(), payments, ended), ("\"receipt 17\"", 1, Duration::from_secs(3)));
    let (_, payments, ended) = tell(json!({"fault": "tool.late_answer", "delay_s": 30}));
    assert!(payments == 2 && ended > Duration::from_secs(20), "the first came too late: {payments} at {ended:?}");
}

#[test]
fn a_fault_of_a_tool_may_be_planned_at_any_event_of_its_call() {
    let at_second_attempt = json!([
        {"when": {"event": "tool.body"}, "do": {"fault": "tool.error"}},
        {"when": {"event": "tool.attempt", "tool": "pay", "nth": 2}, "do": {"fault": "tool.duplicate"}},
    ]);
    let run = World::new(7).faults(FaultPlan::from_json(&at_second_attempt.to_string()).unwrap()).run(pay);
    assert_eq!(kinds(&run), ["tool.error", "tool.duplicate"]);
    assert_eq!(run.outcome.unwrap().1, 2);
}

#[test]
fn a_plan_of_which_nothing_comes_fails_its_run() {
    let never = plan(json!({"event": "tool.body", "nth": 9}), json!({"fault": "tool.hang"}));
    let run = World::new(7).faults(never).run(pay);
    assert!(matches!(run.outcome, Err(WorldError::NoFaultDelivered { planned: 1 })), "{:?}", run.outcome);
    let of_nobody = plan(json!({"event": "tool.body"}), json!({"fault": "model.refusal"}));
    let run = World::new(7).faults(of_nobody).run(pay);
    assert!(matches!(run.outcome, Err(WorldError::NoFaultDelivered { planned: 1 })), "{:?}", run.outcome);
}

/// What a model says whole, and in pieces, under one fault.
fn ask(fault: Value) -> [String; 2] {
    let whole_or_pieces = |in_pieces: bool| {
        let run =
            World::new(7).faults(plan(json!({"event": "model.request"}), fault.clone())).run(|world| async move {
                let call = ToolCall::new("search", json!({"query": "warranty"})).with_id("call-1");
                let model = world.faults().model(ScriptedModel::new([ScriptedModel::calls([call])]));
                let request = ModelRequest::default();
                let answer = if in_pieces {
                    async {
                        let mut pieces = model.stream(&request).await?;
                        let mut builder = ResponseBuilder::default();
                        while let Some(piece) = pieces.next().await {
                            builder.push(piece?)?;
                        }
                        builder.finish()
                    }
                    .await
                } else {
                    model.complete(&request).await
                };
                match answer {
                    Ok(response) => format!(
                        "{:?} {:?}",
                        response.finish_reason,
                        response.message.tool_calls.first().map(|call| call.name.clone())
                    ),
                    Err(error) => format!("{} {:?}", error.kind.as_str(), error.retry_after),
                }
            });
        run.outcome.unwrap()
    };
    [false, true].map(whole_or_pieces)
}

#[test]
fn each_fault_of_a_model_does_what_it_says() {
    assert_eq!(ask(json!({"fault": "model.rate_limited", "retry_after_s": 2.5})), ["rate-limited Some(2.5s)"; 2]);
    assert_eq!(ask(json!({"fault": "model.server_error"})), ["server None"; 2]);
    assert_eq!(ask(json!({"fault": "model.overloaded"})), ["overloaded None"; 2]);
    assert_eq!(ask(json!({"fault": "model.timeout", "after_s": 30})), ["timeout None"; 2]);
    assert_eq!(ask(json!({"fault": "model.truncated_stream"})), ["connection None"; 2]);
    assert_eq!(ask(json!({"fault": "model.stalled_stream", "after_s": 30})), ["connection None"; 2]);
    assert_eq!(ask(json!({"fault": "model.delay", "delay_s": 30})), [r#"ToolCalls Some("search")"#; 2]);
    assert_eq!(ask(json!({"fault": "model.malformed_json"})), ["invalid-response None"; 2]);
    assert_eq!(ask(json!({"fault": "model.refusal"})), ["Refusal None"; 2]);
    assert_eq!(ask(json!({"fault": "model.wrong_tool"})), [r#"ToolCalls Some("no_such_tool")"#; 2]);
}

/// A server that says what its wall clock shows, and a client that asks it every second for a minute: what it heard.
async fn ask_the_time(world: WorldHandle) -> Vec<Option<u64>> {
    let epoch = world.env().wall();
    let server = world.host("server").unwrap();
    server.start(move |process: Process| async move {
        let Ok(listener) = process.listen(80).await else { return };
        while let Ok((mut stream, _)) = listener.accept().await {
            let process = process.clone();
            let env = process.env();
            let _running = process.spawn(async move {
                let shown = env.wall().duration_since(epoch).unwrap_or_default();
                let _gone = stream.write_u64(shown.as_secs()).await;
            });
        }
    });
    let client = world.host("client").unwrap().process();
    let mut heard = Vec::new();
    for _ in 0..60 {
        let asking = async {
            let mut stream = client.connect("server", 80).await?;
            stream.read_u64().await
        };
        heard.push(client.env().timeout(Duration::from_millis(500), asking).await.ok().and_then(Result::ok));
        client.env().until(Duration::from_secs(heard.len() as u64)).await;
    }
    heard
}

/// How many of sixty questions were answered, with one fault at the tenth.
fn answered(action: Value) -> (usize, Vec<&'static str>) {
    let at_tenth = json!({"event": "network.connect", "nth": 10});
    let run = World::new(7).faults(plan(at_tenth, action)).run(ask_the_time);
    let world_events = ["host.", "link.", "clock."];
    let of_world = |name: &&str| world_events.iter().any(|prefix| name.starts_with(prefix)) && *name != "host.started";
    let names = run.trace.iter().map(|event| event.kind.name()).filter(of_world).collect();
    (run.outcome.unwrap().iter().flatten().count(), names)
}

#[test]
fn each_fault_of_hosts_and_links_lasts_as_long_as_it_says() {
    let crash = json!({"fault": "host.crash", "host": "server", "restart_after_s": 19.5});
    assert_eq!(answered(crash), (40, vec!["host.crashed"]));
    let cut = json!({"fault": "host.power_cut", "host": "server", "restart_after_s": 9.5});
    assert_eq!(answered(cut), (50, vec!["host.power_cut"]));
    let pause = json!({"fault": "host.pause", "host": "server", "resume_after_s": 9.5});
    assert_eq!(answered(pause), (50, vec!["host.paused", "host.resumed"]));
    let for_good = json!({"fault": "host.crash", "host": "server"});
    assert_eq!(answered(for_good).0, 9);
    let restart = json!({"fault": "host.restart", "host": "server"});
    assert_eq!(answered(restart), (60, vec!["host.crashed"]), "it is up again before the question comes");
    let partition = json!({"fault": "network.partition", "heal_after_s": 4.5});
    let (count, events) = answered(partition);
    assert_eq!((count, events.as_slice()), (55, ["link.cut", "link.cut", "link.restored", "link.restored"].as_slice()));
    let latency = json!({"fault": "network.latency", "latency_s": 0.4, "heal_after_s": 9.5});
    assert_eq!(answered(latency).0, 50);
    let loss = json!({"fault": "network.loss", "loss": 1.0, "heal_after_s": 9.5});
    assert_eq!(answered(loss).0, 50);
}

#[test]
fn a_clock_is_wrong_until_the_world_heals() {
    let skew = plan(
        json!({"event": "network.connect", "nth": 10}),
        json!({"fault": "clock.skew", "host": "server", "ahead_s": 1000}),
    );
    let run = World::new(7).faults(skew).heal_after(Duration::from_secs(30)).run(ask_the_time);
    let heard: Vec<_> = run.outcome.unwrap().into_iter().flatten().collect();
    assert_eq!(heard.len(), 60);
    assert_eq!((heard[8], heard[9], heard[29], heard[30]), (8, 1009, 1029, 30));
}

#[test]
fn a_world_heals_whatever_went_wrong() {
    let for_good = json!([
        {"when": {"event": "network.connect", "nth": 10}, "do": {"fault": "network.partition"}},
        {"when": {"event": "network.connect", "nth": 11}, "do": {"fault": "host.power_cut", "host": "server"}},
        {"when": {"event": "network.connect", "nth": 40}, "do": {"fault": "host.crash", "host": "server"}},
    ]);
    let plan = FaultPlan::from_json(&for_good.to_string()).unwrap();
    let run = World::new(7).faults(plan).heal_after(Duration::from_secs(20)).run(ask_the_time);
    assert_eq!(kinds(&run), ["network.partition", "host.power_cut"], "none comes after the world has healed");
    let heard = run.outcome.unwrap();
    assert!(heard[9..19].iter().all(Option::is_none) && heard[21..].iter().all(Option::is_some), "{heard:?}");
}

#[test]
fn what_was_drawn_gives_the_same_run_when_it_is_planned() {
    let random = RandomFaults::swarm().rate(0.05);
    let mut drawn_kinds = std::collections::BTreeSet::new();
    for seed in 0..60 {
        let world = World::new(seed).heal_after(Duration::from_secs(40));
        let drawn = world.clone().random_faults(random.clone()).run(ask_the_time);
        let plan = FaultPlan::new(drawn.faults.iter().map(|delivered| delivered.fault.clone()));
        drawn_kinds.extend(plan.faults.iter().map(|fault| fault.action.kind()));
        let planned = world.faults(plan).run(ask_the_time);
        assert_eq!(drawn.trace, planned.trace, "seed {seed}");
        assert_eq!(drawn.faults, planned.faults, "seed {seed}");
    }
    let of_world = FaultKind::ALL
        .into_iter()
        .filter(|kind| !["tool", "model", "journal", "disk"].iter().any(|of| kind.name().starts_with(of)));
    let missing: Vec<_> = of_world.filter(|kind| !drawn_kinds.contains(kind)).collect();
    assert!(missing.is_empty(), "never drawn: {missing:?}");
}

/// A host that appends a record to a file every second and syncs it, ten times in each of its lives: what each attempt came to.
async fn keep_a_log(world: WorldHandle) -> (Vec<Option<std::io::ErrorKind>>, usize) {
    let host = world.host("logger").unwrap();
    let attempts = std::sync::Arc::new(parking_lot::Mutex::new(Vec::new()));
    let told = std::sync::Arc::clone(&attempts);
    host.start(move |process: Process| {
        let told = std::sync::Arc::clone(&told);
        async move {
            let disk = process.disk();
            for second in 1..=10 {
                let append = async {
                    let mut file = disk.options().append(true).create(true).open("/log").await?;
                    file.write_all(b"record.").await?;
                    file.sync_all().await?;
                    disk.sync_dir("/").await
                };
                let appended = append.await.map_err(|error: std::io::Error| error.kind()).err();
                told.lock().push(appended);
                process.env().until(Duration::from_secs(second)).await;
            }
        }
    });
    world.env().until(Duration::from_secs(60)).await;
    let kept = host.process().disk().read("/log").await.unwrap();
    let attempts = attempts.lock().clone();
    (attempts, kept.len() / 7)
}

#[test]
fn each_fault_of_a_disk_does_what_it_says() {
    let log = |when: Value, action: Value| World::new(7).faults(plan(when, action)).run(keep_a_log).outcome.unwrap();
    let third = || json!({"event": "disk.write", "nth": 3});
    let (attempts, kept) = log(third(), json!({"fault": "disk.full", "heal_after_s": 2.5}));
    let full: Vec<_> = attempts.iter().map(|error| *error == Some(std::io::ErrorKind::StorageFull)).collect();
    assert_eq!((&full[..6], kept), ([false, false, true, true, true, false].as_slice(), 7));
    let (attempts, kept) = log(third(), json!({"fault": "disk.error", "heal_after_s": 2.5}));
    assert_eq!((attempts.iter().flatten().count(), kept), (3, 7));
    let (attempts, kept) = log(third(), json!({"fault": "disk.torn_write", "restart_after_s": 0.5}));
    assert!(
        attempts.iter().all(Option::is_none) && (12..=13).contains(&kept),
        "two before, ten after: {kept} of {attempts:?}"
    );
    let lost = json!([
        {"when": {"event": "disk.sync"}, "do": {"fault": "disk.lose_flush"}},
        {"when": {"event": "disk.write", "nth": 9}, "do": {"fault": "host.power_cut", "restart_after_s": 1}},
    ]);
    let kept = |seed| {
        let run = World::new(seed).faults(FaultPlan::from_json(&lost.to_string()).unwrap()).run(keep_a_log);
        run.outcome.unwrap_or_default().1
    };
    assert!(
        (0..20).any(|seed| kept(seed) < 18),
        "eight acknowledged records before the cut are safe with a disk that lies"
    );
}

#[test]
fn a_fault_lasts_as_long_as_it_says_whatever_other_one_ends_before() {
    let answers = |first: Value, second: Value| {
        let both = json!([
            {"when": {"event": "network.connect", "nth": 10}, "do": first},
            {"when": {"event": "network.connect", "nth": 12}, "do": second},
        ]);
        let run = World::new(7).faults(FaultPlan::from_json(&both.to_string()).unwrap()).run(ask_the_time);
        assert_eq!(run.faults.len(), 2, "{both}");
        run.outcome.unwrap().iter().flatten().count()
    };
    let partition = |after_s: f64| json!({"fault": "network.partition", "heal_after_s": after_s});
    assert_eq!(answers(partition(19.5), partition(4.5)), 40);
    assert_eq!(answers(partition(4.5), partition(19.5)), 38);
    let latency = json!({"fault": "network.latency", "latency_s": 0.4, "heal_after_s": 19.5});
    let loss = json!({"fault": "network.loss", "loss": 0.0, "heal_after_s": 4.5});
    assert_eq!(answers(latency, loss), 40, "the end of the one is not that of the other");
}
