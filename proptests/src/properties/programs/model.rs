//! Evaluations do what the model says.

use std::num::NonZeroU64;

use crate::cases::{Keying, ProgramCase, ProgramTree, without_messages};
use crate::models::{PredictedCall, ProgramPrediction};
use crate::played::ObservedAttempt;
use crate::strategies::{
    failing_tools, lambda_programs, programs, retry_policies, sequential_program_cases, slow_tools,
};
use proptest::prelude::*;
use windtunnel_core::evaluator::{ExecutionLimits, ExecutionPolicy};

use crate::properties::Property;
use crate::properties::evaluated::{Evaluated, evaluate, predict};

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

pub(super) fn check_sequential(case: &ProgramCase) -> Result<(), TestCaseError> {
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

pub(super) fn properties() -> Vec<Property> {
    let free = |(program, tools)| check_free(&ProgramCase { tools, ..ProgramCase::plain(program) });
    vec![
        Property::new(
            "sequential_programs",
            "one thing after another is as predicted, with its failures",
            sequential_program_cases,
            |case| check_sequential(&case),
        ),
        Property::new("programs", "things at once are as predicted", || (programs(), slow_tools()), free),
        Property::new("lambdas", "lambdas in each other are as predicted", || (lambda_programs(), slow_tools()), free),
        Property::new(
            "capped_programs",
            "things at once within a limit are as predicted",
            || (programs(), slow_tools(), 1_u64..4),
            |(program, tools, limit)| {
                let limits = ExecutionLimits { max_concurrency: NonZeroU64::new(limit), ..ExecutionLimits::default() };
                check_free(&ProgramCase { tools, limits, ..ProgramCase::plain(program) })
            },
        ),
        Property::new(
            "retrying_programs",
            "retries at once are as predicted",
            || (programs(), failing_tools(), retry_policies()),
            |(program, mut tools, retry)| {
                tools.keying = Keying::Arguments;
                let policy = ExecutionPolicy { retry, ..ExecutionPolicy::default() };
                check_free(&ProgramCase { tools, policy, ..ProgramCase::plain(program) })
            },
        ),
    ]
}
