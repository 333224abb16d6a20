//! From typed fields to a case of an agent, refusing what no run could make sense of.

use std::num::NonZeroU32;
use std::time::Duration;

use windtunnel_core::durable::ToolLoopBudget;
use windtunnel_core::executor::{Backoff, ToolCall};
use windtunnel_core::json::Path;
use windtunnel_core::model::{FinishReason, Message, ModelError, ModelResponse, Usage};

use super::arrangement::Arrangement;
use super::crashes::{CrashPoint, PlannedCrash};
use super::definition::{AgentCase, AgentTool, AgentTurn, VARIABLES, Workers};
use super::expectation::Expectation;
use super::planned_reviews::reviews;
use super::wire::{
    WireAgentTool, WireCall, WireCase, WireCrash, WireExpect, WireMessage, WireModel, WireModelFailure, WireTurn,
    WireWorkers,
};
use crate::case::LoadError;
use crate::case::build::{Built, Refusal, assertions};
use crate::case::calls::{backoff_settings, limits, tools};
use crate::case::cassettes::{Library, RecordedTurn, ShelfBuilder};
use crate::case::operations::{acknowledgment, records};
use crate::case::text::Document;
use crate::case::trouble::{Trouble, trouble};
use crate::case::typed::typed;
use crate::case::wire::{Count, Delay};

const LEASE: Duration = Duration::from_secs(60);
const RESTART_AFTER: Duration = Duration::from_secs(1);
/// How many crashes are drawn at most, unless the file says otherwise, and that it can say.
const CRASHES_MAX: u32 = 8;
const CRASHES_MAX_MAX: u32 = 1000;

/// Builds a case.
pub(in crate::case) fn build(document: &Document<'_>, library: &Library) -> Result<Built, LoadError> {
    build_typed(typed(document)?, &document.root, library).map_err(|refusal| refusal.in_document(document))
}

fn build_typed(wire: WireCase, root: &Path, library: &Library) -> Result<Built, Refusal> {
    let at = |name: &str| root.clone().member(name);
    let trouble = trouble(wire.faults, wire.random_faults, wire.heal_after_s, root)?;
    if let Some(expect) = &wire.expect {
        check_expect(expect, &at("expect").member("outcome"))?;
    }
    let mut shelf = ShelfBuilder::new(library, wire.replay, at("replay"))?;
    let WireModel { name: model, turns, cassette } = wire.model;
    let (turns, cassette) = model_turns(turns, cassette, &mut shelf, &at("model"))?;
    let tools = agent_tools(wire.tools, &at("tools"), &mut shelf)?;
    let arrangement = Arrangement {
        on_hosts: wire.on_hosts,
        has_crashes: !wire.crashes.is_empty(),
        has_crash_rate: wire.crash_rate.0 > 0.0,
        has_restart: wire.workers.restart_after_s.is_some(),
        has_schedule: wire.schedule.is_some(),
    };
    arrangement.check(&tools, root)?;
    let backoff = backoff_settings(&wire.backoff);
    let kind = AgentCase {
        model,
        messages: messages(wire.prompt, wire.messages, root)?,
        reviews: reviews(wire.approvals, &turns, &tools, &at("approvals"))?,
        turns,
        cassette,
        shelf: shelf.finish()?,
        tools,
        backoff: Backoff::new(backoff).map_err(|error| Refusal::new(at("backoff"), error.to_string()))?,
        jitters: backoff.jitter > 0.0,
        rng: wire.rng.map(|unit| unit.0),
        limits: limits(wire.run_limits),
        budget: budget(wire.budget.turns_max, wire.budget.calls_max),
        turns_per_activation: wire.budget.turns_per_activation.map_or(NonZeroU32::MIN, |turns| turns.0),
        approval_timeout: wire.approval_timeout_s.map(|timeout| timeout.0),
        workers: workers(&wire.workers),
        journal: records(&wire.journal, &at("journal"))?,
        record_acknowledgments: wire.acks.into_iter().map(acknowledgment).collect(),
        decision_acknowledgments: wire.decision_acks.into_iter().map(acknowledgment).collect(),
        crashes: crashes(&wire.crashes, &at("crashes"))?,
        crash_rate: wire.crash_rate.0,
        crashes_max: crashes_max(wire.crashes_max, wire.crash_rate.0, &at("crashes_max"))?,
        on_hosts: wire.on_hosts,
        expectation: wire.expect.map(Expectation::from),
    };
    Ok(Built {
        id: wire.id,
        seed: wire.seed,
        trouble: Trouble { schedule: wire.schedule, ..trouble },
        assertions: assertions(wire.always, &VARIABLES, &at("always"))?,
        kind: Box::new(kind),
    })
}

