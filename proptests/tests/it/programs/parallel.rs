//! What the failure of one branch does to the others (V8).

use std::num::NonZeroU64;
use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::Config;
use serde_json::{Value, json};
use windtunnel_core::evaluator::{ErrorKind, ExecutionLimits, ExecutionPolicy, Mode, ParallelFailures, RetryPolicy};
use windtunnel_proptests::cases::{
    AttemptEnding, AttemptScript, AttemptStep, Expression, FunctionNode, Keying, ProgramCase, ProgramTool, ProgramTree,
    ToolBehaviours, Version1Node,
};
use windtunnel_proptests::models::{BranchEnd, ProgramEnd};
use windtunnel_proptests::played::ObservedAttempt;
use windtunnel_proptests::strategies::{
    failing_tools, programs, programs_of_version_1, programs_of_version_2, retry_policies,
};

use crate::settings::family;
use windtunnel_proptests::properties::evaluated::evaluate;

/// Branches at once, one thing after another in each, and tools that look at nothing but their arguments: what a branch
/// comes to follows from the branch.
fn case(
    mut program: ProgramTree,
    tools: ToolBehaviours,
    retry: RetryPolicy,
    parallel_failures: ParallelFailures,
) -> ProgramCase {
    match &mut program {
        ProgramTree::Version1(program) => program.mode = Mode::Parallel,
        ProgramTree::Version2(program) => program.mode = Mode::Parallel,
    }
    ProgramCase {
        program,
        tools: ToolBehaviours { keying: Keying::Arguments, ..tools },
        limits: ExecutionLimits { max_concurrency: NonZeroU64::new(8), ..ExecutionLimits::default() },
        policy: ExecutionPolicy { retry, parallel_failures },
    }
}

/// How each branch ends alone.
fn alone(case: &ProgramCase) -> Result<Vec<ProgramEnd>, TestCaseError> {
    let branches = 0..case.program.branch_count();
    branches
        .map(|index| Ok(evaluate(&ProgramCase { program: case.program.only_branch(index), ..case.clone() })?.end))
        .collect()
}

fn check_collected(case: &ProgramCase) -> Result<(), TestCaseError> {
    let (together, alone) = (evaluate(case)?.end, alone(case)?);
    if alone.contains(&ProgramEnd::Interrupted) {
        prop_assert_eq!(together, ProgramEnd::Interrupted, "control flow is no outcome");
        return Ok(());
    }
    let outcomes: Vec<BranchEnd> = alone
        .into_iter()
        .flat_map(|end| match end {
            ProgramEnd::Branches(branches) => branches,
            other => panic!("one branch, collected, came to {other:?}"),
        })
        .collect();
    prop_assert_eq!(together, ProgramEnd::Branches(outcomes), "one outcome for each branch, in order");
    Ok(())
}

fn check_raised(case: &ProgramCase) -> Result<(), TestCaseError> {
    let (together, alone) = (evaluate(case)?.end, alone(case)?);
    let failures: Vec<_> = alone.iter().filter(|end| !matches!(end, ProgramEnd::Value(_))).collect();
    if failures.is_empty() {
        let values: Vec<_> =
            alone.into_iter().map(|end| if let ProgramEnd::Value(value) = end { value } else { panic!() }).collect();
        let value = if values.len() == 1 { values[0].clone() } else { values.into() };
        prop_assert_eq!(together, ProgramEnd::Value(value));
    } else {
        prop_assert!(failures.contains(&&together), "{:?} is none of {:?}", together, failures);
    }
    Ok(())
}

/// A branch beside one that takes long makes the same attempts for the same time as alone: what a failure cancels in it
/// runs on in no case.
fn check_beside(case: &ProgramCase) -> Result<(), TestCaseError> {
    let ping = FunctionNode { tool: ProgramTool::Ping.name().to_owned(), is_prefixed: false, params: vec![] };
    let ProgramTree::Version1(mut program) = case.program.only_branch(0) else { return Ok(()) };
    let alone = evaluate(&ProgramCase { program: ProgramTree::Version1(program.clone()), ..case.clone() })?;
    program.body.push(Version1Node::Function(ping));
    let beside = evaluate(&ProgramCase { program: ProgramTree::Version1(program), ..case.clone() })?;
    if alone.end == ProgramEnd::Interrupted {
        return Ok(());
    }
    let attempts = |attempts: &[ObservedAttempt]| -> Vec<String> {
        let without_ids = |attempt: &ObservedAttempt| ObservedAttempt { call_id: String::new(), ..attempt.clone() };
        let mut told: Vec<_> = attempts.iter().map(|attempt| format!("{:?}", without_ids(attempt))).collect();
        told.sort();
        told
    };
    let mut expected = alone.attempts;
    expected.push(ObservedAttempt {
        call_id: String::new(),
        tool: ProgramTool::Ping.name().to_owned(),
        arguments: json!({}),
        attempt: 1,
        began: Duration::ZERO,
        failure: None,
        ended: Some(LONG),
    });
    prop_assert_eq!(attempts(&beside.attempts), attempts(&expected));
    Ok(())
}

