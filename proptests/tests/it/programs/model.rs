//! Evaluations do what the model says.

use std::num::NonZeroU64;

use proptest::prelude::*;
use windtunnel_core::evaluator::{ExecutionLimits, ExecutionPolicy};
use windtunnel_proptests::cases::{Keying, ProgramCase, ProgramTree, without_messages};
use windtunnel_proptests::models::{PredictedCall, ProgramPrediction};
use windtunnel_proptests::played::ObservedAttempt;
use windtunnel_proptests::strategies::{
    failing_tools, lambda_programs, programs, retry_policies, sequential_program_cases, slow_tools,
};

use super::evaluated::{Evaluated, evaluate, predict};
use crate::settings::family;

/// The calls that a provider saw, each with its last attempt.
fn calls(attempts: &[ObservedAttempt]) -> Vec<PredictedCall> {
    let is_last = |(index, attempt): &(usize, &ObservedAttempt)| {
        !attempts[index + 1..].iter().any(|later| later.call_id == attempt.call_id)
    };
    let calls = attempts.iter().enumerate().filter(is_last).map(|(_, attempt)| PredictedCall {
        tool: attempt.tool.clone(),
        arguments: without_messages(&attempt.arguments),
        attempts: attempt.attempt,
    });
    calls.collect()
}

fn sorted(calls: &[PredictedCall]) -> Vec<String> {
    let mut sorted: Vec<_> = calls.iter().map(|call| format!("{call:?}")).collect();
    sorted.sort();
    sorted
}

fn check_consumption(evaluated: &Evaluated, prediction: &ProgramPrediction) -> Result<(), TestCaseError> {
    prop_assert_eq!(&evaluated.end, &prediction.end);
    prop_assert_eq!(evaluated.consumption.nodes, prediction.nodes, "nodes");
    prop_assert_eq!(evaluated.consumption.tool_calls, prediction.tool_calls, "tool calls");
    if prediction.is_ordered {
        prop_assert_eq!(evaluated.consumption.peak_depth, prediction.peak_depth, "depth");
        prop_assert_eq!(evaluated.consumption.peak_call_depth, prediction.peak_call_depth, "call depth");
        prop_assert_eq!(evaluated.elapsed, prediction.elapsed, "elapsed");
    }
    Ok(())
}

pub(crate) fn check_sequential(case: &ProgramCase) -> Result<(), TestCaseError> {
    let prediction = predict(case)?;
    let evaluated = evaluate(case)?;
    prop_assert!(prediction.is_certain, "one thing after another is certain");
    check_consumption(&evaluated, &prediction)?;
    prop_assert!(prediction.is_ordered);
    prop_assert_eq!(calls(&evaluated.attempts), prediction.calls);
    prop_assert_eq!(evaluated.consumption.peak_concurrency, 1, "nothing is done at once");
    Ok(())
}

/// With nothing that counts calls, and no failure, all that matters is what is called, not in which order.
fn check_free(case: &ProgramCase) -> Result<(), TestCaseError> {
    let prediction = predict(case)?;
    let evaluated = evaluate(case)?;
    prop_assert!(prediction.is_certain || !prediction.end.is_free_of_failures());
    if !prediction.is_certain {
        return Ok(());
    }
    check_consumption(&evaluated, &prediction)?;
    prop_assert_eq!(sorted(&calls(&evaluated.attempts)), sorted(&prediction.calls));
    let is_one_strand = matches!(case.program, ProgramTree::Version2(_)) && case.program.branch_count() == 1;
    if is_one_strand {
        prop_assert_eq!(calls(&evaluated.attempts), prediction.calls, "version 2 keeps the order");
    }
    Ok(())
}

proptest! {
    #![proptest_config(family!("program-model"))]

    #[test]
    fn one_thing_after_another_is_as_predicted_with_its_failures(case in sequential_program_cases()) {
        check_sequential(&case)?;
    }

    #[test]
    fn things_at_once_are_as_predicted(program in programs(), tools in slow_tools()) {
        check_free(&ProgramCase { tools, ..ProgramCase::plain(program) })?;
    }

    #[test]
    fn lambdas_in_each_other_are_as_predicted(program in lambda_programs(), tools in slow_tools()) {
        check_free(&ProgramCase { tools, ..ProgramCase::plain(program) })?;
    }

    #[test]
    fn things_at_once_within_a_limit_are_as_predicted(program in programs(), tools in slow_tools(), limit in 1_u64..4) {
        let limits = ExecutionLimits { max_concurrency: NonZeroU64::new(limit), ..ExecutionLimits::default() };
        check_free(&ProgramCase { tools, limits, ..ProgramCase::plain(program) })?;
    }

    #[test]
    fn retries_at_once_are_as_predicted(program in programs(), mut tools in failing_tools(), retry in retry_policies()) {
        tools.keying = Keying::Arguments;
        let policy = ExecutionPolicy { retry, ..ExecutionPolicy::default() };
        check_free(&ProgramCase { tools, policy, ..ProgramCase::plain(program) })?;
    }
}
