//! Seeds, traces, reactions, and finding what does not follow from the seed.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use windtunnel_core::executor::{Executor, ToolCall, ToolContext};
use windtunnel_core::tool::{FunctionTool, Registry, ToolSpec};
use windtunnel_sim::script::{Failure, ScriptedTool, Step};
use windtunnel_sim::{Reaction, World, WorldError, WorldHandle, explore};

/// One call that fails twice and then answers.
async fn flaky_call(world: WorldHandle) -> u32 {
    let spec = ToolSpec { retries: 3, ..ToolSpec::new("search", "Searches.", json!({"type": "object"})) };
    let mut registry = Registry::new();
    let script = [Step::fail(Failure::Foreign), Step::fail(Failure::Busy)];
    registry.register(ScriptedTool::new(spec, script)).unwrap();
    let executor = Executor::builder(registry).env(world.env()).sink(world.trace()).build();
    executor.run_call(ToolCall::new("search", json!({}))).await.unwrap().attempts
}

#[test]
fn a_seed_gives_the_same_trace_again_and_another_seed_another() {
    let first = World::new(7).check_determinism(flaky_call).unwrap();
    assert_eq!(*first.outcome.as_ref().unwrap(), 3);
    insta::assert_snapshot!(
        first.trace.iter().map(|event| serde_json::to_string(event).unwrap() + "\n").collect::<String>(),
        @r#"
    {"sequence":0,"at_ns":0,"run_id":"run-1","call_id":"call-1","type":"tool.started","data":{"tool":"search"}}
    {"sequence":1,"at_ns":0,"run_id":"run-1","call_id":"call-1","type":"tool.attempt","data":{"tool":"search","attempt":1}}
    {"sequence":2,"at_ns":0,"run_id":"run-1","call_id":"call-1","type":"tool.retry","data":{"tool":"search","attempt":1,"cause":"foreign","delay_s":0.5121131170782856}}
    {"sequence":3,"at_ns":512113117,"run_id":"run-1","call_id":"call-1","type":"tool.attempt","data":{"tool":"search","attempt":2}}
    {"sequence":4,"at_ns":512113117,"run_id":"run-1","call_id":"call-1","type":"tool.retry","data":{"tool":"search","attempt":2,"cause":"retryable","delay_s":1.1552239173702707}}
    {"sequence":5,"at_ns":1667337034,"run_id":"run-1","call_id":"call-1","type":"tool.attempt","data":{"tool":"search","attempt":3}}
    {"sequence":6,"at_ns":1667337034,"run_id":"run-1","call_id":"call-1","type":"tool.finished","data":{"tool":"search","status":"ok","attempts":3,"cached":false,"duration_s":1.667337034}}
    "#
    );
    // In every process, on every machine.
    insta::assert_snapshot!(first.digest(), @"b680af1103f651df064f3b2628e81cf9ee9f93c62357ddeec78c02261c3b7d17");
    assert_ne!(World::new(8).run(flaky_call).digest(), first.digest());
}

