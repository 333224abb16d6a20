//! What the strategies of programs make, measured: the shares that their documentation promises.

use proptest::strategy::{BoxedStrategy, Strategy};
use windtunnel_core::evaluator::{ErrorKind, Program};
use windtunnel_proptests::cases::{NodeKind, ProgramCase, ProgramTree};
use windtunnel_proptests::models::{BranchEnd, ProgramEnd, ProgramPrediction};
use windtunnel_proptests::strategies;

use crate::distribution::{check, some_cases};

const CASES: usize = 600;

fn cases<S: Strategy>(strategy: S) -> Vec<S::Value> {
    some_cases(strategy, CASES)
}

fn predicted(cases: &[ProgramCase]) -> Vec<ProgramPrediction> {
    cases.iter().filter_map(ProgramPrediction::of).collect()
}

#[test]
fn programs_are_valid_and_of_every_kind_of_node() {
    let programs = cases(strategies::programs());
    for program in &programs {
        let json = program.to_json();
        assert!(Program::from_value(&json).is_ok(), "{}", Program::from_value(&json).unwrap_err());
    }
    let kinds: Vec<_> = programs.iter().map(ProgramTree::node_kinds).collect();
    for (kind, at_least_percent) in NodeKind::ALL.into_iter().zip([18, 40, 40, 60, 3, 6, 6, 20, 45, 30, 30, 45, 22, 34])
    {
        check(&kinds, &format!("have a {kind:?}"), at_least_percent, |kinds| kinds.contains_key(&kind));
    }
    let sizes: Vec<_> = kinds.iter().map(|kinds| kinds.values().sum::<usize>()).collect();
    check(&sizes, "have over 10 nodes", 40, |size| *size > 10);
    check(&sizes, "have under 100 nodes", 90, |size| *size < 100);
}

#[test]
fn programs_come_to_values_and_to_errors_of_their_own() {
    let both: [(BoxedStrategy<ProgramTree>, _, _); 2] =
        [(strategies::programs_of_version_1().boxed(), 65, 15), (strategies::programs_of_version_2().boxed(), 80, 5)];
    for (strategy, values, errors) in both {
        let programs: Vec<_> = cases(strategy).into_iter().map(ProgramCase::plain).collect();
        let predictions = predicted(&programs);
        assert!(predictions.len() * 100 >= programs.len() * 97, "{} are short", predictions.len());
        check(&predictions, "come to a value", values, |prediction| prediction.end.failure().is_none());
        check(&predictions, "come to an error", errors, |prediction| prediction.end.failure().is_some());
        check(&predictions, "call a tool", 70, |prediction| prediction.tool_calls > 0);
        check(&predictions, "evaluate over 10 nodes", 40, |prediction| prediction.nodes > 10);
    }
}

#[test]
fn evaluations_end_in_every_way() {
    let predictions = predicted(&cases(strategies::sequential_program_cases()));
    check(&predictions, "come to a value", 30, |case| matches!(case.end, ProgramEnd::Value(_)));
    check(&predictions, "come to outcomes", 12, |case| matches!(case.end, ProgramEnd::Branches(_)));
    check(&predictions, "are interrupted", 2, |case| case.end == ProgramEnd::Interrupted);
    for (kind, at_least_percent) in [
        (ErrorKind::ExecutionLimit, 12),
        (ErrorKind::ToolExecution, 3),
        (ErrorKind::Timeout, 1),
        (ErrorKind::Unclassified, 1),
        (ErrorKind::AstValidation, 3),
        (ErrorKind::InvalidPolicy, 1),
    ] {
        check(&predictions, kind.as_str(), at_least_percent, |case| case.end.failure() == Some(kind));
    }
    for kind in [ErrorKind::ToolNotFound, ErrorKind::TypeError, ErrorKind::ProviderResponse, ErrorKind::ReplayMismatch]
    {
        assert!(predictions.iter().any(|case| case.end.failure() == Some(kind)), "none is {kind}");
    }
    check(&predictions, "take time", 20, |case| !case.elapsed.is_zero());
    check(&predictions, "try again", 5, |case| case.calls.iter().any(|call| call.attempts > 1));
    check(&predictions, "collect a failure", 5, |case| {
        case.branches().iter().any(|branch| matches!(branch, BranchEnd::Failed(_)))
    });
}

#[test]
fn mutated_programs_are_refused_and_accepted() {
    let read: Vec<_> =
        cases(strategies::mutated_programs()).iter().map(|json| Program::from_value(json).is_ok()).collect();
    check(&read, "are refused", 60, |is_ok| !is_ok);
    check(&read, "are accepted", 10, |is_ok| *is_ok);
}
