//! Durable workflows come to the same end whatever happens to their workers and to what they ask of the store.

use crate::cases::WorkerCase;
use crate::models::WorkflowPrediction;
use crate::strategies::{calm_worker_cases, replayed_worker_cases, store_operations, worker_cases};
use crate::{Effect, EffectLine, Violation, invariants};
use proptest::prelude::*;
use windtunnel_core::BoxFuture;
use windtunnel_core::durable::{Decision, Delivery, JournalStore, Wake};
use windtunnel_core::env::Env;

use super::store::check_memory;
use super::workers::{self, Ended, activations, memory};
use crate::properties::Property;

fn play<S: JournalStore + Clone + 'static>(
    case: &WorkerCase,
    open: impl Fn(Env) -> BoxFuture<'static, S> + Sync,
) -> Result<Ended, TestCaseError> {
    let run = workers::run_twice(case, open)?;
    invariants::order(&run.trace)?;
    let ended = run.outcome.map_err(|error| TestCaseError::fail(error.to_string()))?;
    for history in &ended.histories {
        invariants::decisions_are_told_truly(&run.trace, history)?;
    }
    Ok(ended)
}

fn check(case: &WorkerCase, ended: &Ended) -> Result<invariants::Repeats, TestCaseError> {
    let lines = &ended.effects;
    invariants::attempts_read_what_is_stored(lines)?;
    invariants::overtaken_attempts_store_nothing(lines)?;
    invariants::acknowledged_operations_do_not_run_again(lines)?;
    invariants::idempotency_keys_tell_operations_apart(lines)?;
    invariants::results_wait_for_their_acknowledgment(lines)?;
    invariants::poisoned_attempts_stop(lines)?;
    invariants::commits_come_one_after_another(lines)?;
    prop_assert_eq!(ended.histories.len(), case.workflows.len());
    for (workflow, history) in case.workflows.iter().zip(&ended.histories) {
        let acknowledged: Vec<_> = lines
            .iter()
            .filter(|line| line.fence.workflow_id == history.workflow_id)
            .filter_map(|line| match &line.effect {
                Effect::RecordStored(record) => Some((line.fence.activation_id.clone(), record.clone())),
                _ => None,
            })
            .collect();
        invariants::history_is_sound(history)?;
        invariants::history_holds(history, &acknowledged, true)?;
        WorkflowPrediction::of(workflow, history).check(workflow, history)?;
    }
    check_events(ended)?;
    Ok(invariants::repeats_are_explained(lines)?)
}

/// A workflow that waits hears of the event that came before its timeout, and of nothing else.
fn check_events(ended: &Ended) -> Result<(), Violation> {
    for history in &ended.histories {
        for pair in history.activations.windows(2) {
            let Some((Decision::WaitEvent { key, timeout, .. }, _)) = &pair[0].decision else { continue };
            let stored = ended.effects.iter().find(|line| {
                line.is_of(&history.workflow_id, &pair[0].activation_id)
                    && matches!(line.effect, Effect::DecisionStored(_))
            });
            let over_at = timeout.map(|timeout| stored.unwrap().at + timeout);
            let accepted = ended.delivered.iter().find(|delivered| {
                delivered.workflow_id == *history.workflow_id
                    && delivered.key == **key
                    && delivered.delivery == Delivery::Accepted
            });
            let is_so = match (&pair[1].wake, accepted) {
                (Some(Wake::Event { payload, .. }), Some(accepted)) => **payload == accepted.payload,
                (Some(Wake::Timeout { .. }), None) => over_at.is_some(),
                (None, None) => over_at.is_none(),
                _ => false,
            };
            let in_time = accepted.is_none_or(|accepted| {
                over_at.is_none_or(|over_at| accepted.at < over_at) || accepted.at <= stored.unwrap().at
            });
            // What came in time was accepted.
            let missed = ended.delivered.iter().find(|delivered| {
                delivered.workflow_id == *history.workflow_id
                    && delivered.key == **key
                    && delivered.delivery == Delivery::TooLate
                    && over_at.is_none_or(|over_at| delivered.at < over_at)
            });
            if !is_so || !in_time || missed.is_some() {
                let message = format!("{:?} follows on {accepted:?} and {missed:?}, over at {over_at:?}", pair[1]);
                return Err(Violation::new("wait_event", message));
            }
        }
    }
    Ok(())
}

/// Where nothing goes wrong, nothing is done twice that did not fail.
fn check_calm(case: &WorkerCase, ended: &Ended) -> Result<(), TestCaseError> {
    let repeats = check(case, ended)?;
    let drops = case.workflows.iter().flat_map(|workflow| &workflow.activations).any(|activation| activation.drops());
    prop_assert!(drops || repeats.keys().all(|reason| *reason == "it failed"), "{:?}", repeats);
    for (workflow_id, activation) in activations(ended) {
        let decided = u64::from(activation.decision.is_some());
        let failed = u64::from(activation.failures);
        // The decision that fails a workflow for its last attempt is made by that attempt.
        prop_assert!(
            drops || activation.attempts == failed + decided || activation.attempts == 0,
            "{} has {:?}",
            workflow_id,
            activation
        );
    }
    check_failures(ended)
}

/// A workflow that fails for its attempts has had as many as it may, and nothing but a failed callable or a refused decision
/// is a failure: a store that does not acknowledge is none.
fn check_failures(ended: &Ended) -> Result<(), TestCaseError> {
    for (workflow_id, activation) in activations(ended) {
        let failed = |line: &&EffectLine| {
            let is_failed = matches!(line.effect, Effect::CallableEnded { is_ok: false, .. });
            is_failed && line.is_of(&workflow_id, &activation.activation_id)
        };
        let failures_max = ended.effects.iter().filter(failed).count();
        let is_refused =
            matches!(&activation.decision, Some((Decision::Fail { kind, .. }, _)) if **kind == *"decision-refused");
        prop_assert!(
            is_refused || activation.failures as usize <= failures_max,
            "{} has {} failed callables, and {:?}",
            workflow_id,
            failures_max,
            activation
        );
        if let Some((Decision::Fail { kind, .. }, _)) = &activation.decision
            && **kind != *"refused"
        {
            prop_assert_eq!(activation.failures + 1, workers::FAILURES_MAX, "{}: {:?}", workflow_id, activation);
        }
    }
    Ok(())
}

/// Workflows come to their end, whatever goes wrong, on the store that `open` opens.
///
/// # Errors
/// What is broken.
pub fn check_any<S: JournalStore + Clone + 'static>(
    case: &WorkerCase,
    open: impl Fn(Env) -> BoxFuture<'static, S> + Sync,
) -> Result<(), TestCaseError> {
    let ended = play(case, open)?;
    check(case, &ended)?;
    check_failures(&ended)
}

pub(in crate::properties) fn properties() -> Vec<Property> {
    vec![
        Property::new(
            "journal_store",
            "the store in memory keeps the contract, and answers the same again",
            store_operations,
            |operations| {
                let [first, second] = [(); 2].map(|()| check_memory(&operations));
                prop_assert_eq!(format!("{:?}", first?), format!("{:?}", second?));
                Ok(())
            },
        ),
        Property::new("workflows", "workflows come to their end whatever goes wrong", worker_cases, |case| {
            check_any(&case, memory)
        }),
        Property::new(
            "replayed_workflows",
            "workflows that replay always or in order come to the same end",
            replayed_worker_cases,
            |case| check_any(&case, memory),
        ),
        Property::new(
            "calm_workflows",
            "workflows do nothing twice where nothing goes wrong",
            calm_worker_cases,
            |case| check_calm(&case, &play(&case, memory)?),
        ),
    ]
}