fn check_expect(expect: &WireExpect, path: &Path) -> Result<(), Refusal> {
    let Some(outcome) = &expect.outcome else { return Ok(()) };
    let (ends, fails, waits) = (outcome.end.is_some(), outcome.failed.is_some(), outcome.waits_for.is_some());
    if [ends, fails, waits].into_iter().filter(|is_told| *is_told).count() > 1 {
        let last = if waits { "waits_for" } else { "failed" };
        return Err(Refusal::new(
            path.clone().member(last),
            "an agent comes to its end, fails, or waits; keep one of end, failed and waits_for",
        ));
    }
    Ok(())
}

fn messages(prompt: Option<String>, messages: Option<Vec<WireMessage>>, root: &Path) -> Result<Vec<Message>, Refusal> {
    match (prompt, messages) {
        (Some(_), Some(_)) => Err(Refusal::new(
            root.clone().member("messages"),
            "a conversation begins with a prompt or with messages; remove one of them",
        )),
        (prompt, None) => Ok(vec![Message::user(prompt.unwrap_or_default())]),
        (None, Some(messages)) => Ok(messages.into_iter().map(message).collect()),
    }
}

fn message(WireMessage { role, content, tool_calls, tool_call_id }: WireMessage) -> Message {
    let tool_calls = tool_calls.into_iter().map(call).collect();
    Message { role: role.into(), content, tool_calls, tool_call_id }
}

/// What the model says, and the cassette that has it.
fn model_turns(
    turns: Option<Vec<WireTurn>>,
    cassette: Option<String>,
    shelf: &mut ShelfBuilder<'_>,
    path: &Path,
) -> Result<(Vec<AgentTurn>, Option<usize>), Refusal> {
    match (turns, cassette) {
        (Some(turns), None) => Ok((self::turns(turns, &path.clone().member("turns"))?, None)),
        (None, Some(file)) => {
            let cassette = shelf.model(&file, &path.clone().member("cassette"))?;
            let turn =
                |RecordedTurn { failures, response }| AgentTurn { failures, delay: Delay::default(), answer: response };
            Ok((shelf.turns(cassette).into_iter().map(turn).collect(), Some(cassette)))
        }
        (Some(_), Some(_)) => Err(Refusal::new(
            path.clone().member("turns"),
            "a model says its turns, or what its cassette holds; remove one of them",
        )),
        (None, None) => Err(Refusal::new(path.clone(), "missing field turns, or cassette")),
    }
}

fn turns(wire: Vec<WireTurn>, path: &Path) -> Result<Vec<AgentTurn>, Refusal> {
    let turn = |(index, turn): (usize, WireTurn)| {
        let WireTurn { failures, delay_ms, says, calls, usage } = turn;
        let refuse = |name: &str, problem: &str| Err(Refusal::new(path.clone().element(index).member(name), problem));
        let (message, finish_reason) = match (says, calls) {
            (None, None) => {
                return Err(Refusal::new(path.clone().element(index), "a turn says something or calls tools"));
            }
            (Some(_), Some(calls)) if calls.is_empty() => {
                return refuse("calls", "a turn that calls nothing has no calls");
            }
            (None, Some(calls)) if calls.is_empty() => return refuse("calls", "a turn says something or calls tools"),
            (Some(text), None) => (Message::assistant(text), FinishReason::Stop),
            (says, Some(calls)) => {
                let calls = calls.into_iter().map(call).collect();
                let content = says.unwrap_or_default();
                (Message { content, ..Message::tool_calls(calls) }, FinishReason::ToolCalls)
            }
        };
        let usage = Usage { input_tokens: usage.input_tokens, output_tokens: usage.output_tokens };
        let answer = ModelResponse { message, finish_reason, usage };
        Ok(AgentTurn { failures: failures.into_iter().map(failure).collect(), delay: delay_ms, answer })
    };
    wire.into_iter().enumerate().map(turn).collect()
}

