//! Run guards: which calls count, and which may run (E2, E7).

use std::collections::BTreeMap;
use std::time::Duration;

use crate::cases::{Answer, ApprovalScript, ApprovalStep, CallCase, GuardCase, Script, ToolPolicy, run_limits};
use crate::invariants;
use crate::models::{GuardModel, Reviewed};
use crate::played::PlayedTool;
use crate::strategies::guard_cases;
use proptest::collection::btree_map;
use proptest::prelude::*;
use windtunnel_core::executor::{CallContext, ToolCall};

use super::Property;
use super::simulated::{self, Setup};

fn tool_call(call: &CallCase) -> ToolCall {
    ToolCall::new(&*call.tool, call.arguments.to_json()).with_id(&*call.id)
}

fn setup(case: &GuardCase, confirm: bool) -> Setup {
    let setup = Setup { limits: run_limits(case.calls_max, &Default::default()), ..Setup::default() };
    case.policies.iter().fold(setup, |setup, (name, policy)| {
        let spec = ToolPolicy { confirm, ..policy.clone() }.spec(name);
        setup.with_tool(PlayedTool::new(spec, Script::default()))
    })
}

fn check_sequence(case: &GuardCase) -> Result<(), TestCaseError> {
    let calls: Vec<_> = case.calls.iter().map(tool_call).collect();
    let ran = simulated::run(setup(case, false), |executor| async move {
        let executor = executor.in_context(CallContext { run_id: "run".to_owned(), ..CallContext::default() });
        let mut kinds = Vec::new();
        for call in calls {
            let result = executor.run_call(call).await.unwrap();
            kinds.push(result.error_kind().map(|kind| kind.as_str()));
        }
        kinds
    })?;
    ran.check(&case.policies, &run_limits(None, &Default::default()))?;
    let mut model = GuardModel::new(case.policies.clone(), case.calls_max);
    let expected: Vec<_> = case.calls.iter().map(|call| model.commit(call).error_kind()).collect();
    prop_assert_eq!(ran.output, expected);
    Ok(())
}

/// All at once, each waiting for its reviewer: the guards must be checked again when the decision comes.
fn check_reviewed(case: &GuardCase, decisions: &[Reviewed; 3]) -> Result<(), TestCaseError> {
    let reviewed = |call: &CallCase| -> Reviewed {
        let number: usize = call.id.trim_start_matches("id-").parse().unwrap();
        decisions[number]
    };
    let reviews = case.calls.iter().map(|call| {
        let Reviewed { after, is_approved } = reviewed(call);
        let answer = if is_approved { Answer::Approve } else { Answer::Deny };
        (call.id.clone(), ApprovalScript { steps: vec![ApprovalStep { takes: after, answer }] })
    });
    let setup = Setup { reviews: reviews.collect(), ..setup(case, true) };
    let calls: Vec<_> = case.calls.iter().map(tool_call).collect();
    let ran = simulated::run(setup, |executor| async move {
        let results = executor.run_many(calls).await.unwrap();
        results.iter().map(|result| result.error_kind().map(|kind| kind.as_str())).collect::<Vec<_>>()
    })?;
    // Repeats run at once with what they repeat, so the log cannot tell their attempts apart; the model can.
    invariants::order(&ran.events)?;
    invariants::one_entry_per_finished_call(&ran.events, &ran.entries)?;
    let mut model = GuardModel::new(case.policies.clone(), case.calls_max);
    let with_reviews: Vec<_> = case.calls.iter().map(|call| (call.clone(), reviewed(call))).collect();
    let answers = model.play(&with_reviews);
    let expected: Vec<_> =
        answers.iter().map(|answer| answer.map_or(Some("approval-denied"), |answer| answer.error_kind())).collect();
    prop_assert_eq!(ran.output, expected);
    Ok(())
}

fn decisions() -> impl Strategy<Value = [Reviewed; 3]> {
    let reviewed = (0_u64..4, prop::bool::weighted(0.85))
        .prop_map(|(seconds, is_approved)| Reviewed { after: Duration::from_secs(seconds), is_approved });
    [reviewed.clone(), reviewed.clone(), reviewed]
}

/// Runs are counted apart, and anew once they have ended.
fn check_runs(case: &GuardCase, runs: &BTreeMap<usize, u8>, ended: usize) -> Result<(), TestCaseError> {
    let run_of = |index: usize| format!("run-{}", runs.get(&index).copied().unwrap_or(0));
    let calls: Vec<_> = case.calls.iter().enumerate().map(|(index, call)| (run_of(index), tool_call(call))).collect();
    let ran = simulated::run(setup(case, false), |executor| async move {
        let mut kinds = Vec::new();
        for (index, (run_id, call)) in calls.into_iter().enumerate() {
            if index == ended {
                executor.end_run(&run_id);
            }
            let executor = executor.in_context(CallContext { run_id, ..CallContext::default() });
            kinds.push(executor.run_call(call).await.unwrap().error_kind().map(|kind| kind.as_str()));
        }
        kinds
    })?;
    let mut models = BTreeMap::new();
    let fresh = || GuardModel::new(case.policies.clone(), case.calls_max);
    for (index, call) in case.calls.iter().enumerate() {
        if index == ended {
            models.remove(&run_of(index));
        }
        let expected = models.entry(run_of(index)).or_insert_with(fresh).commit(call).error_kind();
        prop_assert_eq!(ran.output[index], expected, "call {}", index);
    }
    Ok(())
}

pub(super) fn properties() -> Vec<Property> {
    vec![
        Property::new("guards", "a sequence is counted as the model counts", guard_cases, |case| check_sequence(&case)),
        Property::new(
            "reviewed_guards",
            "guards hold while reviewers think",
            || (guard_cases(), decisions()),
            |(case, decisions)| check_reviewed(&case, &decisions),
        ),
        Property::new(
            "runs",
            "runs are counted apart, and anew once they have ended",
            || (guard_cases(), btree_map(0_usize..12, 0_u8..3, 0..12), 0_usize..12),
            |(case, runs, ended)| check_runs(&case, &runs, ended),
        ),
    ]
}
