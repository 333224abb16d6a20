//! All kinds of fault together, over many seeds.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use windtunnel_core::BoxError;
use windtunnel_core::durable::remote::{RemoteStore, serve};
use windtunnel_core::durable::{
    JournalStore, MemoryStore, OperationCall, OperationKind, Worker, Workflow, WorkflowContext,
};
use windtunnel_core::executor::Executor;
use windtunnel_core::model::{ModelRequest, ModelTransport};
use windtunnel_core::tool::{FunctionTool, Registry, ToolSpec};
use windtunnel_sim::fault::{Fault, FaultAction, FaultKind, FaultPlan, RandomFaults};
use windtunnel_sim::script::ScriptedModel;
use windtunnel_sim::service::{RemoteTool, serve_tools};
use windtunnel_sim::{Campaign, EventPattern, Process, Recipe, Run, World, WorldHandle};

fn any() -> Value {
    json!({"type": "object"})
}

async fn bank(process: Process) {
    let effects = process.effects();
    let pay = FunctionTool::json("pay", "Pays.", any(), move |_, _| {
        let effects = effects.clone();
        async move {
            effects.happen("payment", None).await;
            Ok::<_, BoxError>(json!("receipt"))
        }
    });
    let mut tools = Registry::new();
    tools.register(process.faults().tool(pay)).unwrap();
    let _ended = serve_tools(process, 7000, tools).await;
}

async fn agent(process: Process, amount: u64) {
    let calling = process.clone();
    let connect = move || {
        let process = calling.clone();
        async move { process.connect("bank", 7000).await }
    };
    let mut tools = Registry::new();
    let spec = ToolSpec { retries: 1, timeout: Some(Duration::from_secs(3)), ..ToolSpec::new("pay", "Pays.", any()) };
    tools.register(RemoteTool::new(spec, connect)).unwrap();
    let executor = Executor::builder(tools).env(process.env()).sink(process.trace()).build();
    let disk = process.disk();
    for step in 0..4_u64 {
        let model = process.faults().model(ScriptedModel::new([ScriptedModel::says("Pay.")]));
        let request = ModelRequest::default();
        let asked = process.env().timeout(Duration::from_secs(20), model.complete(&request)).await;
        let paid = executor.run("pay", json!({"step": step, "amount": amount})).await;
        let log = async {
            let mut file = disk.options().append(true).create(true).open("/log").await?;
            file.write_all(format!("{step} {} {}\n", matches!(asked, Ok(Ok(_))), paid.is_ok()).as_bytes()).await?;
            file.sync_all().await?;
            disk.sync_dir("/").await
        };
        let _logged: std::io::Result<()> = log.await;
        process.mark("step").await;
        process.env().sleep(Duration::from_millis(500)).await;
    }
}

fn rounds() -> Workflow {
    Workflow::new("rounds").entry("round", |context: WorkflowContext, round: u64| async move {
        let body = |_: Value, call: OperationCall| async move {
            call.env.sleep(Duration::from_millis(20)).await;
            Ok::<_, BoxError>(json!("done"))
        };
        let _done: Value = context.operation("act", OperationKind::Tool, "x:act", "1", json!({}), body).await?;
        if round == 2 {
            return Ok::<_, BoxError>(context.complete(&json!("all"))?);
        }
        Ok(context.continue_("round", &(round + 1))?)
    })
}

/// Everything that takes faults, at once. Ends at a fixed time.
pub(crate) async fn everything(world: WorldHandle) {
    let store = MemoryStore::new(world.env());
    let amount = world.input("amount", 100);
    world.host("bank").unwrap().start(bank);
    world.host("agent").unwrap().start(move |process| agent(process, amount));
    let kept = store.clone();
    world.host("journal").unwrap().start(move |process: Process| {
        let store: Arc<dyn JournalStore> = Arc::new(process.faults().journal(kept.clone()));
        async move {
            let Ok(listener) = process.listen(5432).await else { return };
            while let Ok((stream, _)) = listener.accept().await {
                let store = Arc::clone(&store);
                let _running = process.spawn(async move { serve(store, stream).await.is_ok() });
            }
        }
    });
    Worker::new(store.clone()).env(world.env()).workflow(rounds()).start("w", "rounds", "round", &0_u64).await.unwrap();
    world.host("worker").unwrap().start(|process: Process| async move {
        let dialling = process.clone();
        let connect = move || {
            let process = dialling.clone();
            async move { process.connect("journal", 5432).await }
        };
        let store = RemoteStore::new(process.env(), connect).timeout(Duration::from_secs(2));
        let worker = Worker::new(store).env(process.env()).sink(process.trace()).lease(Duration::from_secs(5));
        worker.workflow(rounds()).run().await;
    });
    let local = || async {
        world.effects().happen("local", Some("k")).await;
        Ok::<_, BoxError>(())
    };
    for _ in 0..3 {
        let _ = world.env().timeout(Duration::from_secs(5), world.faults().call("local", local)).await;
    }
    world.env().until(Duration::from_secs(90)).await;
    world.assertions().always("few payments", world.effects().count("payment") <= 5);
}

fn end(run: &Run<()>) -> String {
    run.outcome.as_ref().map_or_else(ToString::to_string, |()| "ended".to_owned())
}

