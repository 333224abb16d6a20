//! An evaluation that is dropped, at whatever point, leaves nothing behind.

use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use serde_json::json;
use tokio_test::task::spawn;
use windtunnel_core::evaluator::{ExecutionPolicy, ToolFailure};
use windtunnel_core::event::EventLog;

use super::toolbox::{Toolbox, function, map, named, parallel, parse, retrying, value};
use crate::rig::{YieldingGate, env, ms, yield_once};

#[tokio::test(start_paused = true)]
async fn a_drop_at_any_point_ends_every_tool() {
    let program = parse(parallel(&[
        function("add", &[function("slow", &[]), function("flaky", &[])]),
        map("n", function("echo", &[named("n", json!(null))]), value(json!([1, 2]))),
    ]));
    let policy = ExecutionPolicy { retry: retrying("flaky", 3, ms(1)), ..ExecutionPolicy::default() };
    for polls in 0.. {
        let toolbox = Toolbox::arithmetic().tool("slow", &[], ms(3), |_, _| Ok(json!(1))).tool(
            "flaky",
            &[],
            Duration::ZERO,
            |_, attempt| {
                if attempt < 3 { Err(ToolFailure::timeout()) } else { Ok(json!(2)) }
            },
        );
        let log = EventLog::new();
        let points = env().with_gate(YieldingGate).with_sleep(|_: Duration| yield_once());
        let evaluator = toolbox.evaluator().env(points).sink(log.clone()).policy(policy.clone());
        let mut evaluation = spawn(evaluator.evaluate(&program));
        let mut is_over = false;
        for _ in 0..polls {
            tokio::time::advance(ms(1)).await;
            if let Poll::Ready(evaluation) = evaluation.poll() {
                assert_eq!(evaluation.into_value().unwrap(), json!([3, [1, 2]]));
                is_over = true;
                break;
            }
        }
        drop(evaluation);
        assert_eq!(toolbox.running(), 0, "after {polls} polls");
        let (calls, events) = (toolbox.calls().len(), log.len());
        env().sleep(ms(60_000)).await;
        assert_eq!((toolbox.calls().len(), log.len()), (calls, events), "something runs on after {polls} polls");
        let last = log.events().last().map(|event| event.kind.name());
        assert!(last.is_none_or(|last| last == "program.finished"), "after {polls} polls");
        if is_over {
            assert!(polls > 5, "there were few points to drop it at");
            return;
        }
    }
}

/// Panics when it is dropped.
struct Grenade;

impl Drop for Grenade {
    fn drop(&mut self) {
        panic!("dropped");
    }
}

#[tokio::test(start_paused = true)]
async fn tools_that_panic_while_they_are_dropped_harm_nothing() {
    // E14
    let hang = || {
        crate::rig::tool("hang", |_, _| async {
            let _grenade = Grenade;
            std::future::pending().await
        })
    };
    let bad = crate::rig::tool("bad", |_, context| async move {
        context.env().sleep(ms(1)).await;
        Err("no".into())
    });
    let rig = crate::rig::Rig::new([hang(), bad]);
    let program = parse(parallel(&[function("hang", &[]), function("hang", &[]), function("bad", &[])]));
    let evaluation = rig.executor.evaluator().evaluate(&program).await;
    assert!(evaluation.into_value().is_err());
}

#[tokio::test]
async fn the_program_and_the_provider_are_let_go() {
    let provider = Arc::new(Toolbox::default().tool("never", &[], ms(1_000_000), |_, _| Ok(json!(1))));
    let evaluator = windtunnel_core::evaluator::Evaluator::new(Arc::clone(&provider)).env(env());
    let program = parse(parallel(&[function("never", &[])]));
    let mut evaluation = spawn(evaluator.evaluate(&program));
    assert!(evaluation.poll().is_pending());
    drop(evaluation);
    drop(evaluator);
    assert_eq!(Arc::strong_count(&provider), 1);
}
