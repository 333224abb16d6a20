//! Limits are inclusive: what an evaluation uses is enough, and less is not (V6).

use std::num::NonZeroU64;
use std::time::Duration;

use crate::cases::{ProgramCase, ProgramTree};
use crate::models::{BranchEnd, ProgramEnd, ProgramFailure, ProgramPrediction};
use crate::strategies::{programs, programs_of_version_2, sequential_program_cases, slow_tools};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use windtunnel_core::evaluator::{ExecutionLimits, Resource};

use super::model::check_sequential;
use crate::properties::Property;
use crate::properties::evaluated::{Evaluated, evaluate, predict};

const RESOURCES: [Resource; 6] = [
    Resource::Nodes,
    Resource::Depth,
    Resource::CallDepth,
    Resource::ToolCalls,
    Resource::Bytes,
    Resource::WallClockSeconds,
];

/// What was used of a resource; nanoseconds of time.
fn used_of(resource: Resource, evaluated: &Evaluated) -> u64 {
    match resource {
        Resource::Nodes => evaluated.consumption.nodes,
        Resource::Depth => evaluated.consumption.peak_depth,
        Resource::CallDepth => evaluated.consumption.peak_call_depth,
        Resource::ToolCalls => evaluated.consumption.tool_calls,
        Resource::Bytes => evaluated.consumption.bytes,
        Resource::WallClockSeconds => u64::try_from(evaluated.elapsed.as_nanos()).unwrap(),
    }
}

/// The limits with this one. There is no limit of 0, except of time.
fn limited(limits: ExecutionLimits, resource: Resource, to: u64) -> Option<ExecutionLimits> {
    let count = NonZeroU64::new(to);
    let limits = match resource {
        Resource::WallClockSeconds => ExecutionLimits { timeout: Some(Duration::from_nanos(to)), ..limits },
        _ if count.is_none() => return None,
        Resource::Nodes => ExecutionLimits { max_nodes: count, ..limits },
        Resource::Depth => ExecutionLimits { max_depth: count, ..limits },
        Resource::CallDepth => ExecutionLimits { max_call_depth: count, ..limits },
        Resource::ToolCalls => ExecutionLimits { max_tool_calls: count, ..limits },
        Resource::Bytes => ExecutionLimits { max_bytes: count, ..limits },
    };
    Some(limits)
}

fn check_exact(case: &ProgramCase, resource: Resource) -> Result<(), TestCaseError> {
    let free = evaluate(case)?;
    if !free.end.is_free_of_failures() {
        return Ok(());
    }
    let used = used_of(resource, &free);
    if let Some(limits) = limited(case.limits, resource, used) {
        let exact = evaluate(&ProgramCase { limits, ..case.clone() })?;
        prop_assert_eq!(
            (&exact.told, exact.consumption),
            (&free.told, free.consumption),
            "{} {} are enough",
            used,
            resource
        );
        prop_assert_eq!(exact.elapsed, free.elapsed);
    }
    let Some(below) = used.checked_sub(1).and_then(|below| limited(case.limits, resource, below)) else {
        return Ok(());
    };
    let short = evaluate(&ProgramCase { limits: below, ..case.clone() })?;
    prop_assert_eq!(
        &short.end,
        &ProgramEnd::Failed(ProgramFailure::limit(resource)),
        "{} {} are not",
        used - 1,
        resource
    );
    match resource {
        Resource::WallClockSeconds => prop_assert_eq!(Some(short.elapsed), below.timeout, "it ends at its deadline"),
        _ => prop_assert!(short.elapsed <= free.elapsed),
    }
    Ok(())
}

