//! From typed fields to a case with a program, refusing what no run could make sense of.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use windtunnel_core::evaluator::{
    DefinitionError, ExecutionLimits, ExecutionPolicy, ParallelFailures, Program, RetryPolicy, ToolDefinition,
    ToolFailure,
};
use windtunnel_core::json::Path;

use super::answers::{Answer, Answers};
use super::bounds::{BYTES_MAX, NODES_MAX, TOOL_CALLS_MAX};
use super::definition::{ProgramCase, VARIABLES};
use super::expectation::Expectation;
use super::functions::Function;
use super::offence::ProgramOffence;
use super::tools::CaseTool;
use super::wire::{
    WireAnswer, WireCase, WireExpect, WireFail, WireLimits, WireParallelFailures, WirePolicy, WireRandom, WireStep,
    WireTool,
};
use crate::case::LoadError;
use crate::case::build::{Built, Refusal, assertions, ending, parameters_and_schema, properties};
use crate::case::cassettes::{Library, ShelfBuilder};
use crate::case::script::{CaseStep, Random, ToolScript};
use crate::case::suggestion::known;
use crate::case::text::Document;
use crate::case::trouble::trouble;
use crate::case::typed::typed;
use crate::case::wire::{Delay, Limit};
use crate::script::Then;

/// What a tool says that fails without a message.
const MESSAGE: &str = "the script says so";

/// Builds a case.
pub(in crate::case) fn build(document: &Document<'_>, library: &Library) -> Result<Built, LoadError> {
    build_typed(typed(document)?, document, library).map_err(|refusal| refusal.in_document(document))
}

fn build_typed(wire: WireCase, document: &Document<'_>, library: &Library) -> Result<Built, Refusal> {
    let at = |name: &str| document.root.clone().member(name);
    let trouble = trouble(wire.faults, wire.random_faults, wire.heal_after_s, &document.root)?;
    if let Some(expect) = &wire.expect {
        check_expect(expect, &at("expect"))?;
    }
    let program = Program::from_value(&wire.program);
    let mut shelf = ShelfBuilder::new(library, wire.replay, at("replay"))?;
    let tools = tools(wire.tools, &at("tools"), &mut shelf)?;
    let kind = ProgramCase {
        policy: policy(wire.policy, &tools, &at("policy"))?,
        tools,
        shelf: shelf.finish()?,
        program: program.map_err(|error| ProgramOffence::all(document, &error)),
        limits: limits(&wire.limits, &at("limits"))?,
        shuffles: wire.shuffle,
        expectation: wire.expect.map(Expectation::from),
    };
    Ok(Built {
        id: wire.id,
        seed: wire.seed,
        trouble,
        assertions: assertions(wire.always, &VARIABLES, &at("always"))?,
        kind: Box::new(kind),
    })
}

fn check_expect(expect: &WireExpect, path: &Path) -> Result<(), Refusal> {
    if expect.ok.is_some() && expect.error.is_some() {
        let problem = "a program comes to a value or to an error; remove ok or error";
        return Err(Refusal::new(path.clone().member("error"), problem));
    }
    let WireExpect { rejected, ok, error, calls, calls_unordered, .. } = expect;
    let has_outcome = ok.is_some() || error.is_some() || calls.is_some() || calls_unordered.is_some();
    if *rejected && has_outcome {
        let problem = "a program that is rejected comes to nothing and calls nothing; expect nothing beside rejected";
        return Err(Refusal::new(path.clone().member("rejected"), problem));
    }
    Ok(())
}

fn limits(wire: &WireLimits, path: &Path) -> Result<ExecutionLimits, Refusal> {
    let limit = |limit: Option<Limit>| limit.map(|limit| limit.0);
    let at_most = |name: &str, given: Option<Limit>, bound: u64| match limit(given) {
        Some(given) if given.get() > bound => {
            Err(Refusal::new(path.clone().member(name), format!("at most {bound} are allowed in a case file")))
        }
        given => Ok(given),
    };
    Ok(ExecutionLimits {
        max_nodes: at_most("max_nodes", wire.max_nodes, NODES_MAX)?,
        max_depth: limit(wire.max_depth),
        max_call_depth: limit(wire.max_call_depth),
        max_tool_calls: at_most("max_tool_calls", wire.max_tool_calls, TOOL_CALLS_MAX)?,
        max_concurrency: limit(wire.max_concurrency),
        max_bytes: at_most("max_bytes", wire.max_bytes, BYTES_MAX)?,
        timeout: wire.timeout_seconds.map(|timeout| timeout.0),
    })
}

