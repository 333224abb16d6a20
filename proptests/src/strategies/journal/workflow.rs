//! Durable workflows, and what befalls their workers.

use std::time::Duration;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use crate::cases::{
    ActivationCase, CallableEnding, DeliveryCase, FaultEnding, LifeCase, LifeEnd, Manners, NextCase, OperationCase,
    ReplayCase, StepCase, StoreFault, WorkerCase, WorkflowCase,
};

/// Up to four activations of up to four operations, one after another and at the same time, of which one in eight fails
/// for good at some point.
///
/// Of 100 at least 40 have several activations, 70 do several things at the same time, 20 drop an operation in the middle, and
/// 5 end with a failure.
pub fn workflow_cases() -> impl Strategy<Value = WorkflowCase> {
    let activations = prop_oneof![3 => vec(activations(), 1..=2), 2 => vec(activations(), 3..=4)];
    (activations, prop::bool::weighted(0.9))
        .prop_map(|(activations, completes)| WorkflowCase { activations, completes })
}

/// Up to two workflows and three workers, which nothing befalls: no faults, no losses, and no delays. Of 100 at least 40 have
/// two workflows, 55 several workers, and 60 events that are delivered.
pub fn calm_worker_cases() -> impl Strategy<Value = WorkerCase> {
    let workers = (1_usize..=3).prop_map(|count| vec![Vec::new(); count]);
    (vec(workflow_cases(), 1..=2), workers, leases(), vec(deliveries(), 0..=5)).prop_map(
        |(workflows, workers, lease, deliveries)| WorkerCase {
            workflows,
            workers,
            lease,
            faults: Vec::new(),
            deliveries,
            delays: Vec::new(),
            replay: ReplayCase::default(),
        },
    )
}

/// The same, with workers that are lost, requests to the store that are lost, refused and held up, and delays everywhere.
///
/// Of 100 cases at least 40 run some callable more than once, 10 supersede an attempt, and 25 lose the answer to a commit.
pub fn worker_cases() -> impl Strategy<Value = WorkerCase> {
    let lives = vec(vec(lives(), 0..=3), 1..=3);
    let delays = prop_oneof![2 => Just(Vec::new()), 1 => vec(short_times(), 1..=60)];
    (calm_worker_cases(), lives, vec(faults(), 0..=40), delays).prop_map(|(calm, workers, faults, delays)| WorkerCase {
        workers,
        faults,
        delays,
        ..calm
    })
}

/// The same or calm ones, of workflows that do the same in every attempt: one thing after another, or several at once that
/// always succeed or fail. Workers compare the order or enter again after each record, or do both: of 100 at least 55 each.
pub fn replayed_worker_cases() -> impl Strategy<Value = WorkerCase> {
    let cases = prop_oneof![1 => calm_worker_cases(), 2 => worker_cases()];
    let replay = select(vec![(true, false), (false, true), (true, true)])
        .prop_map(|(is_constant, is_strict)| ReplayCase { is_constant, is_strict });
    (cases, replay).prop_map(|(mut case, replay)| {
        for workflow in &mut case.workflows {
            // The order of commits is the order of operations only where one comes after another.
            let all = std::mem::take(&mut workflow.activations).into_iter();
            let adapted = |activation: ActivationCase| {
                if replay.is_strict || activation.drops() { activation.in_order() } else { activation }
            };
            workflow.activations = all.map(adapted).collect();
        }
        WorkerCase { replay, ..case }
    })
}

fn activations() -> impl Strategy<Value = ActivationCase> {
    let next = prop_oneof![
        3 => Just(NextCase::Continue),
        2 => times().prop_map(NextCase::Sleep),
        3 => (0_usize..3, option::weighted(0.8, times())).prop_map(|(key, timeout)| NextCase::WaitEvent { key, timeout }),
    ];
    let manners = prop_oneof![
        4 => Just(Manners::PassesOn),
        1 => Just(Manners::Hides),
        1 => Just(Manners::Panics),
        2 => Just(Manners::Ignores),
    ];
    (vec(operations(), 1..=4), vec(steps(), 1..=4), next, manners)
        .prop_map(|(operations, steps, next, manners)| ActivationCase { operations, steps, next, manners })
}

fn operations() -> impl Strategy<Value = OperationCase> {
    let ending = prop_oneof![
        20 => Just(CallableEnding::Succeeds),
        3 => Just(CallableEnding::FailsFirst),
        1 => Just(CallableEnding::Fails),
        2 => Just(CallableEnding::FailsUnminded),
    ];
    (times(), ending).prop_map(|(takes, ending)| OperationCase { takes, ending })
}

fn steps() -> impl Strategy<Value = StepCase> {
    prop_oneof![
        8 => vec(0_usize..4, 1..=4).prop_map(StepCase::AtOnce),
        1 => (0_usize..4, 1_usize..14).prop_map(|(operation, polls)| StepCase::Dropped { operation, polls }),
    ]
}

fn lives() -> impl Strategy<Value = LifeCase> {
    let ends = prop_oneof![
        3 => (0_usize..150).prop_map(LifeEnd::Polls),
        1 => times().prop_map(LifeEnd::After),
    ];
    (ends, times()).prop_map(|(ends, rest)| LifeCase { ends, rest })
}

fn faults() -> impl Strategy<Value = StoreFault> {
    let ending = prop_oneof![
        4 => Just(FaultEnding::Well),
        2 => Just(FaultEnding::AnswerLost),
        1 => Just(FaultEnding::RequestLost),
        1 => Just(FaultEnding::Rejected),
        2 => Just(FaultEnding::Unattended),
        1 => Just(FaultEnding::Overdue),
    ];
    (short_times(), ending, short_times()).prop_map(|(before, ending, after)| StoreFault { before, ending, after })
}

fn deliveries() -> impl Strategy<Value = DeliveryCase> {
    (0_usize..2, 0_usize..3, times(), 0_u64..3).prop_map(|(workflow, key, at, payload)| DeliveryCase {
        workflow,
        key,
        at,
        payload,
    })
}

fn leases() -> impl Strategy<Value = Duration> {
    select(vec![Duration::from_secs(3), Duration::from_secs(10)])
}

/// Shorter and longer than leases, and often the same.
fn times() -> impl Strategy<Value = Duration> {
    select(vec![0, 0, 1, 1000, 2000, 4000, 12_000]).prop_map(Duration::from_millis)
}

/// Mostly none.
fn short_times() -> impl Strategy<Value = Duration> {
    select(vec![0, 0, 0, 0, 0, 1, 1000, 4000]).prop_map(Duration::from_millis)
}
