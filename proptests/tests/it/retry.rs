//! Lone calls: attempts, delays, ends and the time they take (E3–E5).

use std::time::Duration;

use proptest::prelude::*;
use serde_json::json;
use windtunnel_core::executor::{BackoffSettings, ToolCall};
use windtunnel_proptests::CallTimeline;
use windtunnel_proptests::cases::{Ending, Policies, RetryCase, Script, Step};
use windtunnel_proptests::invariants::lone_call_adds_up;
use windtunnel_proptests::models::{CallEnd, LedgerModel, ObservedCall, PredictedEntry, RetryPrediction};
use windtunnel_proptests::played::PlayedTool;
use windtunnel_proptests::strategies::{retry_cases, units};

use crate::settings::family;
use crate::simulated::{self, Setup};

pub(crate) fn check(case: &RetryCase) -> Result<(), TestCaseError> {
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

proptest! {
    #![proptest_config(family!("retry"))]

    #[test]
    fn a_lone_call_does_what_the_model_says(case in retry_cases()) {
        check(&case)?;
    }

    #[test]
    fn waits_of_years_are_exact_too(
        base_s in 0.001..1e9, multiplier in 1.0..3.0, retries in 0_u32..=4, units in prop::collection::vec(units(), 4),
        takes_ns in 0_u64..=u64::from(u32::MAX),
    ) {
        let step = Step { takes: Duration::from_nanos(takes_ns), ending: Ending::ForeignError };
        check(&RetryCase {
            script: Script::always(step),
            retries,
            timeout: None,
            backoff: BackoffSettings { base_s, max_s: 1e9, multiplier, jitter: 1.0 },
            units,
        })?;
    }
}