#[test]
fn what_was_drawn_is_the_same_when_it_is_planned_with_everything() {
    let mut came = std::collections::BTreeMap::new();
    for seed in 0..100 {
        let random = if seed % 2 == 0 {
            RandomFaults::swarm().rate(0.1).faults_max(12)
        } else {
            RandomFaults::of(FaultKind::ALL).rate(0.01).faults_max(30)
        };
        let world = World::new(seed).heal_after(Duration::from_secs(60));
        let drawn = world.clone().random_faults(random).run(everything);
        for delivered in &drawn.faults {
            *came.entry(delivered.fault.action.kind().name()).or_insert(0) += 1;
        }
        if drawn.faults.is_empty() {
            continue;
        }
        let plan = FaultPlan::new(drawn.faults.iter().map(|delivered| delivered.fault.clone()));
        let plan = FaultPlan::from_json(&plan.to_json()).unwrap();
        let planned = world.faults(plan).run(everything);
        let place = drawn.trace.iter().zip(&planned.trace).position(|(one, other)| one != other);
        if let Some(place) = place {
            panic!("seed {seed} event {place}\n{}\n{}\n{:#?}", drawn.trace[place], planned.trace[place], drawn.faults);
        }
        assert_eq!(drawn.faults, planned.faults, "seed {seed}");
        assert_eq!(
            (drawn.digest(), end(&drawn), drawn.elapsed),
            (planned.digest(), end(&planned), planned.elapsed),
            "seed {seed}"
        );
    }
    let missing: Vec<_> = FaultKind::ALL.iter().filter(|kind| !came.contains_key(kind.name())).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn everything_is_the_same_on_one_thread_and_on_eight_and_repeats() {
    let campaign = |jobs| {
        Campaign::new()
            .seeds(0..40)
            .jobs(NonZeroUsize::new(jobs).unwrap())
            .random_faults(RandomFaults::swarm().rate(0.1))
            .shrink_runs_max(150)
            .run(everything)
    };
    let (one, eight) = (campaign(1), campaign(8));
    let text = |found: &Result<_, windtunnel_sim::ExploreError>| match found {
        Ok(report) => format!("{report}"),
        Err(error) => error.to_string(),
    };
    assert_eq!(text(&one), text(&eight));
    if let Err(windtunnel_sim::ExploreError::Failed(failure)) = one {
        let again = Recipe::from_json(&failure.recipe.to_json()).unwrap().world(World::new).run(everything);
        assert_eq!(again.trace, failure.trace);
        if let Some(minimal) = failure.minimal {
            let again = Recipe::from_json(&minimal.recipe.to_json()).unwrap().world(World::new).run(everything);
            assert_eq!(again.trace, minimal.trace);
        }
    }
}

#[test]
fn everything_is_the_same_in_a_fresh_process() {
    Campaign::new().seeds(0..8).random_faults(RandomFaults::swarm().rate(0.1)).check_determinism(everything).unwrap();
}

#[test]
fn any_action_at_any_event_breaks_nothing() {
    let clean = World::new(3).run(everything).trace.len() as u64;
    let unnamed = |kind: FaultKind| -> FaultAction {
        let zero = json!({"fault": kind.name(), "delay_s": 0, "after_s": 0, "latency_s": 0, "loss": 1, "ahead_s": 1, "by_s": -1, "restart_after_s": 0, "resume_after_s": 0, "heal_after_s": 0});
        // Only the fields that it has.
        let mut object = zero.as_object().unwrap().clone();
        loop {
            match serde_json::from_value(Value::Object(object.clone())) {
                Ok(action) => return action,
                Err(error) => {
                    let text = error.to_string();
                    let field = text.split('`').nth(1).unwrap().to_owned();
                    assert!(object.remove(&field).is_some(), "{text}");
                }
            }
        }
    };
    let kinds: Vec<_> = FaultKind::ALL.into_iter().collect();
    for seed in 0..60_u64 {
        // Many at once, several at one event, also at the world's own.
        let faults = (0..40_u64).map(|number| {
            let draw = |salt: u64| {
                (seed * 40 + number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(salt as u32 * 13) >> 20
            };
            let kind = kinds[(draw(0) % kinds.len() as u64) as usize];
            let when = match draw(1) % 4 {
                0 => EventPattern::named("fault.delivered").nth(1 + draw(2) % 20),
                1 => EventPattern::named(
                    [
                        "host.crashed",
                        "host.started",
                        "host.power_cut",
                        "host.paused",
                        "host.resumed",
                        "link.cut",
                        "world.healed",
                        "clock.set",
                        "effect.happened",
                    ][(draw(3) % 9) as usize],
                )
                .nth(1 + draw(2) % 4),
                _ => EventPattern::any().nth(1 + draw(2) % clean),
            };
            Fault::new(when, unnamed(kind))
        });
        let world = World::new(3).faults(FaultPlan::new(faults)).heal_after(Duration::from_secs(50));
        let run = world.run(everything);
        let again = world.run(everything);
        assert_eq!(run.trace, again.trace);
        if let Err(error) = &run.outcome {
            assert!(!error.to_string().contains("panicked"), "seed {seed}: {error}");
        }
    }
}
