//! First come, first served (E10), to the nanosecond.

use crate::CallTimeline;
use crate::cases::{Ending, Policies, QueueCase, QueuedCall, Script, Step, ToolPolicy, run_limits};
use crate::models::{QueuePrediction, Turn};
use crate::played::PlayedTool;
use crate::strategies::{queue_cases, staggered_queue_cases};
use futures_util::StreamExt;
use futures_util::future::join_all;
use futures_util::stream::FuturesUnordered;
use proptest::prelude::*;
use serde_json::json;
use windtunnel_core::executor::{CallContext, ToolCall};

use super::Property;
use super::simulated::{self, Setup};

fn tool(call: &QueuedCall) -> String {
    format!("{}-{}", call.kind, if call.is_exclusive { "alone" } else { "shared" })
}

fn policies(case: &QueueCase) -> Policies {
    let policy = |call: &QueuedCall| ToolPolicy {
        kind: Some(call.kind.clone()),
        is_exclusive: call.is_exclusive,
        ..ToolPolicy::default()
    };
    case.calls.iter().map(|call| (tool(call), policy(call))).collect()
}

/// How the futures of the calls are polled.
#[derive(Clone, Copy, Debug)]
enum Polling {
    /// In the order they are woken, as tasks are.
    AsWoken,
    /// All of them in turn, whichever was woken, as `join` does.
    AllInTurn,
}

/// The turn of each call.
fn observe(case: &QueueCase, polling: Polling) -> Result<Vec<Turn>, TestCaseError> {
    let policies = policies(case);
    let setup = Setup { limits: run_limits(None, &case.caps), ..Setup::default() };
    let setup = policies.iter().fold(setup, |setup, (name, policy)| {
        let runs_for: Vec<_> = case.calls.iter().map(|call| call.runs_for).collect();
        let choose = move |arguments: &serde_json::Value| {
            let index = usize::try_from(arguments["index"].as_u64().unwrap()).unwrap();
            Script::always(Step { takes: runs_for[index], ending: Ending::Value })
        };
        setup.with_tool(PlayedTool::choosing(policy.spec(name), choose))
    });
    let ran = simulated::run(setup, |executor| async move {
        let executor = executor.in_context(CallContext { run_id: "run".to_owned(), ..CallContext::default() });
        let calls = case.calls.iter().enumerate().map(|(index, call)| {
            let (executor, arrives) = (executor.clone(), call.arrives);
            let call = ToolCall::new(tool(call), json!({"index": index})).with_id(format!("call-{index}"));
            async move {
                executor.env().until(arrives).await;
                executor.run_call(call).await.map(drop).unwrap();
            }
        });
        match polling {
            Polling::AsWoken => calls.collect::<FuturesUnordered<_>>().collect::<Vec<_>>().await,
            Polling::AllInTurn => join_all(calls).await,
        }
    })?;

    ran.check(&policies, &run_limits(None, &case.caps))?;
    let timelines = CallTimeline::all(&ran.events);
    let turn = |(index, call): (usize, &QueuedCall)| {
        let timeline = timelines.iter().find(|timeline| *timeline.call_id == *format!("call-{index}")).unwrap();
        prop_assert_eq!(timeline.started.at, call.arrives);
        Ok(Turn { starts: timeline.attempts[0].moment.at, finishes: timeline.last.at })
    };
    case.calls.iter().enumerate().map(turn).collect()
}

fn check(case: &QueueCase, polling: Polling) -> Result<(), TestCaseError> {
    prop_assert_eq!(observe(case, polling)?, QueuePrediction::of(case).turns);
    Ok(())
}

fn pollings() -> impl Strategy<Value = Polling> {
    prop_oneof![Just(Polling::AsWoken), Just(Polling::AllInTurn)]
}

pub(super) fn properties() -> Vec<Property> {
    vec![
        Property::new(
            "queues",
            "calls that come at once are served in order",
            || (queue_cases(), pollings()),
            |(case, polling)| check(&case, polling),
        ),
        Property::new(
            "staggered_queues",
            "calls that come one after the other are served in order",
            || (staggered_queue_cases(), pollings()),
            |(case, polling)| check(&case, polling),
        ),
    ]
}
