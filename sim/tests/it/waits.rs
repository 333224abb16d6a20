//! A world that comes to no end says who waits for what.

use std::num::NonZeroU32;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::Mutex;
use windtunnel_core::env::{Env, Resource};
use windtunnel_core::executor::{
    ApprovalPort, ApprovalRequest, CallContext, Decision, Executor, Ports, RunLimits, ToolCall, ToolContext,
};
use windtunnel_core::tool::{FunctionTool, Registry};
use windtunnel_core::{BoxError, BoxFuture};
use windtunnel_sim::{Host, Process, Reaction, Trace, World, WorldError, WorldHandle};

const fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// A tool of a kind that waits a moment, then calls another tool.
fn calls(name: &'static str, kind: &str, inner: &'static str) -> FunctionTool {
    let body = move |_: Arc<Value>, context: ToolContext| async move {
        context.env().sleep(ms(10)).await;
        context.executor().run(inner, json!({})).await
    };
    FunctionTool::json(name, "", json!({}), body).kind(kind)
}

/// A tool of a kind that takes 10 ms.
fn leaf(name: &'static str, kind: &str) -> FunctionTool {
    let body = |_: Arc<Value>, context: ToolContext| async move {
        context.env().sleep(ms(10)).await;
        Ok::<_, BoxError>(json!(1))
    };
    FunctionTool::json(name, "", json!({}), body).kind(kind)
}

fn executor(env: Env, tools: impl IntoIterator<Item = FunctionTool>, limits: RunLimits, trace: Trace) -> Executor {
    let mut registry = Registry::new();
    for tool in tools {
        registry.register(tool).unwrap();
    }
    Executor::builder(registry).env(env).run_limits(limits).sink(trace).build()
}

/// What the error says after its first line, twice the same.
fn explained<T, F, Fut>(world: World, scenario: F) -> String
where
    T: Send + std::fmt::Debug,
    F: Fn(WorldHandle) -> Fut + Sync,
    Fut: Future<Output = T>,
{
    let run = world.check_determinism(scenario).unwrap();
    let error = run.outcome.unwrap_err().to_string();
    let (first, rest) = error.split_once('\n').unwrap();
    assert!(first.starts_with("nothing is left to happen") || first.starts_with("the world's time ran out"), "{first}");
    rest.to_owned()
}

fn capped(kinds: &[&str]) -> RunLimits {
    kinds.iter().fold(RunLimits::default(), |limits, kind| limits.cap(*kind, NonZeroU32::MIN))
}

/// Locks, caps, nested calls and sockets, all of which somebody waits for, and that come to an end.
async fn busy(world: WorldHandle) -> usize {
    let (server, client) = (world.host("server").unwrap(), world.host("client").unwrap());
    server.start(|process: Process| async move {
        let listener = process.listen(7).await.unwrap();
        while let Ok((mut stream, _)) = listener.accept().await {
            let tools = [calls("outer", "a", "inner"), leaf("inner", "b"), leaf("alone", "c").exclusive()];
            let executor = executor(process.env(), tools, capped(&["a", "b"]), process.trace());
            let names = ["outer", "alone", "inner", "outer", "inner"];
            let results = executor.run_many(names.map(|name| ToolCall::new(name, json!({})))).await.unwrap();
            stream.write_all(&[u8::try_from(results.len()).unwrap()]).await.unwrap();
        }
    });
    let process = client.process();
    let asked = client.spawn(async move {
        let mut stream = process.connect("server", 7).await.unwrap();
        stream.read_u8().await.unwrap()
    });
    usize::from(asked.await.unwrap())
}

#[test]
fn to_say_who_waits_changes_no_trace() {
    let run = World::new(7).check_determinism(busy).unwrap();
    // The digest of before anybody said so.
    insta::assert_snapshot!(run.digest(), @"9c0cd03eba776b042499f00e57393c9ad2de758068b927fea630f5e54d38a973");
    assert_eq!(run.outcome.unwrap(), 5);
}

