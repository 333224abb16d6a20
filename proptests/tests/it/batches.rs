//! Whole batches in worlds that hold up their steps, and again with the same seed.

use proptest::collection::vec;
use proptest::prelude::*;
use windtunnel_core::executor::{BackoffSettings, ToolResult};
use windtunnel_proptests::cases::run_limits;
use windtunnel_proptests::invariants::open_calls;
use windtunnel_proptests::properties::batches::{calls, setup};
use windtunnel_proptests::properties::simulated::{self, Setup};
use windtunnel_proptests::strategies::{batch_cases, durations};
use windtunnel_sim::World;

use crate::settings::family;

/// What can be told of a result.
pub(crate) fn told(result: &ToolResult) -> (String, u32, std::time::Duration) {
    (result.to_model_text(), result.attempts, result.duration)
}

proptest! {
    #![proptest_config(family!("batches"))]

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
