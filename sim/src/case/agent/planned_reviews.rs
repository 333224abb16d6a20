//! From the approvals of a file to the events that they are delivered as.

use windtunnel_core::executor::{Decision, ToolCall};
use windtunnel_core::json::Path;
use windtunnel_core::tool::Confirm;

use super::approvals::{PlannedReview, When};
use super::definition::{AgentTool, AgentTurn};
use super::wire::WireApproval;
use crate::case::build::Refusal;
use crate::case::calls::WireDecision;
use crate::case::wire::Count;

pub(super) fn reviews(
    wire: Vec<WireApproval>,
    turns: &[AgentTurn],
    tools: &[AgentTool],
    path: &Path,
) -> Result<Vec<PlannedReview>, Refusal> {
    let review = |(index, wire): (usize, WireApproval)| {
        let at = |name: &str| path.clone().element(index).member(name);
        let turn = turn_of(&wire, turns, &at)?;
        check_waits(&wire.call, &turns[turn], tools, &at)?;
        let when = match (wire.after_s, wire.at_s) {
            (Some(_), Some(_)) => {
                return Err(Refusal::new(at("at_s"), "a decision comes after the call waits or at a time; remove one"));
            }
            (after, None) => When::AfterPending(after.unwrap_or_default().0),
            (None, Some(time)) => When::At(time.0),
        };
        let approval_id = format!("approval:turn:{turn}:{}", wire.call).into();
        let decision = decision(wire, &at)?;
        // A decision always has a JSON form.
        let payload = serde_json::to_value(decision).unwrap_or_default();
        Ok(PlannedReview { approval_id, when, payload })
    };
    wire.into_iter().enumerate().map(review).collect()
}

/// The turn that makes the call: the only one that does, or the one that the file names.
fn turn_of(wire: &WireApproval, turns: &[AgentTurn], at: &impl Fn(&str) -> Path) -> Result<usize, Refusal> {
    let making: Vec<_> = turns
        .iter()
        .enumerate()
        .filter(|(_, turn)| call_of(turn, &wire.call).is_some())
        .map(|(index, _)| index)
        .collect();
    let call = &wire.call;
    match (wire.turn, making.as_slice()) {
        (None, []) => Err(Refusal::new(at("call"), format!("no turn of the model makes a call {call:?}"))),
        (None, [only]) => Ok(*only),
        (None, [..]) => {
            let problem = format!("several turns make a call {call:?}; say which one with turn, from 0");
            Err(Refusal::new(at("call"), problem))
        }
        (Some(Count(turn)), making) if making.contains(&(turn as usize)) => Ok(turn as usize),
        (Some(Count(turn)), _) => Err(Refusal::new(
            at("turn"),
            format!("turn {turn} of the model makes no call {call:?}; turns count from 0"),
        )),
    }
}

/// The call of a turn that has this id, or is called so by its place.
fn call_of<'a>(turn: &'a AgentTurn, id: &str) -> Option<&'a ToolCall> {
    let mut calls = turn.answer.message.tool_calls.iter().enumerate();
    let is_it =
        |(index, call): &(usize, &ToolCall)| call.id == id || call.id.is_empty() && id == format!("call-{}", index + 1);
    calls.find(is_it).map(|(_, call)| call)
}

/// A decision on a call that never waits would decide nothing.
fn check_waits(id: &str, turn: &AgentTurn, tools: &[AgentTool], at: &impl Fn(&str) -> Path) -> Result<(), Refusal> {
    let Some(call) = call_of(turn, id) else { return Ok(()) };
    let needs_approval = |tool: &AgentTool| !matches!(tool.tool.spec.confirm, Confirm::Never);
    let tool = tools.iter().find(|tool| tool.tool.spec.name == call.name);
    if tool.is_some_and(needs_approval) {
        return Ok(());
    }
    let problem = format!("the call {id:?} is of tool {:?}, which needs no approval; let it confirm", call.name);
    Err(Refusal::new(at("call"), problem))
}

fn decision(wire: WireApproval, at: &impl Fn(&str) -> Path) -> Result<Decision, Refusal> {
    match wire {
        WireApproval { decision: WireDecision::Pending, .. } => {
            Err(Refusal::new(at("decision"), "a decision approves or denies; leave it out where nobody decides"))
        }
        WireApproval { decision: WireDecision::Approve, reason: Some(_), .. } => {
            Err(Refusal::new(at("reason"), "only a denial has a reason"))
        }
        WireApproval { decision: WireDecision::Deny, edited_arguments: Some(_), .. } => {
            Err(Refusal::new(at("edited_arguments"), "only an approval can edit the arguments"))
        }
        WireApproval { decision: WireDecision::Approve, edited_arguments, .. } => {
            Ok(Decision::Approve { edited_arguments })
        }
        WireApproval { decision: WireDecision::Deny, reason, .. } => {
            Ok(Decision::deny(reason.unwrap_or_else(|| "denied".to_owned())))
        }
    }
}