#[test]
fn what_does_not_follow_from_the_seed_is_shown_with_its_neighbours() {
    let runs = AtomicU64::new(0);
    let leaky = |world: WorldHandle| {
        let extra = runs.fetch_add(1, Ordering::Relaxed);
        async move {
            flaky_call(world.clone()).await;
            world.env().sleep(Duration::from_millis(extra)).await;
            flaky_call(world).await
        }
    };
    let divergence = World::new(7).check_determinism(leaky).unwrap_err();
    insta::assert_snapshot!(divergence.to_string(), @"
    two runs of seed 7 differ at event 7:
         0.512113117  run-1/call-1       tool.retry            tool=search attempt=2 cause=retryable delay_s=1.1552239173702707
         1.667337034  run-1/call-1       tool.attempt          tool=search attempt=3
         1.667337034  run-1/call-1       tool.finished         tool=search status=ok attempts=3 cached=false duration_s=1.667337034
    -    1.667337034  run-2/call-2       tool.started          tool=search
    -    1.667337034  run-2/call-2       tool.attempt          tool=search attempt=1
    -    1.667337034  run-2/call-2       tool.retry            tool=search attempt=1 cause=foreign delay_s=0.5010909540714681
    +    1.668337034  run-2/call-2       tool.started          tool=search
    +    1.668337034  run-2/call-2       tool.attempt          tool=search attempt=1
    +    1.668337034  run-2/call-2       tool.retry            tool=search attempt=1 cause=foreign delay_s=0.5010909540714681
    - ended after 3.411339993s
    + ended after 3.412339993s
    ");
}

#[test]
fn a_run_that_records_nothing_is_still_compared() {
    let runs = AtomicU64::new(1);
    let leaky = |world: WorldHandle| {
        let waits = Duration::from_millis(runs.fetch_add(1, Ordering::Relaxed));
        async move { world.env().sleep(waits).await }
    };
    let divergence = World::new(7).check_determinism(leaky).unwrap_err();
    assert_eq!(divergence.to_string(), "two runs of seed 7 differ at event 0:\n- ended after 1ms\n+ ended after 2ms\n");
}

#[test]
fn the_world_can_delay_a_step_at_its_event() {
    let slow = World::new(7).on_event(|event| match event.kind.name() {
        "tool.attempt" => Reaction::Delay(Duration::from_secs(60)),
        _ => Reaction::Continue,
    });
    let (plain, slow) = (World::new(7).run(flaky_call), slow.run(flaky_call));
    assert_eq!(slow.outcome.unwrap(), 3);
    assert_eq!(slow.elapsed, plain.elapsed + 3 * Duration::from_secs(60));
}

#[test]
fn the_world_can_freeze_a_step_at_its_event() {
    let frozen = World::new(7).on_event(|event| match event.kind.name() {
        "tool.retry" => Reaction::Freeze,
        _ => Reaction::Continue,
    });
    let run = frozen.run(flaky_call);
    assert!(matches!(run.outcome, Err(WorldError::Stuck { .. })));
    assert_eq!(run.trace.last().unwrap().kind.name(), "tool.retry");
}

#[test]
fn the_world_can_act_on_a_part_of_it_alone() {
    let world = World::new(7).events_max(100).on_event(|_| Reaction::Delay(Duration::from_secs(1)));
    let run = world.run(|world| async move {
        let call = |env| {
            let mut registry = Registry::new();
            registry.register(ScriptedTool::new(ToolSpec::new("ping", "", json!({})), [])).unwrap();
            let executor = Executor::builder(registry).env(env).sink(world.trace()).build();
            async move { executor.run("ping", json!({})).await.unwrap() }
        };
        let began = world.env().now();
        call(world.env_on_event(|_| Reaction::Continue)).await;
        assert_eq!(world.env().now(), began);
        call(world.env()).await;
        assert!(world.env().now() >= began + Duration::from_secs(3));
        call(world.env_on_event(|_| Reaction::Freeze)).await;
    });
    assert!(matches!(run.outcome, Err(WorldError::Stuck { .. })));
    assert!(run.trace.iter().zip(0..).all(|(event, sequence)| event.sequence == sequence), "one order of events");
}

#[test]
fn an_endless_scenario_is_cut_even_if_it_never_waits() {
    let run = World::new(7).events_max(100).run(|world| async move {
        let mut registry = Registry::new();
        registry.register(ScriptedTool::new(ToolSpec::new("ping", "", json!({})), [])).unwrap();
        let executor = Executor::builder(registry).env(world.env()).sink(world.trace()).build();
        loop {
            executor.run("ping", json!({})).await.unwrap();
        }
    });
    let outcome: Result<(), _> = run.outcome;
    assert!(matches!(outcome, Err(WorldError::TooManyEvents { events_max: 100, .. })), "{outcome:?}");
    assert_eq!(run.trace.len(), 101);
}

#[test]
fn a_world_runs_inside_another_runtime() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let attempts = runtime.block_on(async { World::new(7).run(flaky_call).outcome.unwrap() });
    assert_eq!(attempts, 3);
}

