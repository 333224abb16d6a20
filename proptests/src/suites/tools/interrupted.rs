//! Calls that nobody waits for any more.

use windtunnel_core::evaluator::ToolProvider;

use super::trial::{Seen, Trial, demand, drawn, needs};
use super::{ToolFeature, ToolProviderSubject};
use crate::strategies::returning_tool_sessions;
use crate::suites::Point;
use crate::suites::turns::dropped_after;

/// A call is dropped after 0 turns, 1, and so on.
const TURNS_MAX: u8 = 5;

pub(super) fn points<S: ToolProviderSubject>() -> Vec<Point<S>> {
    vec![
        drawn("dropped_call", "a call that is dropped disturbs no later one", returning_tool_sessions, dropped),
        needs(
            ToolFeature::EndsWhenDropped,
            drawn("dropped_is_over", "of a call that is dropped nothing runs on", returning_tool_sessions, over),
        ),
    ]
}

async fn dropped<P: ToolProvider>(trial: &Trial<P>) -> Seen {
    for number in trial.numbers() {
        for turns in 0..=TURNS_MAX {
            drop(dropped_after(turns, trial.call(number)).await);
        }
        for later in trial.numbers() {
            let called = trial.call(later).await;
            demand(trial.is_due(later, &called), || {
                format!("call {number} was dropped, and then call {later} comes to {called:?}")
            })?;
        }
    }
    Ok(())
}

async fn over<P: ToolProvider>(trial: &Trial<P>) -> Seen {
    for number in trial.numbers() {
        for turns in 0..=TURNS_MAX {
            drop(dropped_after(turns, trial.call(number)).await);
            let running = trial.service.running();
            demand(running == 0, || format!("call {number} was dropped after {turns} turns, and runs on"))?;
        }
    }
    Ok(())
}
