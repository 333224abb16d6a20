//! Rules of ours, broken on purpose: whole worlds notice, with the smallest run that shows it.

use serde_json::json;
use windtunnel_core::canary::{Weakness, weakened};
use windtunnel_proptests::worlds::Exploration;

use super::agents::Agents;
use super::calls::{Call, Calls};

#[track_caller]
fn check(weakness: Weakness, rule: &str, calls: usize, faults: usize) {
    // No more calls than the run allows, where that is not what is broken.
    let steps_max = if calls > 3 { 20 } else { 3 };
    let failure = weakened(weakness, || Exploration::of(Calls).steps_max(steps_max).run()).unwrap_err();
    assert_eq!(failure.violation.as_ref().map(|violation| violation.rule), Some(rule), "{failure}");
    assert_eq!(failure.operations(), vec![Call { argument: 0 }; calls], "{failure}");
    assert_eq!(failure.recipe.faults.faults.len(), faults, "{failure}");
    assert_eq!(failure.steps.len(), calls, "{failure}");
}

#[test]
fn one_retry_too_many_takes_one_call_and_a_fault_for_each_attempt() {
    check(Weakness::RetriesOneMore, "attempts of a call", 1, 3);
}

#[test]
fn one_call_too_many_takes_all_calls_and_no_fault() {
    check(Weakness::CallsOneMore, "calls of a run", 4, 0);
}

#[test]
fn a_call_without_an_entry_takes_one_call_that_fails() {
    check(Weakness::LedgerLacksFailures, "entries of the ledger", 1, 1);
}

#[test]
fn a_presumed_acknowledgment_takes_an_answer_of_the_model_and_one_that_is_lost() {
    let agents = Exploration::of_cases(Agents { is_on_hosts: false, bank_knows_keys: true });
    let failure = weakened(Weakness::AcknowledgmentPresumed, || agents.run()).unwrap_err();
    assert_eq!(failure.operations(), [], "{failure}");
    let lost = json!([{"when": {"event": "journal.commit"}, "do": {"fault": "journal.lose_acknowledgment"}}]);
    assert_eq!(json!(failure.recipe.faults), lost, "{failure}");
}
