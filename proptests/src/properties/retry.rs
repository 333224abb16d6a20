//! Lone calls: attempts, delays, ends and the time they take (E3–E5).

use std::time::Duration;

use crate::CallTimeline;
use crate::cases::{Ending, Policies, RetryCase, Script, Step};
use crate::invariants::lone_call_adds_up;
use crate::models::{CallEnd, LedgerModel, ObservedCall, PredictedEntry, RetryPrediction};
use crate::played::PlayedTool;
use crate::strategies::{retry_cases, units};
use proptest::prelude::*;
use serde_json::json;
use windtunnel_core::executor::{BackoffSettings, ToolCall};

use super::Property;
use super::simulated::{self, Setup};

fn check(case: &RetryCase) -> Result<(), TestCaseError> {
    let prediction = RetryPrediction::of(case);
    let policies = Policies::from([("tool".to_owned(), case.policy())]);
    let setup = Setup { backoff: case.backoff, units: case.units.clone(), ..Setup::default() }
        .with_tool(PlayedTool::new(case.policy().spec("tool"), case.script.clone()));
    let ran = simulated::run(setup, |executor| async move {
        let result = executor.run_call(ToolCall::new("tool", json!({})).with_id("call")).await;
        (result, executor.env().now())
    })?;

    let (result, elapsed) = &ran.output;
    ran.check(&policies, &Default::default())?;
    let timelines = CallTimeline::all(&ran.events);
    let [timeline] = &timelines[..] else { return Err(TestCaseError::fail("one call was made")) };
    prediction.check(&ObservedCall::of(timeline, *elapsed).unwrap())?;
    lone_call_adds_up(timeline, &prediction.busy)?;
    // Nothing but a wait draws.
    prop_assert_eq!(ran.draws, prediction.delays_s.len());

    let mut ledger = LedgerModel::default();
    match result {
        Ok(result) => {
            prop_assert_eq!(result.attempts, prediction.attempts());
            prop_assert_eq!(Some(result.status()), prediction.end.status());
            prop_assert_eq!(result.error_kind().map(|kind| kind.as_str()), prediction.end.error_kind());
            prop_assert_eq!(result.duration, *elapsed);
            prop_assert_eq!(result.error().is_some_and(|error| error.retryable), prediction.end == CallEnd::TimedOut);
            ledger.add(PredictedEntry {
                call_id: "call".to_owned(),
                tool: "tool".to_owned(),
                error: prediction.end.error_kind(),
                attempts: prediction.attempts(),
                duration: Some(*elapsed),
            });
        }
        // Control flow is no result: it has no entry.
        Err(_interrupted) => prop_assert_eq!(prediction.end, CallEnd::Interrupted),
    }
    ledger.check(&ran.entries)?;
    Ok(())
}

/// Waits of years, of a tool that always fails.
fn long_waits() -> impl Strategy<Value = RetryCase> {
    let waits = (0.001..1e9, 1.0..3.0, 0_u32..=4, prop::collection::vec(units(), 4), 0_u64..=u64::from(u32::MAX));
    waits.prop_map(|(base_s, multiplier, retries, units, takes_ns)| RetryCase {
        script: Script::always(Step { takes: Duration::from_nanos(takes_ns), ending: Ending::ForeignError }),
        retries,
        timeout: None,
        backoff: BackoffSettings { base_s, max_s: 1e9, multiplier, jitter: 1.0 },
        units,
    })
}

pub(super) fn properties() -> Vec<Property> {
    vec![
        Property::new("lone_calls", "a lone call does what the model says", retry_cases, |case| check(&case)),
        Property::new("long_waits", "waits of years are exact too", long_waits, |case| check(&case)),
    ]
}
