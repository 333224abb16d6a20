//! Whole batches against the model of everything: guards, queues, attempts, time and the ledger.

use crate::CallTimeline;
use crate::cases::{BatchCase, Script, run_limits};
use crate::models::BatchPrediction;
use crate::played::PlayedTool;
use crate::strategies::batch_cases;
use proptest::prelude::*;
use serde_json::json;
use windtunnel_core::executor::{CallContext, Executor, ToolCall};

use super::Property;
use super::simulated::{self, Setup};

/// An executor with the case's tools and limits.
pub fn setup(case: &BatchCase) -> Setup {
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

/// The id of a call, by its place in the case.
pub fn call_id(index: usize) -> String {
    format!("call-{index}")
}

/// The case's calls. Their arguments say which they are.
pub fn calls(case: &BatchCase) -> Vec<ToolCall> {
    let call = |(index, name): (usize, &String)| ToolCall::new(name, json!({"index": index})).with_id(call_id(index));
    case.calls.iter().map(|call| &call.tool).enumerate().map(call).collect()
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

pub(super) fn properties() -> Vec<Property> {
    vec![Property::new("batches", "a batch does what the model says", batch_cases, |case| check(&case))]
}
