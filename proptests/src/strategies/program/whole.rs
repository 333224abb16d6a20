//! Whole programs, and whole evaluations.

use std::num::NonZeroU64;

use proptest::collection::vec;
use proptest::prelude::*;
use windtunnel_core::evaluator::{ExecutionLimits, Mode, ParallelFailures};

use super::builder1::{self, Scope};
use super::builder2::{self, Sketches};
use super::lambdas;
use super::sketch::sketches;
use super::{failing_tools, program_limits, program_policies};
use crate::cases::{ProgramCase, ProgramTree};

fn modes() -> impl Strategy<Value = Mode> + Clone {
    prop_oneof![Just(Mode::Single), Just(Mode::Parallel)]
}

/// Valid programs of version 1, with lambdas, nested programs, and names that hide others. About one in four
/// comes to an error by itself: to a wrong kind, a missing tool, or a wrong number of parameters.
pub fn programs_of_version_1() -> impl Strategy<Value = ProgramTree> + Clone {
    let bodies = prop_oneof![8 => vec(sketches(5), 1), 6 => vec(sketches(4), 2..=4), 1 => vec(sketches(1), 0..=1)];
    let any = (bodies, modes())
        .prop_map(|(body, mode)| ProgramTree::Version1(builder1::program(&body, mode, &Scope::default())));
    prop_oneof![9 => any, 1 => lambda_programs()]
}

/// Valid programs of version 1 whose lambdas are in each other, mean what is around, and are all applied.
pub fn lambda_programs() -> impl Strategy<Value = ProgramTree> + Clone {
    (sketches(4), modes()).prop_map(|(sketch, mode)| ProgramTree::Version1(lambdas::program(&sketch, mode)))
}

/// Valid programs of version 2, with definitions that call themselves and each other and come to an end, definitions
/// that nothing calls, and memos. One in ten comes to an error by itself.
pub fn programs_of_version_2() -> impl Strategy<Value = ProgramTree> + Clone {
    let bodies = prop_oneof![vec(sketches(4), 1), vec(sketches(3), 2..=4)];
    (bodies, vec(sketches(3), 0..=3), vec(sketches(2), 0..=3), modes()).prop_map(|(body, definitions, memos, mode)| {
        ProgramTree::Version2(builder2::program(&Sketches { body, definitions, memos }, mode))
    })
}

/// Valid programs of either version.
pub fn programs() -> impl Strategy<Value = ProgramTree> + Clone {
    prop_oneof![programs_of_version_1(), programs_of_version_2()]
}

/// Any evaluation.
pub fn program_cases() -> impl Strategy<Value = ProgramCase> {
    (programs(), failing_tools(), program_limits(), program_policies(), prop::bool::weighted(0.2)).prop_map(
        |(mut program, tools, limits, policy, keeps_mode)| {
            // A program of mode single collects nothing.
            if policy.parallel_failures == ParallelFailures::Collect && !keeps_mode {
                match &mut program {
                    ProgramTree::Version1(program) => program.mode = Mode::Parallel,
                    ProgramTree::Version2(program) => program.mode = Mode::Parallel,
                }
            }
            ProgramCase { program, tools, limits, policy }
        },
    )
}

/// Evaluations that do one thing after another, so that they can be predicted with their failures: version 1 with a
/// concurrency of 1, version 2 with that or with one expression. Where failures are raised there is one expression.
///
/// Of 100 evaluations at least 30 come to a value, 12 to outcomes of branches of which 5 hold a failure, 12 cross a limit,
/// 5 fail by a tool, 3 by the program, 2 are interrupted, 5 try again and 20 take time.
pub fn sequential_program_cases() -> impl Strategy<Value = ProgramCase> {
    (program_cases(), any::<bool>()).prop_map(|(mut case, is_limited)| {
        let collects = case.policy.parallel_failures == ParallelFailures::Collect;
        if !collects && case.program.branch_count() > 1 {
            case.program = case.program.only_branch(0);
        }
        let is_alone = case.program.branch_count() <= 1;
        let needs_limit = matches!(case.program, ProgramTree::Version1(_)) || !is_alone;
        let one = if needs_limit || is_limited { Some(NonZeroU64::MIN) } else { None };
        case.limits = ExecutionLimits { max_concurrency: one, ..case.limits };
        case
    })
}
