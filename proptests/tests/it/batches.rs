//! Whole batches against the model of everything: guards, queues, attempts, time and the ledger.

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::json;
use windtunnel_core::executor::{BackoffSettings, CallContext, Executor, ToolCall, ToolResult};
use windtunnel_proptests::CallTimeline;
use windtunnel_proptests::cases::{BatchCase, Script, run_limits};
use windtunnel_proptests::invariants::open_calls;
use windtunnel_proptests::models::BatchPrediction;
use windtunnel_proptests::played::PlayedTool;
use windtunnel_proptests::strategies::{batch_cases, durations};
use windtunnel_sim::World;

use crate::settings::family;
use crate::simulated::{self, Setup};

/// An executor with the case's tools and limits.
pub(crate) fn setup(case: &BatchCase) -> Setup {
    let setup = Setup { backoff: case.backoff, limits: run_limits(case.calls_max, &case.caps), ..Setup::default() };
    case.policies.iter().fold(setup, |setup, (name, policy)| {
        let scripts: Vec<_> = case.calls.iter().map(|call| call.script.clone()).collect();
        let choose = move |arguments: &serde_json::Value| -> Script {
            let index = arguments["index"].as_u64().and_then(|index| usize::try_from(index).ok());
            index.and_then(|index| scripts.get(index).cloned()).unwrap_or_default()
        };
        setup.with_tool(PlayedTool::choosing(policy.spec(name), choose))
    })
}

pub(crate) fn call_id(index: usize) -> String {
    format!("call-{index}")
}

/// The case's calls. Their arguments say which they are.
pub(crate) fn calls(case: &BatchCase) -> Vec<ToolCall> {
    let call = |(index, name): (usize, &String)| ToolCall::new(name, json!({"index": index})).with_id(call_id(index));
    case.calls.iter().map(|call| &call.tool).enumerate().map(call).collect()
}

/// What can be told of a result.
pub(crate) fn told(result: &ToolResult) -> (String, u32, std::time::Duration) {
    (result.to_model_text(), result.attempts, result.duration)
}

fn check(case: &BatchCase) -> Result<(), TestCaseError> {
    let prediction = BatchPrediction::of(case);
    let calls = calls(case);
    let ran = simulated::run(setup(case), |executor| async move {
        let scoped = |executor: Executor| async move { executor.run_many(calls).await.unwrap() };
        executor.run_scope(CallContext::default(), scoped).await
    })?;

    ran.check(&case.policies, &run_limits(case.calls_max, &case.caps))?;
    prediction.ledger(case, call_id).check(&ran.entries)?;
    let timelines = CallTimeline::all(&ran.events);
    for (index, (predicted, result)) in prediction.results.iter().zip(&ran.output).enumerate() {
        prop_assert_eq!(&*result.call_id, call_id(index), "results come in the order of the calls");
        prop_assert_eq!(result.error_kind().map(|kind| kind.as_str()), predicted.error, "call {}", index);
        prop_assert_eq!(result.attempts, predicted.attempts, "call {}", index);
        prop_assert_eq!(result.duration, predicted.finishes, "call {}", index);
        let timeline = timelines.iter().find(|timeline| *timeline.call_id == *result.call_id).unwrap();
        let starts = timeline.attempts.first().map(|began| began.moment.at);
        prop_assert_eq!(starts, predicted.starts, "call {}", index);
    }
    Ok(())
}

proptest! {
    #![proptest_config(family!("batches"))]

    #[test]
    fn a_batch_does_what_the_model_says(case in batch_cases()) {
        check(&case)?;
    }

    #[test]
    fn a_world_that_holds_up_every_step_breaks_no_invariant(case in batch_cases(), delays in vec(durations(), 1..9)) {
        let calls = calls(&case);
        let setup = Setup { delays, ..setup(&case) };
        let ran = simulated::run(setup, |executor| async move { executor.run_many(calls).await.unwrap() })?;
        ran.check_held_up(&case.policies, &run_limits(case.calls_max, &case.caps))?;
        prop_assert_eq!(ran.entries.len(), case.calls.len());
        prop_assert!(open_calls(&ran.events).is_empty());
    }

    #[test]
    fn the_same_seed_gives_the_same_batch(case in batch_cases(), seed: u64) {
        let backoff = BackoffSettings { jitter: 1.0, ..case.backoff };
        let run = World::new(seed).check_determinism(|world| {
            let setup = Setup { backoff, ..setup(&case) };
            let executor = simulated::plain_executor(setup, world.env(), world.trace());
            let calls = calls(&case);
            async move { executor.run_many(calls).await.map(drop).unwrap() }
        });
        if let Err(divergence) = run {
            return Err(TestCaseError::fail(divergence.to_string()));
        }
    }
}