fn policy(wire: WirePolicy, tools: &[CaseTool], path: &Path) -> Result<ExecutionPolicy, Refusal> {
    check_idempotent(&wire.retry.idempotent_tools, tools, path)?;
    let default = RetryPolicy::default();
    let retry = RetryPolicy {
        max_attempts: wire.retry.max_attempts.map_or(default.max_attempts, |attempts| attempts.0),
        delay: wire.retry.delay_seconds.0,
        idempotent_tools: wire.retry.idempotent_tools.into_iter().collect(),
        retryable: wire.retry.retryable.map_or(default.retryable, |kinds| kinds.into_iter().collect()),
    };
    let parallel_failures = match wire.parallel_failures {
        WireParallelFailures::Raise => ParallelFailures::Raise,
        WireParallelFailures::Collect => ParallelFailures::Collect,
    };
    Ok(ExecutionPolicy { retry, parallel_failures })
}

/// A slip in the name of a tool would else only show as a retry that never comes.
fn check_idempotent(idempotent: &[String], tools: &[CaseTool], policy: &Path) -> Result<(), Refusal> {
    let names: Vec<&str> = tools.iter().map(|tool| tool.definition.name()).collect();
    match idempotent.iter().enumerate().find(|(_, name)| !names.contains(&name.as_str())) {
        Some((index, name)) => {
            let path = policy.clone().member("retry").member("idempotent_tools").element(index);
            Err(Refusal::new(path, format!("there is no tool {name:?}; {}", listed(name, &names))))
        }
        None => Ok(()),
    }
}

fn listed(name: &str, names: &[&str]) -> String {
    if names.is_empty() { "there are none".to_owned() } else { known(name, names) }
}

pub(super) fn tools(wire: Vec<WireTool>, path: &Path, shelf: &mut ShelfBuilder<'_>) -> Result<Vec<CaseTool>, Refusal> {
    let mut names = BTreeSet::new();
    let mut tools = Vec::new();
    for (index, wire) in wire.into_iter().enumerate() {
        let path = path.clone().element(index);
        if !names.insert(wire.name.clone()) {
            let problem = format!("there is a tool named {:?} already; give one of the two another name", wire.name);
            return Err(Refusal::new(path.member("name"), problem));
        }
        tools.push(tool(wire, &path, shelf)?);
    }
    Ok(tools)
}

fn tool(wire: WireTool, path: &Path, shelf: &mut ShelfBuilder<'_>) -> Result<CaseTool, Refusal> {
    let name = wire.name.as_str();
    let cassette = wire.cassette.as_deref();
    let cassette = cassette.map(|file| shelf.tool_without(&other_answers(&wire), file, name, path)).transpose()?;
    // What the cassette says of it holds where the file says nothing.
    let offered = cassette.and_then(|cassette| shelf.offered(cassette, name));
    let defined = match (wire.function, wire.parameters, wire.schema) {
        (_, Some(_), Some(_)) => return Err(parameters_and_schema(path)),
        (Some(function), Some(_), None) => {
            let problem = format!("a tool with fn {:?} has the arguments of that function", function.name());
            return Err(Refusal::new(path.clone().member("parameters"), problem));
        }
        (_, None, Some(schema)) => ToolDefinition::with_input_schema(name, "", &schema),
        (Some(function), None, None) => ToolDefinition::with_properties(name, "", function.properties()),
        (None, Some(parameters), None) => ToolDefinition::with_properties(name, "", properties(&parameters)),
        (None, None, None) => match (offered, cassette) {
            (Some((description, schema)), _) => ToolDefinition::with_input_schema(name, description, schema),
            (None, Some(_)) => ToolDefinition::with_input_schema(name, "", &json!({"type": "object"})),
            (None, None) => ToolDefinition::with_properties(name, "", Map::new()),
        },
    };
    let definition = defined.map_err(|error| {
        let member = match error {
            DefinitionError::EmptyName => "name",
            DefinitionError::InvalidSchema { .. } => "schema",
        };
        Refusal::new(path.clone().member(member), error.to_string())
    })?;
    let answers = answers(wire.answers, wire.ok, wire.function, &definition, path)?;
    let script = script(wire.script, wire.random, wire.delay_ms, path)?;
    Ok(CaseTool { definition: Arc::new(definition), answers, script, cassette })
}