/// The case with a limit around what the model says it uses.
fn around(case: &ProgramCase, resource: Resource, is_below: bool) -> Result<ProgramCase, TestCaseError> {
    let limits = ExecutionLimits { max_concurrency: case.limits.max_concurrency, ..ExecutionLimits::default() };
    let free = ProgramCase { limits, ..case.clone() };
    let prediction: ProgramPrediction = predict(&free)?;
    let used = match resource {
        Resource::Nodes => prediction.nodes,
        Resource::Depth => prediction.peak_depth,
        Resource::CallDepth => prediction.peak_call_depth,
        Resource::ToolCalls => prediction.tool_calls,
        // The model copies nothing.
        Resource::Bytes => return Ok(free),
        Resource::WallClockSeconds => u64::try_from(prediction.elapsed.as_nanos()).unwrap(),
    };
    let limits = limited(limits, resource, used.saturating_sub(u64::from(is_below))).unwrap_or(limits);
    let around = ProgramCase { limits, ..free };
    let crosses = predict(&around)?;
    if !is_below {
        prop_assert_eq!(&crosses.end, &prediction.end, "what it uses is enough, failing or not");
    } else if limits != case.limits && used > 1 && resource != Resource::WallClockSeconds {
        let is_crossed =
            |branch: &BranchEnd| *branch == BranchEnd::Failed(windtunnel_core::evaluator::ErrorKind::ExecutionLimit);
        let is_told = crosses.end == ProgramEnd::Failed(ProgramFailure::limit(resource))
            || crosses.branches().iter().any(is_crossed);
        prop_assert!(is_told || !crosses.end.is_free_of_failures() || is_inside(case));
    }
    Ok(around)
}

/// Whether failures may be collected inside, where they become a value.
fn is_inside(case: &ProgramCase) -> bool {
    case.policy.parallel_failures == windtunnel_core::evaluator::ParallelFailures::Collect
}

fn check_concurrency(case: &ProgramCase, limit: u64) -> Result<(), TestCaseError> {
    let free = evaluate(case)?;
    if !free.end.is_free_of_failures() {
        return Ok(());
    }
    let limits = ExecutionLimits { max_concurrency: NonZeroU64::new(limit), ..case.limits };
    let limited = evaluate(&ProgramCase { limits, ..case.clone() })?;
    prop_assert!(limited.running_max as u64 <= limit, "{} tools run at once", limited.running_max);
    prop_assert!(limited.consumption.peak_concurrency <= limit);
    prop_assert_eq!(&limited.told, &free.told);
    prop_assert_eq!(limited.consumption.nodes, free.consumption.nodes);
    prop_assert_eq!(limited.consumption.tool_calls, free.consumption.tool_calls);
    prop_assert!(limited.elapsed >= free.elapsed, "a limit makes nothing faster");
    let is_wide = limit >= case.program.branch_count() as u64;
    if matches!(case.program, ProgramTree::Version2(_)) && is_wide {
        // Inside an expression version 2 does one thing at a time anyway.
        prop_assert_eq!((limited.elapsed, limited.consumption), (free.elapsed, free.consumption));
    }
    Ok(())
}

pub(super) fn properties() -> Vec<Property> {
    vec![
        Property::new(
            "exact_limits",
            "what is used is enough, and less is not",
            || (programs(), slow_tools(), select(&RESOURCES[..]), option::of(1_u64..4)),
            |(program, tools, resource, at_once)| {
                let max_concurrency = at_once.and_then(NonZeroU64::new);
                let limits = ExecutionLimits { max_concurrency, ..ExecutionLimits::default() };
                check_exact(&ProgramCase { tools, limits, ..ProgramCase::plain(program) }, resource)
            },
        ),
        Property::new(
            "exact_depth_and_time",
            "calls in each other and time are limited exactly",
            || (programs_of_version_2(), slow_tools(), any::<bool>()),
            |(program, tools, is_time)| {
                let resource = if is_time { Resource::WallClockSeconds } else { Resource::CallDepth };
                check_exact(&ProgramCase { tools, ..ProgramCase::plain(program) }, resource)
            },
        ),
        Property::new(
            "limits_around",
            "limits around what a failing evaluation uses are as predicted",
            || (sequential_program_cases(), select(&RESOURCES[..]), any::<bool>()),
            |(case, resource, is_below)| check_sequential(&around(&case, resource, is_below)?),
        ),
        Property::new(
            "at_once",
            "no more is done at once than may be",
            || (programs(), slow_tools(), 1_u64..6),
            |(program, tools, limit)| check_concurrency(&ProgramCase { tools, ..ProgramCase::plain(program) }, limit),
        ),
    ]
}