#[test]
fn capped_kinds_that_nest_in_each_other_are_a_cycle_with_names_and_holders() {
    let text = explained(World::new(7), |world| async move {
        let tools = [
            calls("outer_a", "a", "inner_b"),
            leaf("inner_b", "b"),
            calls("outer_b", "b", "inner_a"),
            leaf("inner_a", "a"),
        ];
        let executor = executor(world.env(), tools, capped(&["a", "b"]), world.trace());
        let calls = ["outer_a", "outer_b", "inner_a"].map(|name| ToolCall::new(name, json!({})));
        executor.run_many(calls).await.unwrap()
    });
    insta::assert_snapshot!(text, @"
    a cycle, in which none goes on before another:
      run-1/call-1 (outer_a) holds a place of kind `a` (cap 1) in run-1 and waits, in run-1/call-4 (inner_b), for a place of kind `b` (cap 1) in run-1, held by run-1/call-2 (outer_b)
      run-1/call-2 (outer_b) holds a place of kind `b` (cap 1) in run-1 and waits, in run-1/call-5 (inner_a), for a place of kind `a` (cap 1) in run-1, held by run-1/call-1 (outer_a)
    run-1/call-3 (inner_a) waits for a place of kind `a` (cap 1) in run-1, held by run-1/call-1 (outer_a)
    ");
}

#[test]
fn a_call_beside_the_one_that_is_alone_in_its_run_names_it() {
    let text = explained(World::new(7), |world| async move {
        let context = CallContext { run_id: "run-7".to_owned(), ..CallContext::default() };
        // It forgets that it runs inside of a call: nothing is nested here.
        let beside = Arc::new(OnceLock::<Executor>::new());
        let own = Arc::clone(&beside);
        let body = move |_: Arc<Value>, _: ToolContext| {
            let beside = own.get().cloned();
            async move { beside.unwrap().run("inner", json!({})).await }
        };
        let alone = FunctionTool::json("alone", "", json!({}), body).exclusive();
        let tools = [alone, leaf("inner", "b")];
        let executor = executor(world.env(), tools, RunLimits::default(), world.trace()).in_context(context);
        beside.set(executor.clone()).unwrap();
        executor.run("alone", json!({})).await
    });
    insta::assert_snapshot!(text, @"
    run-7/call-1 (alone) waits for its tool, in attempt 1
    run-7/call-2 (inner) waits for the lock of run-7, held by run-7/call-1 (alone)
    ");
}

type NamedLock = (Resource, Arc<Mutex<()>>);

/// Takes two locks, in this order, a second apart.
async fn takes(env: Env, [first, second]: [NamedLock; 2]) {
    let _one = first.0.hold(first.1.lock()).await;
    env.sleep(ms(1000)).await;
    let _other = second.0.hold(second.1.lock()).await;
}

#[test]
fn locks_that_are_taken_in_two_orders_are_a_cycle() {
    let text = explained(World::new(7), |world| async move {
        let env = world.env();
        let [ledger, account] =
            ["the ledger's lock", "the account's lock"].map(|name| (env.resource(name), Arc::default()));
        let bank = world.host("bank").unwrap().process();
        let paying = bank.spawn_named("paying", takes(bank.env(), [ledger.clone(), account.clone()]));
        let closing = bank.spawn_named("closing", takes(bank.env(), [account, ledger.clone()]));
        let _reading = bank.spawn(takes(bank.env(), [ledger.clone(), ledger]));
        let _ended = (paying.await, closing.await);
    });
    insta::assert_snapshot!(text, @"
    a cycle, in which none goes on before another:
      bank: paying (task 1) holds the ledger's lock and waits for the account's lock, held by bank: closing (task 2)
      bank: closing (task 2) holds the account's lock and waits for the ledger's lock, held by bank: paying (task 1)
    bank: task 3 waits for the ledger's lock, held by bank: paying (task 1)
    the scenario waits for the end of bank: paying (task 1)
    ");
}

#[test]
fn tasks_in_a_deadlock_that_nobody_named_are_still_listed() {
    let text = explained(World::new(7), |world| async move {
        let bank = world.host("bank").unwrap().process();
        let locks = [Arc::new(Mutex::new(())), Arc::new(Mutex::new(()))];
        for (name, order) in [("paying", [0, 1]), ("closing", [1, 0])] {
            let (locks, env) = (order.map(|place| Arc::clone(&locks[place])), bank.env());
            let _task = bank.spawn_named(name, async move {
                let _one = locks[0].lock().await;
                env.sleep(ms(10)).await;
                let _other = locks[1].lock().await;
            });
        }
        std::future::pending::<()>().await;
    });
    insta::assert_snapshot!(text, @"
    the scenario waits, for nothing the world knows of
    bank: paying (task 1) waits, for nothing the world knows of
    bank: closing (task 2) waits, for nothing the world knows of
    ");
}

/// Reads a byte that never comes, from a server to which `happens` meanwhile.
async fn asks(world: WorldHandle, happens: impl FnOnce(&Host, &Host)) {
    let (server, client) = (world.host("server").unwrap(), world.host("client").unwrap());
    server.start(|process: Process| async move {
        let listener = process.listen(7).await.unwrap();
        let (mut stream, _) = listener.accept().await.unwrap();
        let _byte = stream.read_u8().await;
        listener.accept().await.unwrap();
    });
    let process = client.process();
    let asking = client.process().spawn_named("asking", async move {
        let mut stream = process.connect("server", 7).await.unwrap();
        let _byte = stream.read_u8().await;
    });
    world.env().sleep(ms(1000)).await;
    happens(&server, &client);
    asking.await.unwrap();
}

#[test]
fn a_client_of_a_host_without_power_waits_for_its_data() {
    let text = explained(World::new(7), |world| asks(world, |server, _| server.power_cut()));
    insta::assert_snapshot!(text, @"
    client: asking (task 2) waits for data from server:7
    the scenario waits for the end of client: asking (task 2)
    server is without power
    ");
}

#[test]
fn a_host_that_stands_still_and_a_way_that_is_cut_are_told() {
    let text = explained(World::new(7), |world| {
        asks(world, |server, client| {
            server.pause();
            client.partition_towards(server);
        })
    });
    insta::assert_snapshot!(text, @"
    client: asking (task 2) waits for data from server:7
    server: program (task 1) waits for data from client
    the scenario waits for the end of client: asking (task 2)
    server stands still: it was paused
    nothing gets through from client to server
    ");
}

struct ThinksForever;

impl ApprovalPort for ThinksForever {
    fn decide<'a>(&'a self, _: &'a ApprovalRequest) -> BoxFuture<'a, Result<Decision, BoxError>> {
        Box::pin(std::future::pending())
    }
}

/// A tool whose bank never answers.
fn asks_bank(name: &'static str) -> FunctionTool {
    FunctionTool::json(name, "", json!({}), |_: Arc<Value>, context: ToolContext| async move {
        context.env().waiting("an answer of the bank", std::future::pending::<Result<Value, BoxError>>()).await
    })
}

#[test]
fn calls_wait_for_tools_reviewers_and_the_world() {
    let world = World::new(7).on_event(|event| match event.kind.name() {
        "tool.finished" => Reaction::Freeze,
        _ => Reaction::Continue,
    });
    let text = explained(world, |world| async move {
        let tools =
            [calls("outer", "a", "balance"), asks_bank("balance"), leaf("pay", "b").confirm(), leaf("quick", "b")];
        let executor = executor(world.env(), tools, RunLimits::default(), world.trace());
        let ports = Ports { approval: Some(Arc::new(ThinksForever)), ..Ports::default() };
        let executor = executor.in_context(CallContext { ports, ..CallContext::default() });
        executor.run_many(["outer", "pay", "quick"].map(|name| ToolCall::new(name, json!({})))).await.unwrap()
    });
    insta::assert_snapshot!(text, @"
    run-1/call-2 (pay) waits for a decision on approval-1
    run-1/call-4 (balance) waits for its tool, in attempt 1
    the scenario waits for an answer of the bank
    the scenario waits for the step after `tool.finished` of run-1/call-3, which the world froze
    ");
}

#[test]
fn a_world_whose_time_runs_out_says_who_may_wait_for_it() {
    let text = explained(World::new(7).time_limit(ms(60_000)), |world| async move {
        let host = world.host("poller").unwrap();
        host.start(|process| async move {
            loop {
                process.env().sleep(ms(1000)).await;
            }
        });
        let tools = [asks_bank("balance")];
        executor(world.env(), tools, RunLimits::default(), world.trace()).run("balance", json!({})).await
    });
    insta::assert_snapshot!(text, @"
    went on most often: poller: program (task 1) (60 times)
    run-1/call-1 (balance) waits for its tool, in attempt 1
    the scenario waits for an answer of the bank
    poller: program (task 1) waits for a time, or for nothing the world knows of
    ");
}

#[test]
fn many_waits_are_told_in_part() {
    let world = World::new(7);
    let run = world.run(|world| async move {
        let crowd = world.host("crowd").unwrap();
        for _ in 0..30 {
            let _task = crowd.spawn(std::future::pending::<()>());
        }
        std::future::pending::<()>().await;
    });
    let Err(WorldError::Stuck { waiting }) = run.outcome else { panic!("{:?}", run.outcome) };
    assert_eq!(waiting.lines().len(), 31);
    assert_eq!(waiting.to_string().lines().count(), 22);
    assert!(waiting.to_string().ends_with("\n  and 11 more"));
}

#[test]
fn a_wait_that_is_over_leaves_nothing_behind() {
    let run = World::new(7).run(|world| async move {
        assert_eq!(busy(world.clone()).await, 5);
        let env = world.env();
        let lines = move || env.waits().unwrap().graph().lines(|task| format!("task {task}"));
        let listening = "task 1 waits for somebody who connects to its port 7";
        assert_eq!(lines(), [listening]);

        // Given up in time: a call, a lock, a task, data.
        let env = world.env();
        let tools = [asks_bank("balance").timeout(ms(10)), leaf("inner", "b")];
        let executor = executor(world.env(), tools, capped(&["b"]), world.trace());
        assert!(executor.run("balance", json!({})).await.is_err());
        let calls = executor.run_many(["inner", "inner", "inner"].map(|name| ToolCall::new(name, json!({}))));
        assert!(env.timeout(ms(15), calls).await.is_err());
        let (name, lock) = (env.resource("the lock"), Mutex::new(()));
        let held = name.hold(lock.lock()).await;
        assert!(env.timeout(ms(10), name.hold(lock.lock())).await.is_err());
        drop(held);
        let lost = world.host("lost").unwrap();
        let process = lost.process();
        let reading = lost.spawn(async move {
            let mut stream = process.connect("server", 7).await.unwrap();
            stream.read_u8().await.unwrap();
            let _late = process.env().timeout(ms(10), stream.read_u8()).await;
            process.env().sleep(ms(1000)).await;
            process.env().waiting("nothing", std::future::pending::<()>()).await;
        });
        env.sleep(ms(500)).await;
        assert_eq!(lines(), [listening]);
        env.sleep(ms(1000)).await;
        assert_eq!(lines().len(), 2);
        lost.crash();
        assert_eq!(lines(), [listening]);
        reading.await.unwrap_err();
    });
    run.outcome.unwrap();
}
