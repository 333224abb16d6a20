//! What a program comes to does not depend on the turns that siblings take, nor on anything but the seed.

use std::num::NonZeroU64;
use std::time::Duration;

use proptest::prelude::*;
use windtunnel_core::evaluator::{ExecutionLimits, ExecutionPolicy, ParallelFailures};
use windtunnel_proptests::cases::{Keying, ProgramCase};
use windtunnel_proptests::models::ProgramEnd;
use windtunnel_proptests::strategies::{failing_tools, program_cases, programs, retry_policies, yielding_tools};
use windtunnel_sim::World;

use crate::settings::family;
use windtunnel_proptests::properties::evaluated::{Turns, evaluate, evaluate_in_turns, evaluator, predict, read, told};

fn check_free(case: &ProgramCase, seeds: [u64; 2]) -> Result<(), TestCaseError> {
    let written = evaluate(case)?;
    if !written.end.is_free_of_failures() {
        return Ok(());
    }
    let is_ordered = predict(case)?.is_ordered;
    for seed in seeds {
        let drawn = evaluate_in_turns(case, Turns::Drawn(seed))?;
        prop_assert_eq!(&drawn.told, &written.told);
        prop_assert_eq!(drawn.consumption.nodes, written.consumption.nodes);
        prop_assert_eq!(drawn.consumption.tool_calls, written.consumption.tool_calls);
        let mut calls: Vec<_> = drawn.attempts.iter().map(|call| format!("{} {}", call.tool, call.arguments)).collect();
        let mut same: Vec<_> =
            written.attempts.iter().map(|call| format!("{} {}", call.tool, call.arguments)).collect();
        calls.sort();
        same.sort();
        prop_assert_eq!(calls, same);
        // Else the first that asks for a shared memo evaluates it, at its own depth.
        if is_ordered {
            prop_assert_eq!(drawn.consumption.peak_depth, written.consumption.peak_depth);
            prop_assert_eq!(drawn.consumption.peak_call_depth, written.consumption.peak_call_depth);
            prop_assert_eq!(drawn.elapsed, written.elapsed);
        }
    }
    Ok(())
}

/// Inside each branch one thing comes after another, and tools look at nothing but their arguments.
fn check_collected(case: &ProgramCase, seeds: [u64; 2]) -> Result<(), TestCaseError> {
    let written = evaluate(case)?;
    if !matches!(written.end, ProgramEnd::Branches(_)) {
        return Ok(());
    }
    for seed in seeds {
        let drawn = evaluate_in_turns(case, Turns::Drawn(seed))?;
        prop_assert_eq!(&drawn.told, &written.told, "each branch has its outcome");
    }
    Ok(())
}

proptest! {
    #![proptest_config(family!("program-order"))]

    #[test]
    fn turns_change_nothing_where_nothing_fails(program in programs(), tools in yielding_tools(), seeds: [u64; 2]) {
        check_free(&ProgramCase { tools, ..ProgramCase::plain(program) }, seeds)?;
    }

    #[test]
    fn turns_change_no_outcome_of_a_branch(
        program in programs(), mut tools in failing_tools(), retry in retry_policies(), seeds: [u64; 2],
    ) {
        tools.keying = Keying::Arguments;
        let limits = ExecutionLimits { max_concurrency: NonZeroU64::new(8), ..ExecutionLimits::default() };
        let policy = ExecutionPolicy { retry, parallel_failures: ParallelFailures::Collect };
        check_collected(&ProgramCase { program, tools, limits, policy }, seeds)?;
    }

    #[test]
    fn the_same_seed_gives_the_same_evaluation(case in program_cases(), seed: u64, is_drawn: bool) {
        let program = read(&case.program.to_json())?;
        let turns = if is_drawn { Turns::Drawn(seed) } else { Turns::Written };
        let run = World::new(seed).time_limit(Duration::MAX).check_determinism(|world| {
            let ((evaluator, provider), program) = (evaluator(&case, &world, turns), program.clone());
            async move {
                let evaluation = evaluator.evaluate(&program).await;
                (told(&evaluation), evaluation.consumption, provider.attempts())
            }
        });
        match run {
            Ok(run) => prop_assert!(run.outcome.is_ok()),
            Err(divergence) => return Err(TestCaseError::fail(divergence.to_string())),
        }
    }
}