#[test]
fn exploring_stops_at_the_first_seed_that_fails_and_tells_its_story() {
    let explored = explore(0..20, |world| async move {
        flaky_call(world).await;
    })
    .unwrap();
    assert_eq!((explored.seeds, explored.events), (20, 140));
    let failing = explore(0..20, |world| async move {
        flaky_call(world.clone()).await;
        assert!(world.seed() < 5, "seed too large");
    })
    .unwrap_err();
    insta::assert_snapshot!(failing, @"
    seed 5 fails: the scenario panicked: seed too large
       0.000000000  run-1/call-1       tool.started          tool=search
       0.000000000  run-1/call-1       tool.attempt          tool=search attempt=1
       0.000000000  run-1/call-1       tool.retry            tool=search attempt=1 cause=foreign delay_s=0.5696660002536593
       0.569666000  run-1/call-1       tool.attempt          tool=search attempt=2
       0.569666000  run-1/call-1       tool.retry            tool=search attempt=2 cause=retryable delay_s=1.225245278710473
       1.794911279  run-1/call-1       tool.attempt          tool=search attempt=3
       1.794911279  run-1/call-1       tool.finished         tool=search status=ok attempts=3 cached=false duration_s=1.794911279
    repeat it: WINDTUNNEL_SEED=5 cargo test world::exploring_stops_at_the_first_seed_that_fails_and_tells_its_story
    ");
}

#[test]
fn the_digest_runs_along_with_the_trace() {
    let run = World::new(7).run(|world| async move {
        flaky_call(world.clone()).await;
        let half = world.trace().digest();
        flaky_call(world.clone()).await;
        (half, world.trace().digest())
    });
    let digest = run.digest();
    let (half, whole) = run.outcome.unwrap();
    assert_eq!(half, World::new(7).run(flaky_call).digest());
    assert_eq!(whole, digest);
}

#[test]
fn a_world_that_is_over_leaves_nothing_behind() {
    let ends = World::new(7).run(|world| async move {
        flaky_call(world).await;
    });
    let stuck = World::new(7).run(|world| async move {
        flaky_call(world).await;
        std::future::pending::<()>().await;
    });
    for run in [ends, stuck] {
        // Nobody but the run's own events knows the name: the world's trace, timers and runtime are gone.
        assert_eq!(Arc::strong_count(&run.trace[0].run_id), run.trace.len());
    }
}

#[test]
fn a_panic_in_a_reaction_ends_the_world_wherever_it_happens() {
    for panics_at in ["run.started", "tool.attempt", "run.finished"] {
        let world = World::new(7).on_event(move |event| {
            assert!(event.kind.name() != panics_at, "no {panics_at}");
            Reaction::Continue
        });
        let run = world.run(|world| async move {
            let mut registry = Registry::new();
            registry.register(ScriptedTool::new(ToolSpec::new("ping", "", json!({})), [])).unwrap();
            let executor = Executor::builder(registry).env(world.env()).sink(world.trace()).build();
            let ping = |executor: Executor| async move { executor.run("ping", json!({})).await.unwrap() };
            executor.run_scope(Default::default(), ping).await
        });
        let error = run.outcome.unwrap_err().to_string();
        assert_eq!(error, format!("the scenario panicked: no {panics_at}"));
    }
}

#[test]
fn calls_may_nest_deeply() {
    let run = World::new(7).run(|world| async move {
        let down =
            FunctionTool::json("down", "", json!({}), |arguments: Arc<Value>, context: ToolContext| async move {
                match arguments.as_u64() {
                    Some(levels @ 1..) => context.executor().run("down", json!(levels - 1)).await,
                    _ => Ok(json!("bottom")),
                }
            });
        let mut registry = Registry::new();
        registry.register(down).unwrap();
        Executor::builder(registry).env(world.env()).build().run("down", json!(400)).await.unwrap()
    });
    assert_eq!(run.outcome.unwrap(), "bottom");
}