/// The ways to answer that a tool does not have whose cassette answers, and whether the file tells them.
fn other_answers(wire: &WireTool) -> [(&'static str, bool); 6] {
    [
        ("fn", wire.function.is_some()),
        ("ok", wire.ok.is_some()),
        ("answers", !wire.answers.is_empty()),
        ("delay_ms", wire.delay_ms.is_range() || !wire.delay_ms.max.is_zero()),
        ("script", !wire.script.is_empty()),
        ("random", wire.random.is_some()),
    ]
}

fn answers(
    by_arguments: Vec<WireAnswer>,
    always: Option<Value>,
    function: Option<Function>,
    definition: &ToolDefinition,
    tool: &Path,
) -> Result<Answers, Refusal> {
    if always.is_some() && function.is_some() {
        let problem = "a tool answers with ok or by its fn; remove one of them";
        return Err(Refusal::new(tool.clone().member("ok"), problem));
    }
    let names: Vec<&str> = definition.properties().collect();
    for (index, answer) in by_arguments.iter().enumerate() {
        // A schema may let arguments in that it does not name.
        let unknown = answer.when.keys().find(|name| !definition.has_input_schema() && !names.contains(&&***name));
        if let Some(unknown) = unknown {
            let path = tool.clone().member("answers").element(index).member("when").member(unknown.clone());
            let problem = format!("the tool takes no argument {unknown:?}; {}", listed(unknown, &names));
            return Err(Refusal::new(path, problem));
        }
    }
    let by_arguments = by_arguments.into_iter().map(|WireAnswer { when, ok }| Answer { when, ok }).collect();
    Ok(Answers { by_arguments, always, function })
}

fn script(
    steps: Vec<WireStep>,
    random: Option<WireRandom>,
    delay: Delay,
    tool: &Path,
) -> Result<ToolScript<ToolFailure>, Refusal> {
    let step = |(index, WireStep { delay_ms, fail, message, ok }): (usize, WireStep)| {
        let path = tool.clone().member("script").element(index);
        if message.is_some() && !fail.is_some_and(has_message) {
            let problem = "only the failures tool-execution, unclassified and provider-response have a message";
            return Err(Refusal::new(path.member("message"), problem));
        }
        let fail = fail.map(|fail| failure(fail, message));
        Ok(CaseStep { delay: delay_ms.unwrap_or(delay), then: ending(fail, ok, &path)? })
    };
    let steps = steps.into_iter().enumerate().map(step).collect::<Result<_, _>>()?;
    let refuse = |problem| Refusal::new(tool.clone().member("random").member("fail"), problem);
    let random = random.map(|WireRandom { fail, delay_ms }| {
        let rates = fail.by_failure().map(|(fail, rate)| (failure(fail, None), rate));
        Random::new(rates, delay_ms.unwrap_or(delay)).map_err(refuse)
    });
    Ok(ToolScript { steps, random: random.transpose()?, delay })
}

fn has_message(fail: WireFail) -> bool {
    matches!(fail, WireFail::ToolExecution | WireFail::Unclassified | WireFail::ProviderResponse)
}

fn failure(fail: WireFail, message: Option<String>) -> Then<ToolFailure> {
    let message = message.unwrap_or_else(|| MESSAGE.to_owned());
    Then::Fail(match fail {
        WireFail::ToolExecution => ToolFailure::execution(message),
        WireFail::Timeout => ToolFailure::timeout(),
        WireFail::Unclassified => ToolFailure::refused(message),
        WireFail::ToolNotFound => ToolFailure::not_found(),
        WireFail::ProviderResponse => ToolFailure::response(message),
        WireFail::Hang => return Then::Hang,
        WireFail::Panic => return Then::Panic,
    })
}

#[cfg(test)]
mod tests {
    use crate::case::{Case, Format};

    const BODY: &str = r#"{"schema_version": "2.0", "body": [{"type": "literal", "value": 1}]}"#;

    /// A case with one tool that has `tool` fields, and `more` fields on its second line.
    fn with(tool: &str, more: &str) -> String {
        format!("{{\"tools\": [{{\"name\": \"a\"{tool}}}], \"program\": {BODY}\n{more}}}")
    }

    #[track_caller]
    fn check_refused(text: &str, message: &str) {
        assert_eq!(Case::parse("f", Format::Json, text).unwrap_err().to_string(), message);
    }

    #[test]
    fn a_case_with_a_program_needs_no_kind() {
        for more in ["", r#", "kind": "program""#] {
            let cases = Case::parse("f", Format::Json, &with("", more)).unwrap();
            assert!(cases[0].judge(&cases[0].run(0)).passed());
        }
        check_refused(
            &with("", r#", "kind": "calls""#),
            "f:1:28: $.program: unknown field \"program\"; known: id, kind, tools, backoff, rng, seed, run_limits, \
             approval_port, approvals, calls, batch, faults, random_faults, heal_after_s, replay, expect, always",
        );
        check_refused(
            &with("", r#", "calls": []"#),
            "f:2:3: $.calls: unknown field \"calls\"; known: id, kind, seed, tools, program, limits, policy, shuffle, \
             faults, random_faults, heal_after_s, replay, expect, always",
        );
        check_refused(r#"{"kind": "program", "tools": []}"#, "f:1:1: $: missing field program");
    }

    #[test]
    fn a_slip_in_a_tool_is_refused_with_its_place() {
        check_refused(
            &with(r#", "fn": "ad""#, ""),
            "f:1:32: $.tools[0].fn: unknown value \"ad\"; did you mean \"add\"? known: add, subtract, multiply, \
             less_than_or_equal, greater_than, is_odd, negate, echo, sequence, pair, length, fetch, ping",
        );
        check_refused(
            &with(r#", "retries": 2"#, ""),
            "f:1:26: $.tools[0].retries: unknown field \"retries\"; known: name, fn, delay_ms, parameters, schema, \
             script, random, ok, answers, cassette",
        );
        check_refused(
            &with(r#", "fn": "ping", "ok": null"#, ""),
            "f:1:46: $.tools[0].ok: a tool answers with ok or by its fn; remove one of them",
        );
        check_refused(
            &with(r#", "parameters": {"currency": "string"}, "answers": [{"when": {"curency": "EUR"}, "ok": 2}]"#, ""),
            "f:1:97: $.tools[0].answers[0].when.curency: the tool takes no argument \"curency\"; did you mean \
             \"currency\"? known: currency",
        );
        check_refused(&with(r#", "answers": [{"when": {}}]"#, ""), "f:1:38: $.tools[0].answers[0]: missing field ok");
        check_refused(
            &with(r#", "fn": "ping", "parameters": {}"#, ""),
            "f:1:54: $.tools[0].parameters: a tool with fn \"ping\" has the arguments of that function",
        );
        check_refused(
            &with(r#", "parameters": {}, "schema": {}"#, ""),
            "f:1:54: $.tools[0].schema: a tool has either parameters or a schema; remove one of them",
        );
        check_refused(
            &with(r#", "schema": {"type": "array"}"#, ""),
            "f:1:36: $.tools[0].schema: the input schema of tool \"a\" does not serve: $.type: a tool takes an object",
        );
        check_refused(
            &with(r#"}, {"name": "a""#, ""),
            "f:1:36: $.tools[1].name: there is a tool named \"a\" already; give one of the two another name",
        );
        check_refused(
            &with(r#", "script": [{"fail": "busy"}]"#, ""),
            "f:1:46: $.tools[0].script[0].fail: unknown value \"busy\"; known: tool-execution, timeout, unclassified, \
             tool-not-found, provider-response, hang, panic",
        );
        check_refused(
            &with(r#", "script": [{"fail": "hang", "message": "x"}]"#, ""),
            "f:1:65: $.tools[0].script[0].message: only the failures tool-execution, unclassified and \
             provider-response have a message",
        );
        check_refused(
            &with(r#", "script": [{"fail": "hang", "ok": 1}]"#, ""),
            "f:1:60: $.tools[0].script[0].ok: an attempt either fails or answers; remove fail or ok",
        );
        check_refused(
            &with(r#", "random": {"fail": {"timeout": 0.6, "hang": 0.6}}"#, ""),
            "f:1:45: $.tools[0].random.fail: the rates add up to 1.2, which is more than 1",
        );
    }

    #[test]
    fn what_a_program_runs_under_is_refused_with_its_place() {
        check_refused(
            &with("", r#", "limits": {"max_nodes": 0}"#),
            "f:2:27: $.limits.max_nodes: invalid value: integer 0, expected a whole number of at least 1; leave a limit \
             out where there is none",
        );
        check_refused(
            &with("", r#", "limits": {"max_tool_calls": 500001}"#),
            "f:2:32: $.limits.max_tool_calls: at most 500000 are allowed in a case file",
        );
        check_refused(
            &with("", r#", "policy": {"retry": {"max_attempts": 0}}"#),
            "f:2:40: $.policy.retry.max_attempts: invalid value: integer 0, expected a whole number of at least 1: the \
             first attempt counts",
        );
        check_refused(
            &with("", r#", "policy": {"retry": {"retryable": ["time-out"]}}"#),
            "f:2:38: $.policy.retry.retryable[0]: unknown value \"time-out\"; did you mean \"timeout\"? known: \
             tool-not-found, tool-execution, timeout, unclassified, provider-response, ast-validation, type-error, \
             execution-limit, invalid-policy, replay-mismatch",
        );
        check_refused(
            &with("", r#", "policy": {"retry": {"idempotent_tools": ["a", "fetch"]}}"#),
            "f:2:50: $.policy.retry.idempotent_tools[1]: there is no tool \"fetch\"; known: a",
        );
        check_refused(
            &with("", r#", "policy": {"parallel_failures": "collet"}"#),
            "f:2:35: $.policy.parallel_failures: unknown value \"collet\"; did you mean \"collect\"? known: raise, \
             collect",
        );
    }

    #[test]
    fn what_is_expected_must_be_possible() {
        check_refused(
            &with("", r#", "expect": {"ok": 1, "error": {"kind": "timeout"}}"#),
            "f:2:32: $.expect.error: a program comes to a value or to an error; remove ok or error",
        );
        check_refused(
            &with("", r#", "expect": {"rejected": true, "calls": []}"#),
            "f:2:26: $.expect.rejected: a program that is rejected comes to nothing and calls nothing; expect nothing \
             beside rejected",
        );
        check_refused(
            &with("", r#", "always": [{"each": "results", "that": "true"}]"#),
            "f:2:23: $.always[0].each: unknown value \"results\"; known: branches, events, invocations, faults",
        );
        check_refused(
            &with("", r#", "always": [{"that": "results.size() == 0"}]"#),
            "f:2:23: $.always[0].that: there is no variable \"results\" here; did you mean \"result\"? known: result, \
             branches, consumption, invocations, events, tools, elapsed_ms, faults",
        );
    }

    #[test]
    fn whole_numbers_past_64_bits_are_refused_and_never_rounded() {
        let text = with("", "").replace("\"value\": 1", "\"value\": 18446744073709551616");
        let error = Case::parse("f", Format::Json, &text).unwrap_err().to_string();
        assert!(error.starts_with("f:1:103: $.program.body[0].value: "), "{error}");
    }
}