/// The program with branches that all ask for one memo, some of them after a while.
fn sharing(program: ProgramTree, others: &[u8]) -> ProgramTree {
    let ProgramTree::Version2(mut program) = program else { return program };
    let call = |tool: ProgramTool, arguments: Vec<(&str, Expression)>| Expression::ToolCall {
        tool: tool.name().to_owned(),
        arguments: arguments.into_iter().map(|(name, argument)| (name.to_owned(), argument)).collect(),
    };
    let literal = |value: Value| Expression::Literal(value);
    let shared = Expression::Memo {
        key: "shared".to_owned(),
        expression: Box::new(call(ProgramTool::Fetch, vec![("key", literal(json!("shared")))])),
    };
    program.body.extend(others.iter().map(|other| {
        let before = call(ProgramTool::Negate, vec![("n", literal(json!(other)))]);
        call(ProgramTool::Subtract, vec![("a", before), ("b", shared.clone())])
    }));
    ProgramTree::Version2(program)
}

/// Longer than anything else takes.
const LONG: Duration = Duration::from_secs(10_000);

/// Each case is evaluated once for each branch too.
fn config() -> Config {
    let config = family!("program-parallel");
    Config { cases: config.cases.div_ceil(2), ..config }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn collected_outcomes_are_those_of_the_branches_alone(program in programs(), tools in failing_tools(), retry in retry_policies()) {
        check_collected(&case(program, tools, retry, ParallelFailures::Collect))?;
    }

    #[test]
    fn a_raised_failure_is_that_of_a_branch_alone(program in programs(), tools in failing_tools(), retry in retry_policies()) {
        check_raised(&case(program, tools, retry, ParallelFailures::Raise))?;
    }

    #[test]
    fn branches_that_share_a_memo_come_to_what_they_come_to_alone(
        program in programs_of_version_2(), others in vec(0_u8..4, 2..=4), tools in failing_tools(), retry in retry_policies(), fails: bool,
    ) {
        let mut case = case(sharing(program.only_branch(0), &others), tools, retry, ParallelFailures::Collect);
        let ending = if fails { AttemptEnding::Failure(ErrorKind::ToolExecution) } else { AttemptEnding::Value };
        let step = AttemptStep { takes: Duration::from_millis(2), ending, ..AttemptStep::VALUE };
        case.tools.scripts.insert(ProgramTool::Fetch, vec![AttemptScript { steps: vec![step] }]);
        check_collected(&case)?;
    }

    #[test]
    fn a_failure_ends_all_that_its_branch_does(program in programs_of_version_1(), tools in failing_tools(), retry in retry_policies()) {
        prop_assume!(program.branch_count() > 0);
        let mut case = case(program, tools, retry, ParallelFailures::Collect);
        case.limits = ExecutionLimits::default();
        let long = AttemptScript { steps: vec![AttemptStep { takes: LONG, ..AttemptStep::VALUE }] };
        case.tools.scripts.insert(ProgramTool::Ping, vec![long]);
        check_beside(&case)?;
    }

    #[test]
    fn branches_that_do_more_at_once_raise_or_not_as_they_do_alone(program in programs(), tools in failing_tools(), retry in retry_policies()) {
        // Which of its failures a branch ends with may depend on the others; whether it fails does not.
        let case = case(program, tools, retry, ParallelFailures::Raise);
        let case = ProgramCase { limits: ExecutionLimits::default(), ..case };
        let (together, alone) = (evaluate(&case)?.end, alone(&case)?);
        prop_assert_eq!(matches!(together, ProgramEnd::Value(_)), alone.iter().all(|end| matches!(end, ProgramEnd::Value(_))));
    }
}
