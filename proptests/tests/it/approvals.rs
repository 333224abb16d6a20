//! Approvals: one id from request to decision, whatever comes in between (E8).

use proptest::prelude::*;
use serde_json::json;
use windtunnel_core::executor::{CallContext, Decision, Outcome, ToolCall};
use windtunnel_proptests::cases::{Answer, ApprovalScript, Policies, Script, ToolPolicy, run_limits};
use windtunnel_proptests::models::{LedgerModel, PredictedEntry};
use windtunnel_proptests::played::PlayedTool;
use windtunnel_proptests::strategies::approval_scripts;

use crate::settings::family;
use windtunnel_proptests::properties::simulated::{self, Setup};

/// How often the reviewer is asked until it decides, and the kind of error in the end.
fn predicted(script: &ApprovalScript, asks_max: usize) -> (usize, Option<&'static str>) {
    let mut asks = 0;
    loop {
        let answer = script.step(asks).answer;
        asks += 1;
        let error = match answer {
            Answer::Approve | Answer::Edit => None,
            Answer::EditBadly => Some("tool-args-invalid"),
            Answer::Deny | Answer::Fail => Some("approval-denied"),
            Answer::Pending if asks < asks_max => continue,
            Answer::Pending => Some("pending"),
        };
        return (asks, error);
    }
}

const ASKS_MAX: usize = 6;

fn check(script: &ApprovalScript, run_id: &str) -> Result<(), TestCaseError> {
    let policy = ToolPolicy { confirm: true, once_per_run: true, ..ToolPolicy::default() };
    let policies = Policies::from([("tool".to_owned(), policy.clone())]);
    let limits = run_limits(Some(1), &Default::default());
    let setup =
        Setup { limits: limits.clone(), reviews: [("call".to_owned(), script.clone())].into(), ..Setup::default() }
            .with_tool(PlayedTool::new(policy.spec("tool"), Script::default()));
    let run_id = run_id.to_owned();
    let ran = simulated::run(setup, |executor| async move {
        let executor = executor.in_context(CallContext { run_id, ..CallContext::default() });
        let mut results = Vec::new();
        for _ in 0..ASKS_MAX {
            results.push(executor.run_call(ToolCall::new("tool", json!({"n": 1})).with_id("call")).await.unwrap());
            if !matches!(results.last().unwrap().outcome, Outcome::Pending { .. }) {
                break;
            }
        }
        results
    })?;

    ran.check(&policies, &limits)?;
    let (asks, error) = predicted(script, ASKS_MAX);
    prop_assert_eq!(ran.output.len(), asks);
    let last = ran.output.last().unwrap();
    let mut ledger = LedgerModel::default();
    if error == Some("pending") {
        prop_assert_eq!(last.status(), "pending");
    } else {
        prop_assert_eq!(last.error_kind().map(|kind| kind.as_str()), error);
        ledger.add(PredictedEntry {
            call_id: "call".to_owned(),
            tool: "tool".to_owned(),
            error,
            attempts: last.attempts,
            duration: Some(last.duration),
        });
    }
    ledger.check(&ran.entries)?;
    let requested = ran.events.iter().filter(|event| event.kind.name() == "approval.requested").count();
    prop_assert_eq!(requested, asks);
    Ok(())
}

fn preapproved(decision: Decision, call_id: &str) -> CallContext {
    CallContext { call_id: call_id.to_owned(), approval: Some(decision), ..CallContext::default() }
}

proptest! {
    #![proptest_config(family!("approvals"))]

    #[test]
    fn a_call_is_asked_about_under_one_id_until_it_is_decided(
        script in approval_scripts(), run_id in prop_oneof![Just(""), Just("run")],
    ) {
        check(&script, run_id)?;
    }

    #[test]
    fn a_decision_made_beforehand_covers_its_one_call_and_no_batch(
        approves: bool, named in prop_oneof![Just(""), Just("call"), Just("other")], as_batch: bool,
    ) {
        let spec = ToolPolicy { confirm: true, ..ToolPolicy::default() }.spec("tool");
        // Without the decision, the reviewer says the opposite.
        let answer = if approves { Answer::Deny } else { Answer::Approve };
        let step = windtunnel_proptests::cases::ApprovalStep { takes: Default::default(), answer };
        let reviews = [("call".to_owned(), ApprovalScript { steps: vec![step] })].into();
        let setup = Setup { reviews, ..Setup::default() }.with_tool(PlayedTool::new(spec, Script::default()));
        let ran = simulated::run(setup, |executor| async move {
            let decision = if approves { Decision::approve() } else { Decision::deny("beforehand") };
            let executor = executor.in_context(preapproved(decision, named));
            let call = ToolCall::new("tool", json!({})).with_id("call");
            match as_batch {
                true => executor.run_many([call]).await.unwrap().remove(0),
                false => executor.run_call(call).await.unwrap(),
            }
        })?;
        let is_covered = !as_batch && named != "other";
        prop_assert_eq!(ran.output.status() == "ok", approves == is_covered);
    }
}