fn call(WireCall { id, name, arguments }: WireCall) -> ToolCall {
    ToolCall { id, name, arguments }
}

fn failure(wire: WireModelFailure) -> ModelError {
    let retry_after = wire.retry_after_s.map(|after| after.0);
    ModelError { retry_after, ..ModelError::new(wire.error.into(), "the script says so") }
}

fn agent_tools(wire: Vec<WireAgentTool>, path: &Path, shelf: &mut ShelfBuilder<'_>) -> Result<Vec<AgentTool>, Refusal> {
    let (wire, manners): (Vec<_>, Vec<_>) = wire.into_iter().map(WireAgentTool::into_parts).unzip();
    let tools = tools(wire, path, shelf)?;
    Ok(tools.into_iter().zip(manners).map(|(tool, manners)| AgentTool { tool, manners }).collect())
}

fn budget(turns_max: Option<Count>, calls_max: Option<Count>) -> ToolLoopBudget {
    let default = ToolLoopBudget::default();
    ToolLoopBudget {
        turns_max: turns_max.map_or(default.turns_max, |turns| turns.0),
        calls_max: calls_max.map_or(default.calls_max, |calls| calls.0),
    }
}

fn workers(wire: &WireWorkers) -> Workers {
    let default = windtunnel_core::durable::ActivationRetry::default();
    Workers {
        count: wire.count.map_or(NonZeroU32::MIN, |count| count.0),
        lease: wire.lease_s.map_or(LEASE, |lease| lease.0),
        failures_max: wire.failures_max.map_or(default.failures_max, |failures| failures.0),
        restart_after: wire.restart_after_s.map_or(RESTART_AFTER, |after| after.0),
    }
}

fn crashes(wire: &[WireCrash], path: &Path) -> Result<Vec<PlannedCrash>, Refusal> {
    let mut planned = Vec::with_capacity(wire.len());
    for (index, WireCrash { at, operation, activation, nth }) in wire.iter().enumerate() {
        let refuse = |name: &str, problem: String| Err(Refusal::new(path.clone().element(index).member(name), problem));
        let at = CrashPoint::from(*at);
        if let Some(operation) = operation {
            if !at.is_of_operation() {
                return refuse("operation", "a decision belongs to no operation; name its activation".to_owned());
            }
            if !is_key(operation) {
                let problem = format!(
                    "{operation:?} is no operation of a tool loop; its keys are model:turn:0, tool:turn:0:ID and \
                     tool:given:ID"
                );
                return refuse("operation", problem);
            }
        }
        let crash = PlannedCrash {
            at,
            operation: operation.clone(),
            activation: activation.map(|activation| activation.0.get().into()),
            nth: nth.map_or(NonZeroU32::MIN, |nth| nth.0),
        };
        if let Some(first) = planned.iter().position(|other| *other == crash) {
            return refuse("at", format!("crashes[{first}] is the same; give one of them another nth"));
        }
        planned.push(crash);
    }
    Ok(planned)
}

/// Whether a tool loop has operations that are called so.
fn is_key(operation: &str) -> bool {
    let is_turn = |turn: &str| turn.parse::<u32>().is_ok_and(|number| number.to_string() == turn);
    match operation.split_once(':') {
        Some(("model", rest)) => rest.strip_prefix("turn:").is_some_and(is_turn),
        Some(("tool", rest)) => match rest.strip_prefix("turn:") {
            Some(rest) => rest.split_once(':').is_some_and(|(turn, id)| is_turn(turn) && !id.is_empty()),
            None => rest.strip_prefix("given:").is_some_and(|id| !id.is_empty()),
        },
        _ => false,
    }
}

fn crashes_max(wire: Option<Count>, rate: f64, path: &Path) -> Result<u32, Refusal> {
    match wire {
        None => Ok(CRASHES_MAX),
        Some(_) if rate == 0.0 => {
            Err(Refusal::new(path.clone(), "it bounds the crashes that are drawn; give a crash_rate, or remove it"))
        }
        Some(Count(count)) if count > CRASHES_MAX_MAX => {
            Err(Refusal::new(path.clone(), format!("{count} crashes; at most {CRASHES_MAX_MAX} can be drawn")))
        }
        Some(Count(count)) => Ok(count),
    }
}

