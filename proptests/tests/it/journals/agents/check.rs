//! What holds of every agent, whatever befell it, and what two ends of one agent have in common.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use serde_json::{Value, json};
use windtunnel_core::durable::{Decision, ToolLoopOutput};
use windtunnel_core::json::canonical;
use windtunnel_core::model::{Message, Role};
use windtunnel_proptests::{Effect, invariants};

use super::case::{AgentCase, AgentTool, ReviewAnswer};
use super::scene::Ended;
use super::tools::Made;

/// What the store has of it, without times and attempts: all that must not depend on what went wrong.
pub(super) fn essence(ended: &Ended) -> Vec<Value> {
    let activation = |activation: &windtunnel_core::durable::ActivationHistory| {
        let records: BTreeMap<String, Value> = activation
            .records
            .iter()
            .map(|committed| &committed.record)
            .map(|record| {
                let mut output = Value::clone(record.output());
                if let Some(members) = output.as_object_mut() {
                    members.remove("duration_ns");
                }
                (record.key().to_string(), json!({"binding": canonical_binding(record), "output": output}))
            })
            .collect();
        json!({
            "state": **activation.checkpoint.state(),
            "wake": activation.wake,
            "records": records,
            "decision": activation.decision.as_ref().map(|(decision, _)| decision),
        })
    };
    ended.history.activations.iter().map(activation).collect()
}

fn canonical_binding(record: &windtunnel_core::durable::Record) -> String {
    let record: Value = serde_json::to_value(record).unwrap();
    canonical(&record["binding"])
}

/// The invariants of durable operations, of budgets, guards and approvals.
pub(super) fn check(case: &AgentCase, ended: &Ended) -> Result<(), TestCaseError> {
    let lines = &ended.effects;
    invariants::attempts_read_what_is_stored(lines)?;
    invariants::overtaken_attempts_store_nothing(lines)?;
    invariants::acknowledged_operations_do_not_run_again(lines)?;
    invariants::idempotency_keys_tell_operations_apart(lines)?;
    invariants::poisoned_attempts_stop(lines)?;
    invariants::commits_come_one_after_another(lines)?;
    invariants::history_is_sound(&ended.history)?;
    check_outcome(case, ended)?;
    check_calls(case, ended)?;
    check_guards(case, ended)
}

/// The budget is used exactly.
fn check_outcome(case: &AgentCase, ended: &Ended) -> Result<(), TestCaseError> {
    let budgeted = case.budgeted();
    match ended.history.outcome() {
        Some(Decision::Complete(output)) => {
            let output: ToolLoopOutput = serde_json::from_value(Value::clone(output)).unwrap();
            prop_assert_eq!(output.end, budgeted.end);
            prop_assert_eq!((output.turns, output.calls), (budgeted.turns, budgeted.calls));
            prop_assert_eq!(output.usage.output_tokens, u64::from(output.turns));
        }
        Some(other) => prop_assert!(false, "the agent ends with {:?}", other),
        None => prop_assert!(case.approval_timeout.is_none(), "it waits for ever"),
    }
    let asked = ended.runs.iter().filter_map(|made| if let Made::Turn(turn) = made { Some(turn) } else { None });
    let turns: BTreeSet<_> = asked.collect();
    prop_assert!(turns.len() <= budgeted.turns as usize, "{:?} were asked for", turns);
    Ok(())
}

/// Each call runs under one key, of the turn and the name that are its own, with the arguments that it was made with or that
/// were approved for it, and its result is recorded once.
fn check_calls(case: &AgentCase, ended: &Ended) -> Result<(), TestCaseError> {
    let calls: BTreeMap<String, _> =
        case.named_calls().map(|(turn, name, call)| (format!("tool:turn:{turn}:{name}"), (turn, name, call))).collect();
    let mut keys = BTreeMap::new();
    for line in &ended.effects {
        let Effect::CallableStarted { key, idempotency_key, run } = &line.effect else { continue };
        let first = *keys.entry(key).or_insert(idempotency_key);
        prop_assert_eq!(first, idempotency_key, "{} has two keys", key);
        let made = &ended.runs[*run as usize];
        let Made::Call { tool, arguments } = made else {
            let Made::Turn(turn) = made else { continue };
            prop_assert_eq!(&**key, format!("model:turn:{turn}"));
            continue;
        };
        let (turn, name, call) = &calls[&**key];
        prop_assert_eq!(*tool, call.tool.name());
        let mut allowed = call.arguments.clone();
        if call.tool.needs_approval() {
            let is_approved = ended.accepted.contains(&format!("approval:turn:{turn}:{name}"));
            let approves = matches!(call.review.answer, ReviewAnswer::Approves | ReviewAnswer::Edits(_));
            prop_assert!(is_approved && approves, "{} runs without approval", key);
            if let ReviewAnswer::Edits(edited) = &call.review.answer {
                allowed.clone_from(edited);
            }
        }
        prop_assert_eq!(arguments, &allowed, "{} runs with other arguments", key);
    }
    // A call that waited is recorded as waiting, and once more when it was decided.
    for key in calls.keys() {
        let committed = ended.history.activations.iter().flat_map(|activation| &activation.records);
        let records = committed.map(|committed| &committed.record);
        let settled =
            records.filter(|record| **record.key() == **key && record.output()["outcome"].get("pending").is_none());
        prop_assert!(settled.count() <= 1, "{} has two results", key);
    }
    Ok(())
}

fn check_guards(case: &AgentCase, ended: &Ended) -> Result<(), TestCaseError> {
    let mut ran = BTreeMap::new();
    for line in &ended.effects {
        let Effect::CallableStarted { key, run, .. } = &line.effect else { continue };
        if let Made::Call { tool, .. } = &ended.runs[*run as usize] {
            let (_, name, call) =
                case.named_calls().find(|(turn, name, _)| **key == *format!("tool:turn:{turn}:{name}")).unwrap();
            // What is the same to the guards is one call (E7).
            ran.entry(*tool).or_insert_with(BTreeSet::new).insert((name, canonical(&call.arguments)));
        }
    }
    for tool in AgentTool::KNOWN.into_iter().filter(|tool| tool.is_once_per_run()) {
        let count = ran.get(tool.name()).map_or(0, BTreeSet::len);
        prop_assert!(count <= 1, "{} ran for {} calls", tool.name(), count);
    }
    let count: usize = ran.values().map(BTreeSet::len).sum();
    let calls_max = case.run_calls_max.unwrap_or(u64::MAX);
    prop_assert!(count as u64 <= calls_max, "{} calls ran of {}", count, calls_max);
    Ok(())
}

/// A conversation, in which calls go by their places.
pub(super) fn by_places(messages: &[Message]) -> Vec<Value> {
    let mut names = BTreeMap::new();
    let mut turn = 0;
    let mut told = Vec::new();
    for message in messages {
        if message.role == Role::Assistant {
            turn += 1;
            names = message.tool_calls.iter().enumerate().map(|(place, call)| (call.id.clone(), place)).collect();
        }
        let calls: Vec<_> = message.tool_calls.iter().map(|call| json!([call.name, call.arguments])).collect();
        let answers = message.tool_call_id.as_ref().map(|id| names[id]);
        told.push(json!([message.role, message.content, calls, turn, answers]));
    }
    told
}

/// What tools did, in no order.
pub(super) fn calls_made(runs: &[Made]) -> Vec<String> {
    let mut calls: Vec<_> =
        runs.iter().filter(|made| matches!(made, Made::Call { .. })).map(|made| format!("{made:?}")).collect();
    calls.sort();
    calls
}
