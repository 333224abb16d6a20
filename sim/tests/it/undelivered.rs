//! Planned faults that do not come: a run says which, and why.

use std::time::Duration;

use futures_util::StreamExt;
use serde_json::{Value, json};
use windtunnel_core::BoxError;
use windtunnel_core::model::{ModelRequest, ModelTransport};
use windtunnel_sim::fault::{FaultPlan, Undelivered};
use windtunnel_sim::script::ScriptedModel;
use windtunnel_sim::{LinkSettings, Run, World, WorldError, WorldHandle};

fn plan(faults: Value) -> FaultPlan {
    FaultPlan::from_json(&faults.to_string()).unwrap()
}

/// A host that marks three steps, and a tool that fails at first.
async fn steps(world: WorldHandle) -> usize {
    let agent = world.host("agent").unwrap();
    for step in ["one", "two", "three"] {
        agent.process().mark(step).await;
    }
    let mut calls = 0;
    loop {
        calls += 1;
        let pay = || async move { if calls == 1 { Err(BoxError::from("busy")) } else { Ok(7) } };
        if world.faults().call("pay", pay).await.is_ok() || calls > 3 {
            return calls;
        }
    }
}

fn why(run: &Run<usize>) -> Vec<(usize, Undelivered)> {
    run.undelivered.iter().map(|fault| (fault.index, fault.why)).collect()
}

#[test]
fn faults_that_do_not_come_are_listed_beside_those_that_do() {
    let run = World::new(7)
        .faults(plan(json!([
            {"when": {"event": "mark", "nth": 4}, "do": {"fault": "clock.skew", "ahead_s": 5}},
            {"when": {"event": "mark"}, "do": {"fault": "clock.skew", "ahead_s": 5}},
            {"when": {"event": "mark", "nth": 2}, "do": {"fault": "network.reset"}},
            {"when": {"event": "mark", "nth": 2}, "do": {"fault": "model.refusal"}},
        ])))
        .run(steps);
    assert_eq!(run.faults.len(), 1);
    assert_eq!(
        why(&run),
        [(0, Undelivered::NoEvent { seen: 3 }), (2, Undelivered::NothingToActOn), (3, Undelivered::NobodyTookIt)]
    );
    assert_eq!(
        run.undelivered[0].to_string(),
        r#"{"fault":"clock.skew","ahead_s":5.0} when {"event":"mark","nth":4} did not come: only 3 such events came"#
    );
    assert_eq!(run.outcome.unwrap(), 2);
}

#[test]
fn a_plan_about_a_host_that_there_never_was_fails() {
    for (when, action) in [
        (json!({"event": "mark", "host": "agnet"}), json!({"fault": "host.crash"})),
        (json!({"event": "mark", "nth": 2}), json!({"fault": "host.crash", "host": "agnet"})),
        (json!({"event": "mark", "nth": 2}), json!({"fault": "network.reset", "peer": "agnet"})),
    ] {
        let comes = json!({"when": {"event": "mark"}, "do": {"fault": "clock.skew", "ahead_s": 5}});
        let run = World::new(7).faults(plan(json!([comes, {"when": when, "do": action}]))).run(steps);
        assert_eq!(
            run.outcome.unwrap_err().to_string(),
            r#"fault 1 of the plan is about the host "agnet", and there was none of that name; there were: agent"#
        );
    }
}

#[test]
fn a_fault_that_damages_an_answer_waits_for_one() {
    let faults = plan(json!([{"when": {"event": "tool.body"}, "do": {"fault": "tool.malformed_result"}}]));
    let run = World::new(7).faults(faults.clone()).run(steps);
    // The first call fails by itself, the second has an answer to be damaged.
    assert_eq!((run.faults.len(), run.outcome.unwrap()), (1, 3));
    let run = World::new(7).faults(faults).run(|world| async move {
        let broken = || async { Err::<(), _>(BoxError::from("broken")) };
        world.faults().call("pay", broken).await.is_err()
    });
    assert!(matches!(run.outcome, Err(WorldError::NoFaultDelivered { planned: 1 })), "{:?}", run.outcome);
    assert_eq!(run.undelivered[0].why, Undelivered::NobodyTookIt);
}

#[test]
fn a_model_that_fails_by_itself_has_no_answer_to_be_damaged() {
    for fault in ["model.truncated_stream", "model.malformed_json", "model.wrong_tool"] {
        let faults = plan(json!([{"when": {"event": "model.request"}, "do": {"fault": fault}}]));
        let run = World::new(7).faults(faults).run(|world| async move {
            let model = world.faults().model(ScriptedModel::new([]));
            let request = ModelRequest::default();
            let failed = model.complete(&request).await.is_err();
            match model.stream(&request).await {
                Ok(answer) => failed && answer.collect::<Vec<_>>().await.iter().any(Result::is_err),
                Err(_) => failed,
            }
        });
        assert!(run.faults.is_empty(), "{fault}: {:?}", run.faults);
        assert!(matches!(run.outcome, Err(WorldError::NoFaultDelivered { planned: 1 })), "{:?}", run.outcome);
    }
}

#[test]
fn hosts_that_restart_each_other_come_to_an_end() {
    let restart = |host: &str, other: &str, nth: usize| {
        json!({
            "when": {"event": "host.started", "host": host, "nth": nth},
            "do": {"fault": "host.restart", "host": other},
        })
    };
    let faults = (1..=5000).flat_map(|nth| [restart("a", "b", nth), restart("b", "a", nth)]).collect();
    let run = World::new(7).faults(plan(faults)).run(|world| async move {
        for name in ["a", "b"] {
            world.host(name).unwrap().start(|_process| std::future::pending());
        }
        world.env().sleep(Duration::from_secs(1)).await;
    });
    assert!(run.outcome.is_ok(), "{:?}", run.outcome);
    assert!(run.undelivered.iter().any(|fault| fault.why == Undelivered::TooDeep));
}

#[test]
fn what_is_no_likelihood_is_refused() {
    for loss in [1.5, -0.1, f64::NAN, f64::INFINITY] {
        let settings = LinkSettings { loss, ..LinkSettings::default() };
        let of_world = World::new(7).run(|world| async move { world.set_links(settings) });
        let of_link = World::new(7).run(|world| async move {
            let (a, b) = (world.host("a").unwrap(), world.host("b").unwrap());
            a.set_link_towards(&b, settings);
        });
        for run in [of_world, of_link] {
            assert_eq!(
                run.outcome.unwrap_err().to_string(),
                format!("a packet cannot be lost with a likelihood of {loss}; it must be a number from 0 to 1")
            );
        }
    }
}