#[cfg(test)]
mod tests {
    use crate::case::{Case, Format};

    /// A case whose model calls `a` twice, with `more` fields.
    fn with(more: &str) -> String {
        let call = r#"{"calls": [{"id": "a", "name": "pay"}, {"name": "pay"}]}"#;
        let tools = if more.contains("\"tools\"") { "" } else { r#", "tools": [{"name": "pay", "confirm": true}]"# };
        format!(r#"{{"model": {{"turns": [{call}, {call}, {{"says": "x"}}]}}{tools}{more}}}"#)
    }

    #[track_caller]
    fn check_refused(text: &str, message: &str) {
        let error = Case::parse("f", Format::Json, text).unwrap_err().to_string();
        let (_, told) = error.split_once(": ").unwrap();
        assert_eq!(told, message, "{error}");
    }

    #[test]
    fn a_case_with_a_model_needs_no_kind() {
        for more in ["", r#", "kind": "agent""#] {
            let cases = Case::parse("f", Format::Json, &with(more)).unwrap();
            assert!(!cases[0].draws());
        }
        check_refused(r#"{"kind": "agent", "tools": []}"#, "$: missing field model");
    }

    #[test]
    fn a_slip_is_refused_with_its_place() {
        let text = with(", \"crashes\": [\n{\"at\": \"after-efect\"}]");
        let error = Case::parse("f", Format::Json, &text).unwrap_err().to_string();
        assert!(
            error.starts_with("f:2:8: $.crashes[0].at: unknown value \"after-efect\"; did you mean \"after-effect\"?"),
            "{error}"
        );
        for (more, message) in [
            (
                r#""bugdet": {}"#,
                "$.bugdet: unknown field \"bugdet\"; did you mean \"budget\"? known: id, kind, seed, prompt, \
              messages, model, tools, backoff, rng, run_limits, budget, approvals, approval_timeout_s, workers, journal, \
              acks, decision_acks, crashes, crash_rate, crashes_max, faults, random_faults, heal_after_s, on_hosts, schedule, \
              replay, expect, always",
            ),
            (
                r#""tools": [{"name": "a", "idempotnet": true}]"#,
                "$.tools[0].idempotnet: unknown field \"idempotnet\"; did \
              you mean \"idempotent\"? known: name, description, kind, parameters, schema, retries, timeout_s, \
              parallel_safe, once_per_run, confirm, cache_ttl_s, cache_scope, idempotent, host, script, random, cassette",
            ),
            (r#""workers": {"count": 17}"#, "$.workers.count: 17 workers; at most 16 are allowed"),
            (
                r#""budget": {"turns_max": -1}"#,
                "$.budget.turns_max: invalid value: integer -1, expected a whole number \
              from 0 to 4294967295",
            ),
            (
                r#""expect": {"outcome": {"end": "anwser"}}"#,
                "$.expect.outcome.end: unknown value \"anwser\"; did you mean \
              \"answer\"? known: answer, turn-limit, call-limit",
            ),
            (
                r#""always": [{"that": "outcom.end == 'answer'"}]"#,
                "$.always[0].that: there is no variable \"outcom\" here; \
              did you mean \"outcome\"? known: outcome, activations, journal, effects, crashes, approvals, invocations, \
              read, model_requests, events, elapsed_ms, faults",
            ),
            (
                r#""tools": [{"name": "a"}, {"name": "a"}]"#,
                "$.tools[1].name: a tool named \"a\" is registered already; give one of the two another name",
            ),
        ] {
            check_refused(&with(&format!(", {more}")), message);
        }
    }

    #[test]
    fn contradictions_are_refused_with_their_place() {
        for (more, message) in [
            (
                r#""prompt": "a", "messages": []"#,
                "$.messages: a conversation begins with a prompt or with messages; remove \
              one of them",
            ),
            (
                r#""approvals": [{"call": "b", "decision": "deny"}]"#,
                "$.approvals[0].call: no turn of the model makes a call \
              \"b\"",
            ),
            (
                r#""approvals": [{"call": "a", "decision": "deny"}]"#,
                "$.approvals[0].call: several turns make a call \"a\"; \
              say which one with turn, from 0",
            ),
            (
                r#""approvals": [{"call": "call-2", "turn": 2, "decision": "deny"}]"#,
                "$.approvals[0].turn: turn 2 of the \
              model makes no call \"call-2\"; turns count from 0",
            ),
            (
                r#""approvals": [{"call": "a", "turn": 0, "decision": "pending"}]"#,
                "$.approvals[0].decision: a decision \
              approves or denies; leave it out where nobody decides",
            ),
            (
                r#""approvals": [{"call": "a", "turn": 0, "decision": "approve", "reason": "x"}]"#,
                "$.approvals[0].reason: \
              only a denial has a reason",
            ),
            (
                r#""approvals": [{"call": "a", "turn": 0, "decision": "deny", "edited_arguments": 1}]"#,
                "$.approvals[0].edited_arguments: only an approval can edit the arguments",
            ),
            (
                r#""approvals": [{"call": "a", "turn": 0, "decision": "deny", "at_s": 1, "after_s": 1}]"#,
                "$.approvals[0].at_s: a decision comes after the call waits or at a time; remove one",
            ),
            (
                r#""tools": [{"name": "pay"}], "approvals": [{"call": "a", "turn": 0, "decision": "deny"}]"#,
                "$.approvals[0].call: the call \"a\" is of tool \"pay\", which needs no approval; let it confirm",
            ),
            (
                r#""messages": [{"role": "usr"}]"#,
                "$.messages[0].role: unknown value \"usr\"; did you mean \"user\"? known: system, user, assistant, tool",
            ),
            (
                r#""messages": [{"role": "user", "contnt": "x"}]"#,
                "$.messages[0].contnt: unknown field \"contnt\"; did you mean \"content\"? known: role, content, \
                 tool_calls, tool_call_id",
            ),
        ] {
            check_refused(&with(&format!(", {more}")), message);
        }
    }

    #[test]
    fn crashes_and_endings_that_cannot_be_are_refused_with_their_place() {
        for (more, message) in [
            (
                r#""crashes": [{"at": "before-decision", "operation": "model:turn:0"}]"#,
                "$.crashes[0].operation: a decision \
              belongs to no operation; name its activation",
            ),
            (
                r#""crashes": [{"at": "before-call", "operation": "tool:turn:a"}]"#,
                "$.crashes[0].operation: \"tool:turn:a\" \
              is no operation of a tool loop; its keys are model:turn:0, tool:turn:0:ID and tool:given:ID",
            ),
            (
                r#""crashes": [{"at": "before-call"}, {"at": "before-call", "nth": 1}]"#,
                "$.crashes[1].at: crashes[0] is the \
              same; give one of them another nth",
            ),
            (
                r#""crashes_max": 3"#,
                "$.crashes_max: it bounds the crashes that are drawn; give a crash_rate, or remove it",
            ),
            (r#""crash_rate": 0.5, "crashes_max": 1001"#, "$.crashes_max: 1001 crashes; at most 1000 can be drawn"),
            (
                r#""expect": {"outcome": {"end": "answer", "failed": "call-failed"}}"#,
                "$.expect.outcome.failed: an agent \
              comes to its end, fails, or waits; keep one of end, failed and waits_for",
            ),
        ] {
            check_refused(&with(&format!(", {more}")), message);
        }
        for (turn, message) in [
            ("{}", "$.model.turns[0]: a turn says something or calls tools"),
            (r#"{"calls": []}"#, "$.model.turns[0].calls: a turn says something or calls tools"),
            (r#"{"says": "x", "calls": []}"#, "$.model.turns[0].calls: a turn that calls nothing has no calls"),
        ] {
            check_refused(&format!(r#"{{"model": {{"turns": [{turn}]}}}}"#), message);
        }
    }

    #[test]
    fn keys_of_operations_are_told_from_other_texts() {
        for key in ["model:turn:0", "tool:turn:12:a", "tool:turn:0:a:b", "tool:given:a"] {
            assert!(super::is_key(key), "{key}");
        }
        for text in [
            "",
            "model",
            "model:turn:",
            "model:turn:01",
            "model:turn:0:a",
            "tool:turn:0",
            "tool:turn:0:",
            "tool:given:",
        ] {
            assert!(!super::is_key(text), "{text}");
        }
    }
}
